package notes

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/postroom-go/postroom/gmail/internal/safefolder"
)

// escaped are the characters that Markdown, Obsidian or one of its plugins takes for something else than themselves.
// With a backslash before each there is also none of the pairs that they look for, such as [[, %%, {{ and <%.
const escaped = "\\`*_{}[]<>#|~$=%^&"

// escape returns a text as Markdown that shows it as it is. Lines stay lines.
func escape(text string) string {
	lines := strings.Split(strings.TrimSpace(safefolder.Visible(text)), "\n")
	for i, line := range lines {
		lines[i] = escapeLine(strings.TrimSpace(line))
	}
	return strings.Join(lines, "\n")
}

// maxLine bounds a line that is made of a field of a mail, in characters.
const maxLine = 1000

// line returns a text as one line, cut at its bound.
func line(text string) string {
	text = strings.Join(strings.Fields(safefolder.Visible(text)), " ")
	n := 0
	for i := range text {
		if n++; n > maxLine {
			return strings.TrimSpace(text[:i]) + "…"
		}
	}
	return text
}

// oneLine returns a text as one line, escaped.
func oneLine(text string) string { return escapeLine(line(text)) }

func escapeLine(line string) string {
	var b strings.Builder
	number := true // only digits so far
	for i, r := range line {
		rest := line[i+len(string(r)):]
		if strings.ContainsRune(escaped, r) || special(r, line[:i], rest, number) {
			b.WriteByte('\\')
		}
		if r == '\t' {
			r = ' '
		}
		b.WriteRune(r)
		number = number && r >= '0' && r <= '9'
	}
	return b.String()
}

// special reports whether a character begins something because of its place: an item of a list, the address of a web
// page, a field of Dataview.
func special(r rune, before, rest string, number bool) bool {
	switch r {
	case '-', '+':
		return before == ""
	case ')':
		return number && before != ""
	case '.':
		return number && before != "" || strings.EqualFold(before[max(0, len(before)-3):], "www")
	case ':':
		return strings.HasPrefix(rest, ":") || strings.HasPrefix(rest, "/") || strings.HasSuffix(before, ":")
	case '/':
		return strings.HasSuffix(before, ":")
	}
	return false
}

// value returns a text as one that is nothing but text where a value of the front matter is shown: also by plugins that
// take it for Markdown.
func value(text string) string {
	text = lookAlike.Replace(line(text))
	for _, pair := range []string{"::", ":/"} {
		for strings.Contains(text, pair) {
			text = strings.ReplaceAll(text, pair, ": "+pair[1:])
		}
	}
	return strings.TrimSpace(text)
}

var lookAlike = strings.NewReplacer("<", "‹", ">", "›", "[", "(", "]", ")", "`", "'")

// quote returns a text as a double-quoted scalar of YAML on one line.
func quote(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r != ' ' && !unicode.IsPrint(r) && r > 0xffff:
			fmt.Fprintf(&b, `\U%08X`, r)
		case r != ' ' && !unicode.IsPrint(r):
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// link returns a link to a note or file of the vault. The target has been cleaned.
func link(target string) string { return "[[" + target + "]]" }
