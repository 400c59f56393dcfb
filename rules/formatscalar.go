package rules

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// scalar formats a text on one line, with quotes if any version of YAML would read something else without them.
func scalar(text string, within bool) string {
	switch {
	case strings.ContainsFunc(text, mustEscape):
		return doubleQuoted(text)
	case plainText(text, within):
		return text
	default:
		return "'" + strings.ReplaceAll(text, "'", "''") + "'"
	}
}

// mustEscape reports whether a character is invisible or misleading.
func mustEscape(r rune) bool { return r == unicode.ReplacementChar || r != ' ' && !unicode.IsPrint(r) }

// notText are the words that some version of YAML does not read as text.
var notText = []string{"null", "~", "true", "false", "yes", "no", "on", "off", "y", "n", "<<", "="}

var (
	likeNumber = regexp.MustCompile(`^[-+.]*[0-9.][0-9a-fA-FxXoOeE_.,:+-]*$|(?i)^[-+]?\.(inf|nan)$`)
	likeDate   = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)
	plainForm  = regexp.MustCompile(`^[\pL\pN_/.+<][^\\]*$`)
)

// plainText reports whether a text without characters that must be escaped reads the same without quotes.
func plainText(text string, within bool) bool {
	switch {
	case !plainForm.MatchString(text), strings.HasSuffix(text, " "), strings.HasSuffix(text, ":"), strings.HasPrefix(text, "..."):
		return false
	case strings.Contains(text, ": "), strings.Contains(text, " #"):
		return false
	case within && strings.ContainsAny(text, ",[]{}:'\"#"):
		return false
	case slices.Contains(notText, strings.ToLower(text)):
		return false
	}
	return likeDate.MatchString(text) || !likeNumber.MatchString(text)
}

func doubleQuoted(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case mustEscape(r) && r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case mustEscape(r) && r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		case mustEscape(r):
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// textLines spreads a text over lines: one that has several, and a description that is too long for one. The list is nil where the
// text stays on one line.
func textLines(key, text string, indent int) (style string, list []string) {
	list = strings.Split(text, "\n")
	if len(list) > 1 {
		if slices.ContainsFunc(list, notInBlock) || list[0] == "" || list[0][0] == ' ' || list[len(list)-1] == "" {
			return "", nil
		}
		return "|-", list
	}
	room := max(formatWidth-indent, formatWidth/2)
	if key != "description" || utf8.RuneCountInString(text)+len(key)+2 <= room || notInBlock(text) || strings.Contains(text, "  ") || text[0] == ' ' {
		return "", nil
	}
	return ">-", wrapped(strings.Split(text, " "), room)
}

// notInBlock reports whether a line cannot be part of a block of text as it is.
func notInBlock(line string) bool {
	return strings.HasSuffix(line, " ") || strings.ContainsFunc(line, mustEscape)
}

// wrapped puts as many words on each line as fit.
func wrapped(words []string, width int) []string {
	lines := []string{words[0]}
	for _, word := range words[1:] {
		last := &lines[len(lines)-1]
		if utf8.RuneCountInString(*last)+1+utf8.RuneCountInString(word) <= width {
			*last += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}
