package mailstore

import (
	"context"
	"errors"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

// A Copy is the stored state of a message before this program changes it at Gmail.
type Copy struct {
	ProviderID string // Gmail's id of the message

	row copyRow
}

type copyRow struct {
	ID         string          `db:"id"`
	ProviderID string          `db:"provider_message_id"`
	HistoryID  int64           `db:"history_id"`
	Labels     maildb.JSONText `db:"labels_json"`
}

// Copy returns the copy of a message; [gmailapi.ClassNotFound] if there is none.
func (c Copies) Copy(ctx context.Context, accountID, messageID string) (Copy, error) {
	var row copyRow
	err := maildb.Get(ctx, c.store.db.Reader(), &row, "message "+messageID, sqlMessageCopy, accountID, messageID)
	if errors.Is(err, postroom.ErrNotFound) {
		err = &gmailapi.Error{Op: "find message", Class: gmailapi.ClassNotFound, Err: err}
	}
	return Copy{ProviderID: row.ProviderID, row: row}, err
}

// StoreOwnChange stores a change that was made since the copy was read, and nothing else of the image after it:
// earlier changes by people are yet to be read in the history, and to be reported. A message that a sync has changed
// since stays as the sync has stored it. The history then reports the change as well, after or as part of what the
// sync has read.
func (c Copies) StoreOwnChange(
	ctx context.Context, tx queue.Tx, accountID string, before Copy, change postroom.LabelChange, after postroom.Snapshot,
) error {
	if change.IsZero() {
		return nil
	}
	row := before.row
	was, err := imageOf(row.ID, row.Labels)
	if err != nil {
		return err
	}
	change = change.WithLeaving(after)
	if err := forgetOwn(ctx, tx, row.ID, change); err != nil {
		return err
	}
	text, err := maildb.JSON(was.Apply(change).LabelIDs)
	if err != nil {
		return err
	}
	_, err = maildb.Exec(ctx, tx, "message "+row.ID, sqlStoreOwnChange, text, dbtime.Of(queue.Now(tx)), accountID,
		row.ID, row.HistoryID)
	return err
}
