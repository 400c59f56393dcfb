package mime

import (
	"slices"
	"strings"

	"github.com/postroom-go/postroom/mime/charset"
	"github.com/postroom-go/postroom/mime/htmltext"
)

// fillBodies decides which parts are the text of the message and which are attached to it, following JMAP (RFC 8621,
// section 4.1.4).
//
// The forms of a multipart/alternative are each in their own body. Every other text part is in both: as it is in the
// body of its form, and converted in the other.
func (m *Message) fillBodies(meter *meter) {
	b := bodyReader{message: m, meter: meter}
	b.walk(m.Root, nil, true)
	m.Text, m.HTML = b.join(b.text, false), b.join(b.html, true)
}

// A bodyReader gathers the texts of the two bodies and the attachments of a message.
type bodyReader struct {
	message    *Message
	meter      *meter
	text, html []shownText
}

func (b *bodyReader) walk(p, parent *Part, isFirst bool) {
	m := b.message
	switch {
	case p.IsMultipart():
		b.multipart(p)
	case p.opaque || !p.isShown(parent, isFirst) ||
		p.Message != nil && !b.meter.mayShow(len(p.Message.Text)+len(p.Message.HTML)):
		if !p.isForm(parent) {
			m.Attachments = append(m.Attachments, p)
		}
	case p.Message != nil:
		m.shown = max(m.shown, p.Message.shown+1)
		m.Attachments = append(m.Attachments, p.Message.Attachments...)
		text, html := len(b.text), len(b.html)
		b.text = append(b.text, shownText{text: p.Message.Text})
		b.html = append(b.html, shownText{text: p.Message.HTML, isHTML: true})
		b.fill(text, html)
	default:
		if p.undecoded {
			m.Attachments = append(m.Attachments, p)
		}
		one := m.readText(p)
		b.text, b.html = append(b.text, one), append(b.html, one)
	}
}

func (b *bodyReader) multipart(p *Part) {
	text, html := len(b.text), len(b.html)
	for i, child := range p.Parts {
		firstText, firstHTML := len(b.text), len(b.html)
		b.walk(child, p, i == 0)
		if p.ContentType == "multipart/alternative" {
			b.keepForm(firstText, firstHTML)
		}
	}
	if p.ContentType == "multipart/alternative" {
		b.fill(text, html)
	}
}

// keepForm leaves the texts of one form of a multipart/alternative, which begin at the indices, in one body: that of
// the plain form if the first text is plain. A part with forms of its own keeps them.
func (b *bodyReader) keepForm(text, html int) {
	switch {
	case len(b.text) == text || len(b.html) == html || b.text[text].isHTML != b.html[html].isHTML:
	case b.text[text].isHTML:
		b.text = b.text[:text]
	default:
		b.html = b.html[:html]
	}
}

// fill makes a part that has one form the same in the other body. Its texts begin at the indices.
func (b *bodyReader) fill(text, html int) {
	switch {
	case areEmpty(b.text[text:]):
		b.text = append(b.text[:text], b.html[html:]...)
	case areEmpty(b.html[html:]):
		b.html = append(b.html[:html], b.text[text:]...)
	}
}

func areEmpty(texts []shownText) bool {
	return !slices.ContainsFunc(texts, func(t shownText) bool { return !t.isEmpty() })
}

// join returns a body; it is empty if no part is in its form. The texts in the other form are converted: all of them
// together as far as they are repeated at all, so that no message becomes larger by more than a few times that.
func (b *bodyReader) join(parts []shownText, isHTML bool) string {
	own := slices.ContainsFunc(parts, func(t shownText) bool { return t.isHTML == isHTML && !t.isEmpty() })
	if !own {
		return ""
	}
	joined := make([]shownText, 0, len(parts))
	last := len(parts) - 1
	for last > 0 && parts[last].isEmpty() {
		last--
	}
	pages := 0
	for i, t := range parts {
		switch {
		case t.isEmpty():
		case t.isHTML != isHTML:
			t = t.converted(b.meter)
		case isHTML && i < last:
			pages++
			t = t.closed(b.meter, pages)
		}
		joined = append(joined, t)
	}
	return joinTexts(joined)
}

