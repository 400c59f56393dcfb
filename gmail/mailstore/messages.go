package mailstore

import (
	"context"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/gmail/mailindex"
	"github.com/postroom-go/postroom/queue"
)

// Message returns one message of the account by its UUID, or [postroom.ErrNotFound]. It also returns a message that
// was deleted at Gmail.
func (s *Store) Message(ctx context.Context, accountID, messageID string) (*postroom.Message, error) {
	var row messageRow
	if err := maildb.Get(ctx, s.db.Reader(), &row, "message "+messageID, sqlMessage, accountID, messageID); err != nil {
		return nil, err
	}
	return row.message()
}

// MessageID returns the UUID of the message with Gmail's id, or [postroom.ErrNotFound].
func (s *Store) MessageID(ctx context.Context, accountID, providerID string) (string, error) {
	var id string
	err := maildb.Get(ctx, s.db.Reader(), &id, "message "+providerID, sqlMessageID, accountID, providerID)
	return id, err
}

// CountMessages counts the account's messages; those deleted at Gmail, and the broken ones, are not among them. It
// reads an index entry for each; see [Store.CountMessagesUpTo].
func (s *Store) CountMessages(ctx context.Context, accountID string) (int, error) {
	query := sqlCountMessages
	if string(s.db.Dialect()) == "sqlite" {
		query = sqlCountMessagesSQLite
	}
	var n int
	err := maildb.Get(ctx, s.db.Reader(), &n, "count messages", query, accountID)
	return n, err
}

// CountMessagesUpTo is [Store.CountMessages] that ends at a number: it returns at most so many.
func (s *Store) CountMessagesUpTo(ctx context.Context, accountID string, most int) (n int, err error) {
	query := sqlCountSomeMessages
	if string(s.db.Dialect()) == "sqlite" {
		query = sqlCountSomeMessagesSQLite
	}
	err = maildb.Get(ctx, s.db.Reader(), &n, "count messages", query, accountID, most)
	return n, err
}

// SaveMessage stores a message and its thread, keyed by account and Gmail's ids, and sets m.ID and m.ThreadID. isNew
// reports whether the message was not stored before. historyID is the history id of the labels. SaveMessage removes
// the broken message of the same id.
func (s *Store) SaveMessage(ctx context.Context, tx queue.Tx, m *postroom.Message,
	historyID uint64) (isNew bool, err error) {
	return s.Copies().Save(ctx, tx, m, historyID, mailindex.Terms(ctx, m))
}
