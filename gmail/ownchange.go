package gmail

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

// A messageCopy is the stored state of a message before this program changes it at Gmail.
type messageCopy struct {
	ID         string          `db:"id"`
	ProviderID string          `db:"provider_message_id"`
	HistoryID  int64           `db:"history_id"`
	Labels     maildb.JSONText `db:"labels_json"`
}

// messageCopy returns the copy of a message; [ClassNotFound] if there is none.
func (s *Store) messageCopy(ctx context.Context, accountID, messageID string) (messageCopy, error) {
	var c messageCopy
	err := maildb.Get(ctx, s.db.Reader(), &c, "message "+messageID, sqlMessageCopy, accountID, messageID)
	if errors.Is(err, postroom.ErrNotFound) {
		err = &gmailapi.Error{Op: "find message", Class: gmailapi.ClassNotFound, Err: err}
	}
	return c, err
}

// storeOwnChange stores a change that was made since the copy was read, and nothing else of the image after it: earlier changes
// by people are yet to be read in the history, and to be reported. A message that a sync has changed since stays as the sync has
// stored it. The history then reports the change as well, after or as part of what the sync has read.
func (s *Store) storeOwnChange(
	ctx context.Context, tx queue.Tx, accountID string, c messageCopy, change postroom.LabelChange, after postroom.Image,
) error {
	if change.IsZero() {
		return nil
	}
	var labels []string
	if err := json.Unmarshal(c.Labels, &labels); err != nil {
		return fmt.Errorf("gmail: labels of message %s: %w", c.ID, err)
	}
	text, err := maildb.JSON(postroom.NewImage(labels).Apply(change.WithLeaving(after)).LabelIDs)
	if err != nil {
		return err
	}
	_, err = maildb.Exec(ctx, tx, "message "+c.ID, sqlStoreOwnChange, text, dbtime.Of(queue.Now(tx)), accountID, c.ID, c.HistoryID)
	return err
}
