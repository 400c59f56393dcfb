package mailstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

// A MessageState is what a history sync changes of a stored message.
type MessageState struct {
	ID        string // ours
	HistoryID uint64 // of the labels
	Deleted   bool   // Gmail does not have it any more

	row stateRow
}

type stateRow struct {
	ID        string          `db:"id"`
	HistoryID int64           `db:"history_id"`
	Labels    maildb.JSONText `db:"labels_json"`
	DeletedAt dbtime.Time     `db:"deleted_at"`
}

// Same reports whether two states of a message are the same. A nil state is that of a message that is not stored.
func (s *MessageState) Same(other *MessageState) bool {
	if s == nil || other == nil {
		return s == other
	}
	return s.HistoryID == other.HistoryID && s.row.DeletedAt.Equal(other.row.DeletedAt.Time) &&
		string(s.row.Labels) == string(other.row.Labels)
}

// Snapshot returns the stored labels.
func (s *MessageState) Snapshot() (postroom.Snapshot, error) { return imageOf(s.ID, s.row.Labels) }

func imageOf(messageID string, stored []byte) (postroom.Snapshot, error) {
	var labels []string
	if err := json.Unmarshal(stored, &labels); err != nil {
		return postroom.Snapshot{}, fmt.Errorf("gmail: labels of message %s: %w", messageID, err)
	}
	return postroom.NewSnapshot(labels), nil
}

// State returns the state of a message, by Gmail's id; nil for one that is not stored.
func (c Copies) State(ctx context.Context, accountID, providerID string) (*MessageState, error) {
	return stateOf(ctx, c.store.db.Reader(), sqlStoredState, accountID, providerID)
}

// LockState is [Copies.State]; it locks the message until the transaction ends.
func (c Copies) LockState(ctx context.Context, tx queue.Tx, accountID, providerID string) (*MessageState, error) {
	return stateOf(ctx, tx, sqlLockState, accountID, providerID)
}

func stateOf(ctx context.Context, q dbquery.Querier, query, accountID, providerID string) (*MessageState, error) {
	var row stateRow
	err := dbquery.Get(ctx, q, &row, query, accountID, providerID)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil //nolint:nilnil // no state is a state
	case err != nil:
		return nil, fmt.Errorf("gmail: message %s: %w", providerID, err)
	}
	return &MessageState{ID: row.ID, HistoryID: uint64(row.HistoryID), Deleted: !row.DeletedAt.IsZero(), row: row}, nil
}

// ReplaceLabels stores Gmail's labels of a message. One that was marked as deleted is there again.
func (c Copies) ReplaceLabels(ctx context.Context, tx queue.Tx, accountID, messageID string,
	state gmailapi.MessageState) error {
	labels, err := maildb.JSON(state.Snapshot.LabelIDs)
	if err != nil {
		return err
	}
	return maildb.MustExec(ctx, tx, "message "+messageID, sqlReplaceLabels,
		labels, int64(state.HistoryID), dbtime.Of(queue.Now(tx)), accountID, messageID)
}
