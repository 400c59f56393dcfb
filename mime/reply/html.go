package reply

import (
	"github.com/postroom-go/postroom/mime/htmltext"
	"regexp"
	"slices"
	"strings"
)

// SplitHTML splits the text of an HTML message. Except for blank lines, the concatenated passages are the text that
// [htmltext.Text] returns. It uses the marks of mail programs in HTML (Gmail, Outlook, Apple Mail, Thunderbird,
// Yahoo, Proton), and otherwise works like [Split]. Time is linear in the size of the input, and allocations stay
// under six times its size plus 24 MiB.
func SplitHTML(source string) Passages {
	judge := pageJudge{source: source}
	text, marks := htmltext.ReadMarked(source, judge.kind)
	var s splitter
	s.expect(text)
	kinds := []Kind{Written}
	for at := 0; at < len(text); {
		line, _, _ := strings.Cut(text[at:], "\n")
		if at+len(line) < len(text) {
			line = text[at : at+len(line)+1]
		} else if s.size+len(line) < maxSize {
			line += "\n"
		}
		if strings.TrimSpace(line) != "" {
			for ; len(marks) > 0 && marks[0].Offset <= at; marks = marks[1:] {
				if marks[0].Kind == "" {
					kinds = kinds[:max(1, len(kinds)-1)]
				} else {
					kinds = append(kinds, Kind(marks[0].Kind))
				}
			}
		}
		if !s.add(line, kinds[len(kinds)-1]) {
			s.tail, s.tailEnd = text[at:], "\n"
			break
		}
		at += len(line)
	}
	s.trim()
	return s.split()
}

// trim removes the blank lines that marks leave around and between passages.
func (s *splitter) trim() {
	s.lines = slices.CompactFunc(s.lines, func(a, b textLine) bool { return a.text == "" && b.text == "" })
	for len(s.lines) > 0 && s.lines[len(s.lines)-1].text == "" {
		s.lines = s.lines[:len(s.lines)-1]
	}
	for len(s.lines) > 0 && s.lines[0].text == "" {
		s.lines = s.lines[1:]
	}
}

// A pageJudge finds the passages of a page by the marks of mail programs.
type pageJudge struct {
	source         string
	lastBlockquote int // 1 + the start of the last one, once computed
}

// outlookRule is the line that Outlook draws above the fields of the message that it quotes.
var outlookRule = regexp.MustCompile(
	`(?i)border:\s*none;\s*border-top:\s*solid\s+(?:#?(?:E1E1E1|B5C4DF)|windowtext)\s+1\.0pt`)

// kind returns the kind of an element by the classes, ids and styles that mail programs give it, and that of
// everything after it.
func (j *pageJudge) kind(e htmltext.Element) (kind, rest string) {
	if e.Name != "div" && e.Name != "blockquote" && e.Name != "span" && e.Name != "pre" {
		return "", ""
	}
	id := withoutPrefix(e.ID)
	has := func(class string) bool { return hasClass(e.Class, class) }
	switch {
	case e.Name == "blockquote":
		if strings.EqualFold(e.Type, "cite") || has("gmail_quote") || has("protonmail_quote") || has("zmail_extra") {
			return string(Quoted), ""
		}
	case has("gmail_attr"), has("moz-cite-prefix"):
		return string(Attribution), ""
	case has("yahoo_quoted"), hasPrefixFold(id, "yahoo_quoted"), has("protonmail_quote"), has("moz-forward-container"):
		return string(Quoted), ""
	// forwarded; a reply has its quotation in blockquotes, and answers between
	case has("gmail_quote") && j.isBehindQuotes(e):
		return string(Quoted), ""
	case strings.EqualFold(id, "divrplyfwdmsg"), strings.EqualFold(id, "appendonsend"), outlookRule.MatchString(e.Style):
		return string(Attribution), string(Quoted)
	case has("gmail_signature"), has("moz-signature"), has("protonmail_signature_block"):
		return string(Signature), ""
	case strings.EqualFold(id, "ms-outlook-mobile-signature"), strings.EqualFold(id, "signature"):
		return string(Signature), ""
	}
	return "", ""
}

// isBehindQuotes reports whether no blockquote begins after the tag.
func (j *pageJudge) isBehindQuotes(e htmltext.Element) bool {
	if j.lastBlockquote == 0 {
		rest := j.source
		for j.lastBlockquote = -1; rest != ""; {
			i := strings.LastIndexByte(rest, '<')
			if i < 0 {
				break
			}
			if hasPrefixFold(j.source[i+1:], "blockquote") {
				j.lastBlockquote = i + 1
				break
			}
			rest = rest[:i]
		}
	}
	return j.lastBlockquote-1 < e.Offset
}

// hasClass reports whether a class is among others, ignoring case and the prefix that Outlook adds.
func hasClass(classes, class string) bool {
	for word := range strings.FieldsFuncSeq(classes, isSpace) {
		if strings.EqualFold(withoutPrefix(word), class) {
			return true
		}
	}
	return false
}

// isSpace reports whether a character separates classes.
func isSpace(r rune) bool { return strings.ContainsRune(" \t\n\f\r", r) }

// withoutPrefix removes the prefix that Outlook adds to the names of others.
func withoutPrefix(name string) string {
	for hasPrefixFold(name, "x_") {
		name = name[len("x_"):]
	}
	return name
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}
