package mailstore

import (
	"context"
	"errors"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/internal/dbtime"
)

const (
	sqlCountReceived = `SELECT COUNT(*) FROM messages
WHERE account_id = $1 AND deleted_at IS NULL
  AND COALESCE(received_at, created_at) >= $2 AND COALESCE(received_at, created_at) < $3`

	sqlNewestReceived = `SELECT COALESCE(received_at, created_at) FROM messages
WHERE account_id = $1 AND deleted_at IS NULL
ORDER BY COALESCE(received_at, created_at) DESC, id DESC
LIMIT 1`
)

// CountReceived counts the stored messages of the account that Gmail received between each two instants, which ascend:
// the first included, the second not. Sent mail is among them, and those that are deleted, or that the host has
// put there, are not.
func (s *Store) CountReceived(ctx context.Context, accountID string, instants []time.Time) ([]int, error) {
	counts := make([]int, max(0, len(instants)-1))
	for i := range counts {
		if err := maildb.Get(ctx, s.db.Reader(), &counts[i], "count messages", sqlCountReceived, accountID,
			dbtime.Of(instants[i]), dbtime.Of(instants[i+1])); err != nil {
			return nil, err
		}
		own, err := s.countInserted(ctx, accountID, instants[i], instants[i+1])
		if err != nil {
			return nil, err
		}
		counts[i] -= own
	}
	return counts, nil
}

// CountOld counts the stored messages that Gmail had received before the account's DecideSince: nothing is done to them
// until rules are applied to them. Sent mail is among them.
func (s *Store) CountOld(ctx context.Context, a Account) (int, error) {
	if a.DecideSince.IsZero() {
		return 0, nil
	}
	first := time.Unix(maildb.FirstInstant+1, 0) // the first that is not NULL
	counts, err := s.CountReceived(ctx, a.ID, []time.Time{first, a.DecideSince})
	if err != nil {
		return 0, err
	}
	return counts[0], nil
}

// NewestReceived returns when Gmail received the newest stored message of the account; zero if there is none.
func (s *Store) NewestReceived(ctx context.Context, accountID string) (time.Time, error) {
	var at dbtime.Time
	err := maildb.Get(ctx, s.db.Reader(), &at, "the newest message", sqlNewestReceived, accountID)
	if errors.Is(err, postroom.ErrNotFound) {
		return time.Time{}, nil
	}
	return at.Time, err
}
