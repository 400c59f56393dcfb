package gmail

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/uuid7"
	"github.com/postroom-go/postroom/queue"
)

// Message returns one message of the account by its UUID, or [postroom.ErrNotFound]. It also returns a message that was deleted
// at Gmail.
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

// providerID returns Gmail's id of a message; [ClassNotFound] if there is none.
func (s *Store) providerID(ctx context.Context, accountID, messageID string) (string, error) {
	var id string
	err := maildb.Get(ctx, s.db.Reader(), &id, "message "+messageID, sqlProviderID, accountID, messageID)
	if errors.Is(err, postroom.ErrNotFound) {
		err = &gmailapi.Error{Op: "find message", Class: gmailapi.ClassNotFound, Err: err}
	}
	return id, err
}

// notStored returns those of Gmail's ids that no stored message has, in order.
func (s *Store) notStored(ctx context.Context, tx queue.Tx, accountID string, ids []string) ([]string, error) {
	stored := make(map[string]bool)
	for chunk := range slices.Chunk(ids, maildb.Bulk) {
		var found []string
		if err := dbquery.Select(ctx, tx, &found, sqlStoredIDs+maildb.Places(2, len(chunk)), maildb.Args(accountID, chunk)...); err != nil {
			return nil, fmt.Errorf("gmail: messages that are stored: %w", err)
		}
		for _, id := range found {
			stored[id] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return stored[id] }), nil
}

// CountMessages counts the account's messages; those deleted at Gmail, and the broken ones, are not among them.
func (s *Store) CountMessages(ctx context.Context, accountID string) (int, error) {
	var n int
	err := maildb.Get(ctx, s.db.Reader(), &n, "count messages", sqlCountMessages, accountID)
	return n, err
}

// SaveMessage stores a message and its thread, keyed by account and Gmail's ids, and sets m.ID and m.ThreadID. isNew reports
// whether the message was not stored before. historyID is the history id of the labels. SaveMessage removes the broken message of
// the same id.
func (s *Store) SaveMessage(ctx context.Context, tx queue.Tx, m *postroom.Message, historyID uint64) (isNew bool, err error) {
	return s.saveMessage(ctx, tx, m, historyID, Terms(m))
}

// saveMessage is SaveMessage with the message's terms, which are better made before the transaction begins.
func (s *Store) saveMessage(ctx context.Context, tx queue.Tx, m *postroom.Message, historyID uint64, terms []byte) (isNew bool, err error) {
	if err := s.saveThread(ctx, tx, m); err != nil {
		return false, err
	}
	id, err := uuid7.New()
	if err != nil {
		return false, err
	}
	args, err := messageArgs(tx, id, m, historyID)
	if err != nil {
		return false, fmt.Errorf("gmail: message %s: %w", m.ProviderID, err)
	}
	var row struct {
		ID string      `db:"id"`
		At dbtime.Time `db:"at"`
	}
	if err := maildb.Get(ctx, tx, &row, "message "+m.ProviderID, sqlUpsertMessage, args...); err != nil {
		return false, err
	}
	m.ID = row.ID
	if err := s.index().Add(ctx, tx, m, row.At.Unix(), terms); err != nil {
		return false, err
	}
	return m.ID == id, s.forgetBroken(ctx, tx, m.AccountID, m.ProviderID)
}

// changeLabels applies one entry of the history. A message that is not stored, or whose labels are as new as the entry,
// stays as it is, and the step is nil.
func (s *Store) changeLabels(ctx context.Context, tx queue.Tx, accountID string, event gmailapi.HistoryEvent) (*labelStep, error) {
	state, err := s.lockState(ctx, tx, accountID, event.MessageID)
	if err != nil || state == nil || uint64(state.HistoryID) > event.HistoryID {
		return nil, err
	}
	before, err := state.image()
	if err != nil {
		return nil, err
	}
	after := before.Apply(event.Change())
	labels, err := maildb.JSON(after.LabelIDs)
	if err != nil {
		return nil, err
	}
	err = maildb.MustExec(ctx, tx, "message "+state.ID, sqlSetLabelsAt,
		labels, int64(event.HistoryID), dbtime.Of(queue.Now(tx)), accountID, state.ID)
	return &labelStep{messageID: state.ID, before: before, after: after}, err
}

// A labelStep is a change of the stored labels of a message.
type labelStep struct {
	messageID     string
	before, after postroom.Image
}

// markDeleted records that a message is no longer at Gmail. It stays in the store, for its actions; a broken one is deleted. The
// id is empty for a message that is not stored, or was marked before.
func (s *Store) markDeleted(ctx context.Context, tx queue.Tx, accountID, providerID string) (id string, err error) {
	now := dbtime.Of(queue.Now(tx))
	err = maildb.Get(ctx, tx, &id, "message "+providerID, sqlSetDeleted, now, now, accountID, providerID)
	if err != nil && !errors.Is(err, postroom.ErrNotFound) {
		return "", err
	}
	return id, s.forgetBroken(ctx, tx, accountID, providerID)
}

// markDeletedByID is markDeleted for a message that is named by its UUID, and so is not broken. It returns Gmail's id.
func (s *Store) markDeletedByID(ctx context.Context, tx queue.Tx, accountID, messageID string) (providerID string, err error) {
	now := dbtime.Of(queue.Now(tx))
	err = maildb.Get(ctx, tx, &providerID, "message "+messageID, sqlSetDeletedByID, now, now, accountID, messageID)
	if errors.Is(err, postroom.ErrNotFound) {
		err = nil
	}
	return providerID, err
}
