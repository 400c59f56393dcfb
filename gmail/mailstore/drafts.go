package mailstore

import (
	"context"
	"fmt"

	"github.com/postroom-go/postroom/internal/dbquery"
)

const sqlDraftIDs = `
SELECT rfc_message_id FROM drafts WHERE account_id = $1
UNION
SELECT sent_message_id FROM drafts WHERE account_id = $1 AND sent_message_id <> ''`

// DraftIDs returns the ids of all messages of an account that this program has made as drafts: their Message-IDs
// without angle brackets, and Gmail's ids of those that were sent, which may have another Message-ID.
func (s *Store) DraftIDs(ctx context.Context, accountID string) (map[string]bool, error) {
	var list []string
	if err := dbquery.Select(ctx, s.db.Reader(), &list, sqlDraftIDs, accountID); err != nil {
		return nil, fmt.Errorf("gmail: drafts of account %s: %w", accountID, err)
	}
	ids := make(map[string]bool, len(list))
	for _, id := range list {
		ids[id] = true
	}
	return ids, nil
}
