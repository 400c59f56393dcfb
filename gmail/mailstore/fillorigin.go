package mailstore

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/queue"
)

// fillOriginals records the original of messages that a daemon from before migration 0018 has composed, which does not record it,
// also when it runs beside this one.
func fillOriginals(ctx context.Context, db queue.DB) error {
	for last, filled := "", keyBatch; filled == keyBatch; {
		var rows []struct {
			ActionID string `db:"action_id"`
			Payload  string `db:"payload_json"`
		}
		if err := dbquery.Select(ctx, db.Reader(), &rows, sqlUnnamedOutbound, last, keyBatch); err != nil {
			return fmt.Errorf("gmail: what outgoing messages are about: %w", err)
		}
		if filled = len(rows); filled == 0 {
			return nil
		}
		last = rows[filled-1].ActionID
		err := db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
			for _, r := range rows {
				var p struct {
					OriginalMessageID string `json:"original_message_id"`
				}
				if json.Unmarshal([]byte(r.Payload), &p) != nil {
					continue // it is never sent either
				}
				if _, err := maildb.Exec(ctx, tx, "message of action "+r.ActionID, sqlNameOutbound, p.OriginalMessageID, r.ActionID); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

const (
	sqlUnnamedOutbound = `
SELECT action_id, payload_json
FROM outbound_messages
WHERE original_message_id = '' AND action_id > $1
ORDER BY action_id
LIMIT $2`

	sqlNameOutbound = `UPDATE outbound_messages SET original_message_id = $1 WHERE action_id = $2`
)
