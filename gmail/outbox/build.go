package outbox

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"html"
	stdmime "mime"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/htmltext"
)

// needsOriginal reports whether the bytes of the original are part of the message.
func (p *Payload) needsOriginal() bool {
	for _, file := range p.Attachments {
		if file.Part != 0 {
			return true
		}
	}
	return p.IncludeOriginal != ""
}

// build makes the bytes of the message. The same payload and original always give the same bytes. They have no date:
// Gmail adds the date of sending, which may be long after an approval.
func (p *Payload) build(account string, o *original) ([]byte, error) {
	out := mime.Outgoing{
		Subject: p.Subject, MessageID: p.MessageID, InReplyTo: p.InReplyTo, References: p.References,
		Text: p.BodyPlain, HTML: p.BodyHTML, Header: p.loopHeader(account),
	}
	for _, list := range []struct {
		to     *[]mime.Address
		values []string
	}{{&out.From, []string{p.From}}, {&out.ReplyTo, p.ReplyTo}, {&out.To, p.To}, {&out.Cc, p.Cc}} {
		addresses, err := readAddresses(list.values)
		if err != nil {
			return nil, err
		}
		*list.to = addresses
	}
	if err := p.attach(&out, o); err != nil {
		return nil, err
	}
	return out.Build()
}

// loopHeader are the fields by which other programs, and we ourselves, know that no person sent the message (RFC 3834).
func (p *Payload) loopHeader(account string) []mime.Field {
	if p.MessageType == Forward {
		fields := []mime.Field{{Name: "Auto-Submitted", Value: cmp.Or(p.AutoSubmitted, "auto-generated")}}
		for _, hop := range append(slices.Clone(p.Hops), account) {
			fields = append(fields, mime.Field{Name: "X-Loop", Value: hop})
		}
		return fields
	}
	return []mime.Field{
		{Name: "Auto-Submitted", Value: "auto-replied"}, {Name: "Precedence", Value: "bulk"},
		{Name: "X-Auto-Response-Suppress", Value: "All"}, {Name: "X-Loop", Value: account},
	}
}

func (p *Payload) attach(out *mime.Outgoing, o *original) error {
	if p.needsOriginal() && o == nil {
		return errors.New("the message includes an original that is not there")
	}
	switch p.IncludeOriginal {
	case "":
	case IncludeInline:
		out.Text, out.HTML = p.inlineText(o.parsed), p.inlineHTML(o.parsed)
	case IncludeAttachment:
		out.Attachments = append(out.Attachments, mime.Attachment{
			Filename: "forwarded.eml", ContentType: "message/rfc822", Content: withoutBcc(o.raw),
		})
	default:
		return fmt.Errorf("include_original is %q; use %q or %q", p.IncludeOriginal, IncludeInline, IncludeAttachment)
	}
	for i, file := range p.Attachments {
		if file.Part == 0 {
			out.Attachments = append(out.Attachments, mime.Attachment{Filename: file.Filename, ContentType: file.MimeType,
				Content: file.Data})
			continue
		}
		if file.MessageID != p.OriginalMessageID || file.Part < 1 || file.Part > len(o.parsed.Attachments) {
			return fmt.Errorf("attachments[%d] is part %d of message %s; the original %s has %d attachments",
				i, file.Part, file.MessageID, p.OriginalMessageID, len(o.parsed.Attachments))
		}
		out.Attachments = append(out.Attachments, attachmentOf(o.parsed.Attachments[file.Part-1]))
	}
	return nil
}

