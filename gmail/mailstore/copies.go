package mailstore

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

// Copies are the stored copies of Gmail's messages, as syncs and actions keep them. A host reads messages with the
// methods of [Store].
type Copies struct{ store *Store }

// Copies returns the stored copies of the messages.
func (s *Store) Copies() Copies { return Copies{s} }

// ProviderID returns Gmail's id of a message; [gmailapi.ClassNotFound] if there is none.
func (c Copies) ProviderID(ctx context.Context, accountID, messageID string) (string, error) {
	var id string
	err := maildb.Get(ctx, c.store.db.Reader(), &id, "message "+messageID, sqlProviderID, accountID, messageID)
	if errors.Is(err, postroom.ErrNotFound) {
		err = &gmailapi.Error{Op: "find message", Class: gmailapi.ClassNotFound, Err: err}
	}
	return id, err
}

// ProviderIDTx is [Copies.ProviderID] in a transaction. The error matches [postroom.ErrNotFound].
func (c Copies) ProviderIDTx(ctx context.Context, tx queue.Tx, accountID, messageID string) (id string, err error) {
	err = maildb.Get(ctx, tx, &id, "message "+messageID, sqlProviderID, accountID, messageID)
	return id, err
}

// ProviderThreadID returns Gmail's id of the thread of a message, in a transaction. The error matches
// [postroom.ErrNotFound].
func (c Copies) ProviderThreadID(ctx context.Context, tx queue.Tx, accountID, messageID string) (id string, err error) {
	err = maildb.Get(ctx, tx, &id, "thread of message "+messageID, sqlProviderThreadID, accountID, messageID)
	return id, err
}

// CheckProviderID returns an error of [gmailapi.ClassInvalid] if Gmail's id of an action's message differs from the
// decision's. The id never changes.
func CheckProviderID(a postroom.Action, providerID string) error {
	if a.ProviderMessageID == "" || a.ProviderMessageID == providerID {
		return nil
	}
	return &gmailapi.Error{Op: "action " + a.ID, Class: gmailapi.ClassInvalid, Err: fmt.Errorf(
		"message %s was %s at Gmail when it was decided about, and is %s in the database now: it was altered there",
		a.MessageID, a.ProviderMessageID, providerID)}
}

// NotStored returns those of Gmail's ids that no stored message has, in order.
func (c Copies) NotStored(ctx context.Context, tx queue.Tx, accountID string, ids []string) ([]string, error) {
	stored := make(map[string]bool)
	for chunk := range slices.Chunk(ids, maildb.Bulk) {
		var found []string
		if err := dbquery.Select(ctx, tx, &found, sqlStoredIDs+maildb.Places(2, len(chunk)),
			maildb.Args(accountID, chunk)...); err != nil {
			return nil, fmt.Errorf("gmail: messages that are stored: %w", err)
		}
		for _, id := range found {
			stored[id] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return stored[id] }), nil
}

// Save is SaveMessage with the message's terms, which are better made before the transaction begins.
func (c Copies) Save(ctx context.Context, tx queue.Tx, m *postroom.Message, historyID uint64,
	terms []byte) (isNew bool, err error) {
	if err := c.store.saveThread(ctx, tx, m); err != nil {
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
	if err := c.store.Index().Add(ctx, tx, m, row.At.Unix(), terms); err != nil {
		return false, err
	}
	return m.ID == id, c.store.forgetBroken(ctx, tx, m.AccountID, m.ProviderID)
}

// ChangeLabels applies one entry of the history. A message that is not stored, or whose labels are as new as the entry,
// stays as it is, and the step is nil.
func (c Copies) ChangeLabels(ctx context.Context, tx queue.Tx, accountID string,
	event gmailapi.HistoryEvent) (*LabelStep, error) {
	state, err := c.LockState(ctx, tx, accountID, event.MessageID)
	if err != nil || state == nil || state.HistoryID > event.HistoryID {
		return nil, err
	}
	before, err := state.Snapshot()
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
	return &LabelStep{MessageID: state.ID, HistoryID: event.HistoryID, Before: before, After: after}, err
}

// A LabelStep is a change of the stored labels of a message.
type LabelStep struct {
	MessageID     string // ours
	HistoryID     uint64 // of the entry of the history
	Before, After postroom.Snapshot
}

// MarkDeleted records that a message is no longer at Gmail. It stays in the store, for its actions; a broken one is
// deleted. The id is empty for a message that is not stored, or was marked before.
func (c Copies) MarkDeleted(ctx context.Context, tx queue.Tx, accountID, providerID string) (id string, err error) {
	now := dbtime.Of(queue.Now(tx))
	err = maildb.Get(ctx, tx, &id, "message "+providerID, sqlSetDeleted, now, now, accountID, providerID)
	if err != nil && !errors.Is(err, postroom.ErrNotFound) {
		return "", err
	}
	return id, c.store.forgetBroken(ctx, tx, accountID, providerID)
}

// MarkDeletedByID is markDeleted for a message that is named by its UUID, and so is not broken. It returns Gmail's id.
func (c Copies) MarkDeletedByID(ctx context.Context, tx queue.Tx, accountID,
	messageID string) (providerID string, err error) {
	now := dbtime.Of(queue.Now(tx))
	err = maildb.Get(ctx, tx, &providerID, "message "+messageID, sqlSetDeletedByID, now, now, accountID, messageID)
	if errors.Is(err, postroom.ErrNotFound) {
		err = nil
	}
	return providerID, err
}
