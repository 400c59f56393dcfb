package gmail

import (
	"encoding/json"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbvalue"
)

// toJSON makes JSON that every database keeps: it holds no NUL character either; see [dbvalue.Clean].
func toJSON(v any) (string, error) {
	b, err := json.Marshal(v)
	return cleanEscapes(string(b)), err
}

// cleanEscapes turns the JSON escape of NUL into that of U+FFFD.
func cleanEscapes(s string) string {
	if !strings.Contains(s, `\u0000`) {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] != '\\' || i+1 == len(s):
			out.WriteByte(s[i])
		case strings.HasPrefix(s[i:], `\u0000`):
			out.WriteString(`\ufffd`)
			i += len(`\u0000`) - 1
		default: // another escape: copy both bytes, so that an escaped backslash does not begin one
			out.WriteString(s[i : i+2])
			i++
		}
	}
	return out.String()
}

// clean makes a message equal to its form when read from the store, so that an early decision sees the same message.
func clean(m *postroom.Message) {
	texts := []*string{&m.MessageID, &m.InReplyTo, &m.From.Name, &m.From.Email, &m.Subject, &m.Snippet, &m.BodyPlain, &m.BodyHTML}
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
