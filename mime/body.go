package mime

import (
	"slices"
	"strings"

	"golang.org/x/text/encoding"
)

// fillBodies decides which parts are the text of the message and which are attached to it, following JMAP (RFC 8621, section
// 4.1.4).
func (m *Message) fillBodies(meter *meter) {
	var text, html []shownText
	var walk func(p, parent *Part, isFirst bool)
	walk = func(p, parent *Part, isFirst bool) {
		switch {
		case p.IsMultipart():
			for i, child := range p.Parts {
				walk(child, p, i == 0)
			}
		case p.opaque || !p.isShown(parent, isFirst) ||
			p.Message != nil && !meter.mayShow(len(p.Message.Text)+len(p.Message.HTML)):
			m.Attachments = append(m.Attachments, p)
		case p.Message != nil:
			m.shown = max(m.shown, p.Message.shown+1)
			text, html = append(text, shownText{text: p.Message.Text}), append(html, shownText{text: p.Message.HTML})
			m.Attachments = append(m.Attachments, p.Message.Attachments...)
		case p.ContentType == "text/html":
			html = append(html, m.readText(p))
		default:
			text = append(text, m.readText(p))
		}
	}
	walk(m.Root, nil, true)
	m.Text, m.HTML = joinTexts(text), joinTexts(html)
}

const maxShown = 3

// isShown reports whether a leaf is shown within the message.
//
// A text is shown unless it is marked as an attachment, has a name and is not the first of its multipart, or is a related
// resource of an earlier part. An attached message is shown if it is marked as inline (RFC 2183, section 2.1) and has no name. At
// most maxShown messages are shown within each other, since each holds the text of those within it.
func (p *Part) isShown(parent *Part, isFirst bool) bool {
	switch {
	case p.Message != nil:
		return p.Disposition == "inline" && p.Filename == "" && p.Message.shown < maxShown
	case p.Disposition == "attachment" || p.ContentType != "text/plain" && p.ContentType != "text/html":
		return false
	default:
		return isFirst || p.Filename == "" && parent.ContentType != "multipart/related"
	}
}

func (m *Message) readText(p *Part) shownText {
	text, problem := p.shownText()
	if problem != "" {
		reporter{to: &m.Defects, part: p.Path}.report(problem, "", p.Params["charset"])
	}
	return text
}

// A shownText is a text in UTF-8, or one that is converted when it is written, so that it is in memory only once.
type shownText struct {
	text string

	content []byte // used if text is empty
	enc     encoding.Encoding
}

func (t shownText) String() string {
	if t.text != "" {
		return t.text
	}
	return transcode(t.content, t.enc, true)
}

// pour writes the text in pieces.
func (t shownText) pour(write func([]byte)) {
	if t.text != "" {
		write([]byte(t.text))
		return
	}
	pour(t.content, t.enc, true, write)
}

// joinTexts concatenates texts, and starts each on a new line.
func joinTexts(texts []shownText) string {
	texts = slices.DeleteFunc(texts, func(t shownText) bool { return t.text == "" && len(t.content) == 0 })
	if len(texts) == 1 {
		return texts[0].String() // not copied: it may be as large as the message
	}
	size := len(texts)
	for _, t := range texts {
		t.pour(func(piece []byte) { size += len(piece) })
	}
	var out strings.Builder
	out.Grow(size)
	for _, t := range texts {
		begun := false
		t.pour(func(piece []byte) {
			if !begun && len(piece) > 0 && out.Len() > 0 && !strings.HasSuffix(out.String(), "\n") {
				out.WriteByte('\n')
			}
			begun = begun || len(piece) > 0
			out.Write(piece)
		})
	}
	return out.String()
}
