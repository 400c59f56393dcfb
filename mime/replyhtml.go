package mime

import (
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// SplitReplyHTML takes the text of an HTML message apart. The passages one after the other are its text as [TextFromHTML] gives it,
// but for blank lines. What mail programs mark in HTML is taken from there (Gmail, Outlook, Apple Mail, Thunderbird, Yahoo, Proton),
// the rest as [SplitReply] does. Time is linear in the size of the input.
func SplitReplyHTML(source string) Reply {
	if strings.ContainsAny(html.UnescapeString(source), quotedMark+attributionMark+signatureMark+replyEnd) {
		return SplitReply(TextFromHTML(source))
	}
	var s replySplitter
	kinds := []PassageKind{Written}
	for line := range strings.Lines(TextFromHTML(markReply(source)) + "\n") {
		switch mark := strings.TrimSpace(line); {
		case mark == replyEnd:
			kinds = kinds[:max(1, len(kinds)-1)]
		case replyMarks[mark] != "":
			kinds = append(kinds, replyMarks[mark])
		default:
			s.add(line, kinds[len(kinds)-1])
		}
	}
	s.trim()
	return s.split()
}

// trim takes off the blank lines that marks leave around and between passages.
func (s *replySplitter) trim() {
	s.lines = slices.CompactFunc(s.lines, func(a, b replyLine) bool { return a.text == "" && b.text == "" })
	for len(s.lines) > 0 && s.lines[len(s.lines)-1].text == "" {
		s.lines = s.lines[:len(s.lines)-1]
	}
	for len(s.lines) > 0 && s.lines[0].text == "" {
		s.lines = s.lines[1:]
	}
}

// The marks that are written into the HTML as lines of their own: private characters. HTML that has them itself gets none.
const (
	quotedMark, attributionMark, signatureMark, replyEnd = "\uF5A0", "\uF5A1", "\uF5A2", "\uF5A3"
)

var replyMarks = map[string]PassageKind{quotedMark: Quoted, attributionMark: Attribution, signatureMark: Signature}

// A replyMarker copies HTML and writes marks around the elements of which it knows the kind.
type replyMarker struct {
	out strings.Builder

	// element is the one whose end is awaited, and depth how many of its name are open. Within it nothing else is looked for.
	element atom.Atom
	depth   int
	// rest says that all behind the element is quoted.
	rest bool

	lastBlockquote int // where the last one begins
	pos            int
}

// markReply writes marks into HTML.
func markReply(source string) string {
	m := replyMarker{lastBlockquote: strings.LastIndex(lowerASCII(source), "<blockquote")}
	tokens := html.NewTokenizer(strings.NewReader(source))
	for {
		kind := tokens.Next()
		raw := string(tokens.Raw())
		switch kind {
		case html.ErrorToken:
			m.out.WriteString(raw)
			return m.out.String()
		case html.StartTagToken:
			m.start(tokens.Token(), raw)
		case html.EndTagToken:
			m.end(tokens.Token().DataAtom, raw)
		default:
			m.out.WriteString(raw)
		}
		m.pos += len(raw)
	}
}

func (m *replyMarker) start(t html.Token, raw string) {
	if m.element != 0 {
		if t.DataAtom == m.element {
			m.depth++
		}
		m.out.WriteString(raw)
		return
	}
	mark, rest := m.judge(t)
	if mark == "" {
		m.out.WriteString(raw)
		return
	}
	m.mark(mark)
	m.out.WriteString(raw)
	m.element, m.depth, m.rest = t.DataAtom, 1, rest
}

func (m *replyMarker) end(a atom.Atom, raw string) {
	m.out.WriteString(raw)
	if m.element == 0 || a != m.element {
		return
	}
	if m.depth--; m.depth > 0 {
		return
	}
	m.mark(replyEnd)
	m.element = 0
	if m.rest {
		m.mark(quotedMark)
		m.element, m.depth = atom.Html, 1 // until the end of the document
	}
}

// mark writes a mark as a line of its own.
func (m *replyMarker) mark(mark string) { m.out.WriteString("<div>" + mark + "</div>") }

// outlookRule is the line that Outlook draws above the fields of the message that it quotes.
var outlookRule = regexp.MustCompile(`(?i)border:\s*none;\s*border-top:\s*solid\s+(?:#?(?:E1E1E1|B5C4DF)|windowtext)\s+1\.0pt`)

// judge says what an element is by the classes, ids and styles that mail programs give it. With rest, all that follows the
// element is quoted.
func (m *replyMarker) judge(t html.Token) (mark string, rest bool) {
	if t.DataAtom != atom.Div && t.DataAtom != atom.Blockquote && t.DataAtom != atom.Span && t.DataAtom != atom.Pre {
		return "", false
	}
	id := strings.TrimPrefix(strings.ToLower(attribute(t, "id")), "x_") // Outlook's prefix for another's names
	classes := strings.Fields(strings.ReplaceAll(strings.ToLower(attribute(t, "class")), "x_", ""))
	has := func(class string) bool { return slices.Contains(classes, class) }
	switch {
	case t.DataAtom == atom.Blockquote:
		if strings.EqualFold(attribute(t, "type"), "cite") || has("gmail_quote") || has("protonmail_quote") || has("zmail_extra") {
			return quotedMark, false
		}
	case has("gmail_attr"), has("moz-cite-prefix"):
		return attributionMark, false
	case has("yahoo_quoted"), strings.HasPrefix(id, "yahoo_quoted"), has("protonmail_quote"), has("moz-forward-container"):
		return quotedMark, false
	case has("gmail_quote") && m.lastBlockquote < m.pos: // forwarded; a reply has its quotation in blockquotes, and answers between
		return quotedMark, false
	case id == "divrplyfwdmsg", id == "appendonsend", outlookRule.MatchString(attribute(t, "style")):
		return attributionMark, true
	case has("gmail_signature"), has("moz-signature"), has("protonmail_signature_block"), id == "ms-outlook-mobile-signature", id == "signature":
		return signatureMark, false
	}
	return "", false
}

func attribute(t html.Token, name string) string {
	for _, a := range t.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}
