package mailstore

import (
	"context"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

const (
	sqlNoteByHand = `
INSERT INTO label_changes_by_hand (message_id, label_id, added, changed_at)
VALUES ($1, $2, $3, $4)
ON CONFLICT (message_id, label_id) DO UPDATE SET added = excluded.added, changed_at = excluded.changed_at`

	sqlForgetByHand = `DELETE FROM label_changes_by_hand WHERE message_id = $1 AND label_id = $2`

	sqlForgetOwn = `DELETE FROM label_changes_by_hand WHERE message_id = $1 AND label_id = $2 AND added = $3`

	sqlByHand = `SELECT label_id, added FROM label_changes_by_hand WHERE message_id = $1 ORDER BY label_id`
)

// NoteByHand stores which labels of a message a person, or another program, has changed. That a message was read is
// not stored: it says nothing about where the message belongs.
func (c Copies) NoteByHand(ctx context.Context, tx queue.Tx, messageID string, change postroom.LabelChange) error {
	now := dbtime.Of(queue.Now(tx))
	note := func(labels []string, added int) error {
		for _, label := range labels {
			statement, args := sqlNoteByHand, []any{messageID, label, added, now}
			if label == postroom.LabelUnread && added == 0 {
				statement, args = sqlForgetByHand, []any{messageID, label}
			}
			if _, err := maildb.Exec(ctx, tx, "message "+messageID, statement, args...); err != nil {
				return err
			}
		}
		return nil
	}
	if err := note(change.Add, 1); err != nil {
		return err
	}
	return note(change.Remove, 0)
}

// forgetOwn removes what a sync has taken for a change by hand, since it saw an own change before that was stored.
func forgetOwn(ctx context.Context, tx queue.Tx, messageID string, change postroom.LabelChange) error {
	for added, labels := range [][]string{change.Remove, change.Add} {
		for _, label := range labels {
			if _, err := maildb.Exec(ctx, tx, "message "+messageID, sqlForgetOwn, messageID, label, added); err != nil {
				return err
			}
		}
	}
	return nil
}

// ByHand returns what a person, or another program, has changed last of the labels of a message since it was stored,
// as far as Gmail has reported it. An action may have changed a label since.
func (s *Store) ByHand(ctx context.Context, messageID string) (change postroom.LabelChange, err error) {
	var rows []struct {
		LabelID string `db:"label_id"`
		Added   int    `db:"added"`
	}
	if err := dbquery.Select(ctx, s.db.Reader(), &rows, sqlByHand, messageID); err != nil {
		return change, fmt.Errorf("gmail: changes of message %s by hand: %w", messageID, err)
	}
	for _, r := range rows {
		if r.Added == 1 {
			change.Add = append(change.Add, r.LabelID)
		} else {
			change.Remove = append(change.Remove, r.LabelID)
		}
	}
	return change, nil
}
