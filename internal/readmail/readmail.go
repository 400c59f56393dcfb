// Package readmail converts a message of package mime to a postroom.Message.
package readmail

import (
	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/mime"
)

// Message returns the fields that the message itself has. Fields that only its provider knows are zero: ids, labels,
// the snippet and the time of receipt.
func Message(m *mime.Message) *postroom.Message {
	msg := &postroom.Message{
		MessageID: m.MessageID, InReplyTo: m.InReplyTo, References: m.References,
		ReplyTo: addresses(m.ReplyTo), To: addresses(m.To), Cc: addresses(m.Cc), Bcc: addresses(m.Bcc),
		Subject: m.Subject, BodyPlain: m.Text, BodyHTML: m.HTML, Date: m.Date.UTC(), Size: int64(m.Size),
	}
	if from := addresses(m.From); len(from) > 0 {
		msg.From = from[0]
	}
	for _, f := range m.Header {
		msg.Headers = append(msg.Headers, postroom.Header{Name: f.Name, Value: f.Value})
	}
	for _, p := range m.Attachments {
		a := postroom.Attachment{
			Filename: p.Filename, ContentType: p.ContentType, Size: int64(len(p.Content)),
			Inline: p.Disposition == "inline", ContentID: p.ContentID,
		}
		if kind := p.Kind(); kind != mime.KindFile {
			a.Kind = string(kind)
		}
		msg.Attachments = append(msg.Attachments, a)
	}
	return msg
}

func addresses(list []mime.Address) []postroom.Address {
	var out []postroom.Address
	for _, a := range list {
		out = append(out, postroom.Address{Name: a.Name, Email: a.Email})
	}
	return out
}
