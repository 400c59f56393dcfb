package mailstore

import (
	"context"
	"fmt"

	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/internal/dbquery"
)

// A Headline names a message in a list.
type Headline struct {
	ID         string `db:"id"`
	ProviderID string `db:"provider_message_id"`
	Subject    string `db:"subject"`
	Sender     string `db:"from_email"`
}

const sqlHeadlines = `SELECT id, provider_message_id, subject, from_email FROM messages
WHERE account_id = $1 AND id IN `

// Headlines returns the messages of the account that are stored, of at most 100 ids, by id. Those that were deleted at
// Gmail are among them.
func (s *Store) Headlines(ctx context.Context, accountID string, ids []string) (map[string]Headline, error) {
	ids = maildb.Unique(ids)
	if len(ids) > 100 {
		return nil, fmt.Errorf("gmail: Headlines: %d ids; at most 100 may be asked for", len(ids))
	}
	found := make(map[string]Headline, len(ids))
	if len(ids) == 0 {
		return found, nil
	}
	var rows []Headline
	if err := dbquery.Select(ctx, s.db.Reader(), &rows, sqlHeadlines+maildb.Places(2, len(ids)),
		maildb.Args(accountID, ids)...); err != nil {
		return nil, fmt.Errorf("gmail: read the subjects of messages: %w", err)
	}
	for _, row := range rows {
		found[row.ID] = row
	}
	return found, nil
}
