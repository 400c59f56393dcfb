package mailstore

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/internal/dbquery"
)

// Labels returns, by UUID, the stored labels of those of the messages that Gmail has, as of the last sync. It makes
// no call to Gmail.
func (c Copies) Labels(ctx context.Context, accountID string, messageIDs []string) (map[string]postroom.Snapshot,
	error) {
	found := make(map[string]postroom.Snapshot)
	for chunk := range slices.Chunk(messageIDs, maildb.Bulk) {
		var rows []struct {
			ID     string          `db:"id"`
			Labels maildb.JSONText `db:"labels_json"`
		}
		if err := dbquery.Select(ctx, c.store.db.Reader(), &rows, sqlCopies+maildb.Places(2, len(chunk)),
			maildb.Args(accountID, chunk)...); err != nil {
			return nil, fmt.Errorf("gmail: labels of messages: %w", err)
		}
		for _, row := range rows {
			var labels []string
			if err := json.Unmarshal(row.Labels, &labels); err != nil {
				return nil, fmt.Errorf("gmail: labels of message %s: %w", row.ID, err)
			}
			found[row.ID] = postroom.NewSnapshot(labels)
		}
	}
	return found, nil
}

// MissingLabels returns those of the labels that the mailbox lacked at the last sync of its labels. Before the first
// sync it returns none.
func (c Copies) MissingLabels(ctx context.Context, accountID string, labelIDs []string) ([]string, error) {
	// Every mailbox has an inbox: without it the labels are not known.
	asked := append([]string{postroom.LabelInbox}, labelIDs...)
	var known []string
	if err := dbquery.Select(ctx, c.store.db.Reader(), &known, sqlKnownLabels+maildb.Places(2, len(asked)),
		maildb.Args(accountID, asked)...); err != nil {
		return nil, fmt.Errorf("gmail: labels: %w", err)
	}
	if !slices.Contains(known, postroom.LabelInbox) {
		return nil, nil
	}
	return slices.DeleteFunc(slices.Clone(labelIDs), func(id string) bool { return slices.Contains(known, id) }), nil
}
