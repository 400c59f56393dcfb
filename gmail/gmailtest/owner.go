package gmailtest

import (
	"context"

	"google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom/gmail/gmailtest/mailbox"
)

// A server has one mailbox from the start, that of its owner. The following methods use it.

// Email returns the address of the owner.
func (s *Server) Email() string { return s.owner.email }

// Service returns a client of Google's library for the mailbox of the owner.
func (s *Server) Service(ctx context.Context) (*gmail.Service, error) { return s.owner.Service(ctx) }

// Import is [Account.Import] into the mailbox of the owner.
func (s *Server) Import(ctx context.Context, source mailbox.Source, progress func(done int)) (added int, err error) {
	return s.owner.Import(ctx, source, progress)
}

// Deliver is [Account.Deliver] to the owner.
func (s *Server) Deliver(ctx context.Context, raw []byte) (Message, error) {
	return s.owner.Deliver(ctx, raw)
}

// CreateLabels is [Account.CreateLabels] in the mailbox of the owner.
func (s *Server) CreateLabels(ctx context.Context, names ...string) error {
	return s.owner.CreateLabels(ctx, names...)
}

// Message is [Account.Message] in the mailbox of the owner.
func (s *Server) Message(ctx context.Context, id string) (Message, error) {
	return s.owner.Message(ctx, id)
}

// Position is [Account.Position] in the mailbox of the owner.
func (s *Server) Position(ctx context.Context, id string) (int, error) {
	return s.owner.Position(ctx, id)
}

// Snapshot is [Account.Snapshot] of the mailbox of the owner.
func (s *Server) Snapshot(ctx context.Context) ([]Message, error) { return s.owner.Snapshot(ctx) }

// Refused is [Account.Refused] of the mailbox of the owner.
func (s *Server) Refused(ctx context.Context) ([]Refused, error) { return s.owner.Refused(ctx) }

// Count is [Account.Count] of the mailbox of the owner.
func (s *Server) Count(ctx context.Context) (int, error) { return s.owner.Count(ctx) }

// ForgetHistory is [Account.ForgetHistory] of the mailbox of the owner.
func (s *Server) ForgetHistory(ctx context.Context) error { return s.owner.ForgetHistory(ctx) }
