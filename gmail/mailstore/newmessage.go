package mailstore

import (
	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/internal/readmail"
	"github.com/postroom-go/postroom/mime"
)

// NewMessage makes the message that a sync stores: what the bytes say, and what Gmail says about them.
func NewMessage(accountID string, raw *gmailapi.RawMessage, m *mime.Message) *postroom.Message {
	msg := readmail.Message(m)
	msg.AccountID, msg.ProviderID, msg.ProviderThreadID = accountID, raw.ID, raw.ThreadID
	msg.Snippet, msg.LabelIDs, msg.ReceivedAt = raw.Snippet, postroom.NewSnapshot(raw.LabelIDs).LabelIDs, raw.ReceivedAt
	clean(msg)
	return msg
}

// clean makes a message equal to its form when read from the store, so that an early decision sees the same message.
func clean(m *postroom.Message) {
	texts := []*string{&m.MessageID, &m.InReplyTo, &m.From.Name, &m.From.Email, &m.Subject, &m.Snippet,
		&m.BodyPlain, &m.BodyHTML}
	for i := range m.References {
		texts = append(texts, &m.References[i])
	}
	for _, list := range [][]postroom.Address{m.ReplyTo, m.To, m.Cc, m.Bcc} {
		for i := range list {
			texts = append(texts, &list[i].Name, &list[i].Email)
		}
	}
	for i := range m.Headers {
		texts = append(texts, &m.Headers[i].Name, &m.Headers[i].Value)
	}
	for i := range m.Attachments {
		a := &m.Attachments[i]
		texts = append(texts, &a.Filename, &a.ContentType, &a.ContentID)
	}
	for _, text := range texts {
		*text = dbvalue.Clean(*text)
	}
}
