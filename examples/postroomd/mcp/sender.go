package mcp

import (
	"context"
	"slices"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/mailindex"
	"github.com/postroom-go/postroom/internal/mailname"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/authres"
	"github.com/postroom-go/postroom/rules"
)

// notice notes that a caller sees what a message says whose sender is not verified or not known.
func (s *server) notice(ctx context.Context, c *call, m *postroom.Message) error {
	if c.untrusted {
		return nil
	}
	known, err := s.isKnown(ctx, m)
	c.untrusted = !known || !isVerified(m)
	return err
}

// isVerified reports whether Gmail has verified the domain of the sender, or the user has sent the message.
func isVerified(m *postroom.Message) bool {
	if isSent(m) {
		return true
	}
	header := make(mime.Header, len(m.Headers))
	for i, f := range m.Headers {
		header[i] = mime.Field{Name: f.Name, Value: f.Value}
	}
	return authres.Read(header, rules.GmailServer).Verifies(mime.Address{Name: m.From.Name, Email: m.From.Email})
}

// isKnown reports whether the user has written to the sender, or has sent the message.
func (s *server) isKnown(ctx context.Context, m *postroom.Message) (bool, error) {
	sender := mailname.Address(m.From.Email)
	if isSent(m) || sender == "" || strings.ContainsAny(sender, "\" \t()") { // more than a word of a search
		return isSent(m), nil
	}
	found, err := s.app.SearchMail(ctx, m.AccountID,
		mailindex.Search{Query: `in:sent to:"` + sender + `"`, SpamAndTrash: true, Limit: mostHits})
	for _, sent := range found.Messages {
		if isAutomatic(sent) {
			continue
		}
		for _, to := range slices.Concat(sent.To, sent.Cc, sent.Bcc) {
			if isSent(sent) && mailname.Address(to.Email) == sender {
				return true, err
			}
		}
	}
	return false, err
}

// isAutomatic reports whether a program has sent the message, such as an answer by a rule (RFC 3834, section 5).
func isAutomatic(m *postroom.Message) bool {
	return slices.ContainsFunc(m.Header("Auto-Submitted"), func(v string) bool { return !strings.EqualFold(v, "no") })
}

func isSent(m *postroom.Message) bool { return slices.Contains(m.LabelIDs, postroom.LabelSent) }
