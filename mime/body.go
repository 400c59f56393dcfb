package mime

import (
	"slices"
	"strings"
)

// fillBodies decides which parts are the text of the message and which are attached to it, in the manner of JMAP (RFC
// 8621, section 4.1.4).
func (m *Message) fillBodies(meter *meter) {
	var text, html []string
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
			text, html = append(text, p.Message.Text), append(html, p.Message.HTML)
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

// isShown reports whether a leaf is shown within the message. A text is, unless it is marked as an attachment, or has a
// name and is not the first of its multipart, or is a related resource of what comes first. An attached message is
// when it is marked as inline (RFC 2183, section 2.1) and has no name; up to maxShown, one within the other, since
// each holds the text of those within it.
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

func (m *Message) readText(p *Part) string {
	text, problem := p.text()
	if problem != "" {
		reporter{to: &m.Defects, part: p.Path}.report(problem, "", p.Params["charset"])
	}
	return text
}

// joinTexts puts texts behind each other, each on a line of its own.
func joinTexts(texts []string) string {
	texts = slices.DeleteFunc(texts, func(text string) bool { return text == "" })
	if len(texts) == 1 {
		return texts[0] // not copied: it may be as large as the message
	}
	size := len(texts)
	for _, text := range texts {
		size += len(text)
	}
	var out strings.Builder
	out.Grow(size)
	endsLine := true
	for _, text := range texts {
		if !endsLine {
			out.WriteByte('\n')
		}
		out.WriteString(text)
		endsLine = strings.HasSuffix(text, "\n")
	}
	return out.String()
}
