package mime

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// TextFromHTML returns the text of HTML: blocks become lines, list items get a dash, table cells are set apart,
// images give their alternative text. Styles, scripts and whatever else is not meant to be read are left out. Its
// time is linear in the size of the input, and every input is accepted.
//
// The result holds the text of the markup, which is not always what a browser shows: text that styles hide is part of it.
func TextFromHTML(source string) string {
	w := textWriter{}
	tokens := html.NewTokenizer(strings.NewReader(source))
	for {
		switch tokens.Next() {
		case html.ErrorToken: // the end: a strings.Reader has no other error
			return strings.TrimSpace(w.out.String())
		case html.TextToken:
			w.text(strings.ReplaceAll(string(tokens.Text()), "\u00A0", " "))
		case html.StartTagToken, html.SelfClosingTagToken:
			w.start(tokens.Token())
		case html.EndTagToken:
			w.end(tokens.Token().DataAtom)
		}
	}
}

// A textWriter writes text with blanks collapsed and breaks between blocks.
type textWriter struct {
	out    strings.Builder
	breaks int  // line breaks due before the next text
	blank  bool // a blank is due before the next text
	bullet bool // a dash is due before the next text
	pre    int  // depth of elements that keep blanks
	// silent is the element whose content is left out until it ends; 0 when none is.
	silent atom.Atom
}

func (w *textWriter) start(t html.Token) {
	if w.silent != 0 {
		return
	}
	switch t.DataAtom {
	case atom.Script, atom.Style, atom.Title, atom.Template, atom.Noframes, atom.Iframe, atom.Textarea, atom.Select:
		if t.Type == html.StartTagToken {
			w.silent = t.DataAtom
		}
	case atom.Br:
		w.lineBreak(w.breaks + 1)
	case atom.Hr:
		w.lineBreak(1)
		w.text("---")
		w.lineBreak(1)
	case atom.Li:
		w.lineBreak(1)
		w.bullet = true
	case atom.Td, atom.Th:
		w.blank = true
	case atom.Img:
		w.text(attribute(t, "alt"))
	case atom.Pre:
		w.lineBreak(2)
		w.pre++
	default:
		w.lineBreak(breaksAround(t.DataAtom))
	}
}

func (w *textWriter) end(a atom.Atom) {
	if w.silent != 0 {
		if a == w.silent {
			w.silent = 0
		}
		return
	}
	switch a {
	case atom.Pre:
		w.pre = max(0, w.pre-1)
		w.lineBreak(2)
	case atom.Td, atom.Th:
		w.blank = true
	case atom.Li:
		w.lineBreak(1)
	default:
		w.lineBreak(breaksAround(a))
	}
}

// breaksAround returns the number of line breaks before and after an element; 2 leave an empty line.
func breaksAround(a atom.Atom) int {
	switch a {
	case atom.P, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Blockquote, atom.Ul, atom.Ol, atom.Dl,
		atom.Table:
		return 2
	case atom.Div, atom.Tr, atom.Dt, atom.Dd, atom.Section, atom.Article, atom.Header, atom.Footer, atom.Main, atom.Nav,
		atom.Aside, atom.Address, atom.Figure, atom.Figcaption, atom.Center, atom.Form, atom.Fieldset, atom.Caption,
		atom.Body:
		return 1
	default:
		return 0
	}
}

// lineBreak makes at least n line breaks due, and never more than an empty line.
func (w *textWriter) lineBreak(n int) {
	w.breaks = max(w.breaks, min(n, 2))
}

func (w *textWriter) text(s string) {
	if w.silent != 0 {
		return
	}
	if w.pre > 0 {
		w.flush()
		w.out.WriteString(s)
		return
	}
	for word := range strings.FieldsSeq(s) {
		w.blank = w.blank || isSpace(s[0])
		w.flush()
		w.out.WriteString(word)
		w.blank = true
	}
	w.blank = s != "" && isSpace(s[len(s)-1]) || w.blank && strings.TrimSpace(s) == ""
}

func isSpace(c byte) bool { return isBlank(c) || c == '\f' }

// flush writes the breaks or the blank that are due.
func (w *textWriter) flush() {
	switch {
	case w.out.Len() == 0:
	case w.breaks > 0:
		w.out.WriteString("\n\n"[:w.breaks])
	case w.blank:
		w.out.WriteByte(' ')
	}
	if w.bullet {
		w.out.WriteString("- ")
	}
	w.breaks, w.blank, w.bullet = 0, false, false
}

func attribute(t html.Token, name string) string {
	for _, a := range t.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}
