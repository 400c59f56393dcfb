package gmail

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/uuid7"
	"github.com/postroom-go/postroom/queue"
)

// Message returns one message of the account by its UUID, or [postroom.ErrNotFound]. A message that was deleted at Gmail is
// still there.
func (s *Store) Message(ctx context.Context, accountID, messageID string) (*postroom.Message, error) {
	var row messageRow
	if err := get(ctx, s.db.Reader(), &row, "message "+messageID, sqlMessage, accountID, messageID); err != nil {
		return nil, err
	}
	return row.message()
}

// MessageID returns the UUID of the message with Gmail's id, or [postroom.ErrNotFound].
func (s *Store) MessageID(ctx context.Context, accountID, providerID string) (string, error) {
	var id string
	err := get(ctx, s.db.Reader(), &id, "message "+providerID, sqlMessageID, accountID, providerID)
	return id, err
}

// providerID is Gmail's id of a message; [ClassNotFound] when there is none.
func (s *Store) providerID(ctx context.Context, accountID, messageID string) (string, error) {
	var id string
	err := get(ctx, s.db.Reader(), &id, "message "+messageID, sqlProviderID, accountID, messageID)
	if errors.Is(err, postroom.ErrNotFound) {
		err = &Error{Op: "find message", Class: ClassNotFound, Err: err}
	}
	return id, err
}

// CountMessages counts the account's messages; those deleted at Gmail, and the broken ones, are not among them.
func (s *Store) CountMessages(ctx context.Context, accountID string) (int, error) {
	var n int
	err := get(ctx, s.db.Reader(), &n, "count messages", sqlCountMessages, accountID)
	return n, err
}

// SaveMessage stores a message and its thread, keyed by account and Gmail's ids, and sets m.ID and m.ThreadID; isNew reports
// whether the message was not stored before. historyID is that of the labels. SaveMessage removes the broken message of the
// same id.
func (s *Store) SaveMessage(ctx context.Context, tx queue.Tx, m *postroom.Message, historyID uint64) (isNew bool, err error) {
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
	if err := get(ctx, tx, &m.ID, "message "+m.ProviderID, sqlUpsertMessage, args...); err != nil {
		return false, err
	}
	return m.ID == id, s.forgetBroken(ctx, tx, m.AccountID, m.ProviderID)
}

// SetLabels stores the labels of a message, or returns [postroom.ErrNotFound].
func (s *Store) SetLabels(ctx context.Context, tx queue.Tx, accountID, messageID string, image postroom.Image) error {
	labels, err := toJSON(postroom.NewImage(image.LabelIDs).LabelIDs)
	if err != nil {
		return err
	}
	return mustExec(ctx, tx, "message "+messageID, sqlSetLabels, labels, dbtime.Of(queue.Now(tx)), accountID, messageID)
}

// changeLabels applies one entry of the history. A message that is not stored, or whose labels are as new as the entry,
// stays as it is.
func (s *Store) changeLabels(ctx context.Context, tx queue.Tx, accountID, providerID string, historyID uint64, change postroom.LabelChange) error {
	var row struct {
		ID        string   `db:"id"`
		HistoryID int64    `db:"history_id"`
		Labels    jsonText `db:"labels_json"`
	}
	err := get(ctx, tx, &row, "message "+providerID, sqlLockLabels, accountID, providerID)
	if errors.Is(err, postroom.ErrNotFound) || err == nil && uint64(row.HistoryID) > historyID {
		return nil
	}
	if err != nil {
		return err
	}
	var now []string
	if err := json.Unmarshal(row.Labels, &now); err != nil {
		return fmt.Errorf("gmail: labels of message %s: %w", row.ID, err)
	}
	labels, err := toJSON(postroom.NewImage(now).Apply(change).LabelIDs)
	if err != nil {
		return err
	}
	return mustExec(ctx, tx, "message "+row.ID, sqlSetLabelsAt,
		labels, int64(historyID), dbtime.Of(queue.Now(tx)), accountID, row.ID)
}

// markDeleted notes that a message is no longer at Gmail. It stays here, for what was done with it; a broken one goes.
func (s *Store) markDeleted(ctx context.Context, tx queue.Tx, accountID, providerID string) error {
	now := dbtime.Of(queue.Now(tx))
	if _, err := exec(ctx, tx, "message "+providerID, sqlSetDeleted, now, now, accountID, providerID); err != nil {
		return err
	}
	return s.forgetBroken(ctx, tx, accountID, providerID)
}

// markDeletedByID is markDeleted for a message that is named by our id, and so is not broken.
func (s *Store) markDeletedByID(ctx context.Context, tx queue.Tx, accountID, messageID string) error {
	now := dbtime.Of(queue.Now(tx))
	_, err := exec(ctx, tx, "message "+messageID, sqlSetDeletedByID, now, now, accountID, messageID)
	return err
}