// maxClosed is how many pages are read to find out what follows them; no mail has so many in one body.
const maxClosed = 32

// closed returns a page after which others are shown: the nth itself, what it shows, or beyond maxClosed its source.
func (t shownText) closed(m *meter, nth int) shownText {
	switch {
	case nth > maxClosed:
		t.isHTML = false
		return t.converted(m)
	case t.swallows():
		return t.converted(m).converted(m)
	}
	return t
}

// swallows reports whether what follows a page in the same body would not be shown: a comment, a style sheet or a
// hidden element does not end in it. Clients show each part by itself.
func (t shownText) swallows() bool {
	const probe = "whatfollows"
	return !strings.HasSuffix(htmltext.Text(t.String()+"\n<pre>"+probe+"</pre>"), probe)
}

// converted returns the text in the other form.
func (t shownText) converted(m *meter) shownText {
	text := t.String()
	text = strings.ToValidUTF8(text[:min(len(text), m.mayConvert(len(text)))], "")
	if t.isHTML {
		return shownText{text: htmltext.Text(text)}
	}
	return shownText{text: "<pre>" + htmlEscape.Replace(text) + "</pre>", isHTML: true}
}

var htmlEscape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

const maxShown = 3

// isShown reports whether a leaf is shown within the message.
//
// A text is shown unless it is marked as an attachment, has a name and is not the first of its multipart, or is a
// related resource of an earlier part. A form of a multipart/alternative is shown also if it has a name, as clients do,
// so that nobody hides by it what a person reads. An attached message is shown if it is marked as inline (RFC 2183,
// section 2.1) and has no name. At most maxShown messages are shown within each other, since each holds the text of
// those within it.
func (p *Part) isShown(parent *Part, isFirst bool) bool {
	switch {
	case p.Message != nil:
		return p.Disposition == "inline" && p.Filename == "" && p.Message.shown < maxShown
	case p.Disposition == "attachment" || p.ContentType != "text/plain" && p.ContentType != "text/html":
		return false
	default:
		return isFirst || parent.ContentType == "multipart/alternative" ||
			p.Filename == "" && parent.ContentType != "multipart/related"
	}
}

// isForm reports whether a part is only another form of a text that is shown, and no file: clients leave out the forms
// that they do not know (RFC 2046, section 5.1.4).
func (p *Part) isForm(parent *Part) bool {
	return parent != nil && parent.ContentType == "multipart/alternative" && p.Filename == "" &&
		p.Disposition != "attachment" && strings.HasPrefix(p.ContentType, "text/") && p.ContentType != "text/calendar" &&
		p.ContentType != "text/plain" && p.ContentType != "text/html"
}

func (m *Message) readText(p *Part) shownText {
	text, problem := p.shownText()
	text.isHTML = p.ContentType == "text/html"
	if problem != "" {
		reporter{to: &m.Defects, part: p.Path}.report(DefectKind(problem), "", p.Params["charset"])
	}
	return text
}

// A shownText is a text in UTF-8, or one that is converted when it is written, so that it is in memory only once.
type shownText struct {
	text   string
	isHTML bool

	content []byte // used if text is empty
	charset charset.Charset
}

func (t shownText) isEmpty() bool { return t.text == "" && len(t.content) == 0 }

func (t shownText) String() string {
	if t.text != "" {
		return t.text
	}
	return t.charset.Text(t.content)
}

// pour writes the text in pieces.
func (t shownText) pour(write func([]byte)) {
	if t.text != "" {
		write([]byte(t.text))
		return
	}
	t.charset.Pour(t.content, write)
}

// joinTexts concatenates texts, and starts each on a new line.
func joinTexts(texts []shownText) string {
	texts = slices.DeleteFunc(texts, shownText.isEmpty)
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