// attachmentOf makes an attachment of a part of the original. A part that cannot stand alone in a message becomes a
// file of unknown type.
func attachmentOf(part *mime.Part) mime.Attachment {
	params := make(map[string]string)
	for name, value := range part.Params {
		if name != "name" && name != "boundary" {
			params[name] = value
		}
	}
	contentType := stdmime.FormatMediaType(part.ContentType, params)
	if contentType == "" {
		contentType = part.ContentType
	}
	if part.IsOpaque() || strings.HasPrefix(part.ContentType, "multipart/") {
		contentType = "application/octet-stream"
	}
	a := mime.Attachment{Filename: part.Filename, ContentType: contentType, Content: part.Content,
		Inline: part.Disposition == "inline"}
	if !notAnID(part.ContentID) {
		a.ContentID = part.ContentID
		a.Inline = a.Inline || part.Kind() == mime.KindPicture
	}
	return a
}

// Attached returns parts of a message as attachments of another, such as a draft that is written again.
func Attached(parts []*mime.Part) (files []mime.Attachment) {
	for _, part := range parts {
		files = append(files, attachmentOf(part))
	}
	return files
}

// inlineText returns the new text followed by the text of the original.
func (p *Payload) inlineText(o *mime.Message) string {
	note, text := p.note(), o.Text
	if text == "" && o.HTML != "" {
		text = htmltext.Text(o.HTML)
	}
	if note != "" {
		note = strings.TrimRight(note, "\n") + "\n\n"
	}
	return note + forwardedMark + "\n" + strings.Join(forwardedHeader(o), "\n") + "\n\n" + text
}

const forwardedMark = "---------- Forwarded message ---------"

// inlineHTML is inlineText as HTML; empty if neither part has any.
func (p *Payload) inlineHTML(o *mime.Message) string {
	if p.BodyHTML == "" && o.HTML == "" {
		return ""
	}
	note, text := p.BodyHTML, o.HTML
	if note == "" && p.BodyPlain != "" {
		note = htmlOf(p.BodyPlain)
	}
	if text == "" {
		text = htmlOf(o.Text)
	}
	if note != "" {
		note = "<div>" + note + "</div>\n<br>\n"
	}
	var lines []string
	for _, line := range forwardedHeader(o) {
		lines = append(lines, html.EscapeString(line))
	}
	return note + "<div>" + forwardedMark + "<br>\n" + strings.Join(lines, "<br>\n") + "</div>\n<br>\n<div>" +
		text + "</div>\n"
}

func htmlOf(text string) string {
	return `<div style="white-space: pre-wrap">` + html.EscapeString(text) + "</div>"
}

// forwardedHeader returns the header fields of the original for a person, without Bcc.
func forwardedHeader(o *mime.Message) []string {
	lines := []string{"From: " + readable(o.From)}
	if !o.Date.IsZero() {
		lines = append(lines, "Date: "+o.Date.Format(time.RFC1123Z))
	}
	lines = append(lines, "Subject: "+o.Subject, "To: "+readable(o.To))
	if len(o.Cc) > 0 {
		lines = append(lines, "Cc: "+readable(o.Cc))
	}
	return lines
}

func readable(list []mime.Address) string {
	var texts []string
	for _, a := range list {
		texts = append(texts, postroom.Address{Name: a.Name, Email: a.Email}.String())
	}
	return strings.Join(texts, ", ")
}

// withoutBcc removes the Bcc fields of a message: a message that was sent from the mailbox has them.
func withoutBcc(raw []byte) []byte {
	kept := make([]byte, 0, len(raw))
	skipping := false
	for rest := raw; len(rest) > 0; {
		line := rest
		if end := bytes.IndexByte(rest, '\n'); end >= 0 {
			line = rest[:end+1]
		}
		if len(bytes.TrimRight(line, "\r\n")) == 0 {
			return append(kept, rest...) // the header ends here
		}
		if line[0] != ' ' && line[0] != '\t' {
			name, _, _ := bytes.Cut(line, []byte(":"))
			name = bytes.TrimSpace(name)
			skipping = bytes.EqualFold(name, []byte("Bcc")) || bytes.EqualFold(name, []byte("Resent-Bcc"))
		}
		if !skipping {
			kept = append(kept, line...)
		}
		rest = rest[len(line):]
	}
	return kept
}
