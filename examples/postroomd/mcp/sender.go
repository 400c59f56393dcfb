package mcp

import (
	"context"
	"slices"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/senders"
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
	if isSent(m) {
		return true, nil
	}
	return senders.Correspondents{Store: s.app.Mail}.WrittenTo(ctx, m.AccountID, m.From.Email)
}

func isSent(m *postroom.Message) bool { return slices.Contains(m.LabelIDs, postroom.LabelSent) }
