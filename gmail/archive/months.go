package archive

import (
	"cmp"
	"context"
	"fmt"

	"github.com/postroom-go/postroom/internal/dbquery"
)

// A Month is the archived messages that Gmail has received in a month.
type Month struct {
	// Month is such as 2026-11, in UTC. Empty: the messages without a time.
	Month    string `db:"month"    json:"month"`
	Messages int    `db:"messages" json:"messages"`
	Bytes    int64  `db:"bytes"    json:"bytes"`  // of their raw mail, before compression
	Gone     int    `db:"gone"     json:"gone"`   // of Messages, that Gmail no longer has
	Faults   int    `db:"faults"   json:"faults"` // of Messages, whose objects are not right
	// Removed counts messages, not among Messages, whose copies were removed on purpose.
	Removed int `db:"removed" json:"removed,omitempty"`
}

// Name returns the month for people.
func (m Month) Name() string { return cmp.Or(m.Month, "no date") }

// Months returns the months of an archive, the latest first.
func (a *Archive) Months(ctx context.Context, accountID string) ([]Month, error) {
	list := []Month{}
	if err := dbquery.Select(ctx, a.cfg.DB.Reader(), &list, sqlMonths, accountID); err != nil {
		return nil, fmt.Errorf("archive: months of account %s: %w", accountID, err)
	}
	return list, nil
}
