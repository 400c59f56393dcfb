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

	// However many messages there are, few rows are read.
	sqlCountSomeReceived = `
SELECT COUNT(*)
FROM (
  SELECT 1
  FROM messages
  WHERE account_id = $1 AND deleted_at IS NULL
    AND COALESCE(received_at, created_at) >= $2 AND COALESCE(received_at, created_at) < $3
  ORDER BY COALESCE(received_at, created_at), id
  LIMIT $4
) AS counted`

	sqlNewestReceived = `SELECT COALESCE(received_at, created_at) FROM messages
WHERE account_id = $1 AND deleted_at IS NULL` + notReceived + `
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

// firstInstant is the first time that is not NULL.
func firstInstant() time.Time { return time.Unix(maildb.FirstInstant+1, 0) }

// CountOld counts the stored messages that Gmail had received before the account's DecideSince: nothing is done to them
// until rules are applied to them. Sent mail is among them. It reads all of them; see [Store.CountOldUpTo].
func (s *Store) CountOld(ctx context.Context, a Account) (int, error) {
	if a.DecideSince.IsZero() {
		return 0, nil
	}
	first := firstInstant()
	counts, err := s.CountReceived(ctx, a.ID, []time.Time{first, a.DecideSince})
	if err != nil {
		return 0, err
	}
	return counts[0], nil
}

// CountOldUpTo is [Store.CountOld] that ends at a number: it returns at most so many, and reads no more than it counts.
func (s *Store) CountOldUpTo(ctx context.Context, a Account, most int) (n int, err error) {
	if a.DecideSince.IsZero() {
		return 0, nil
	}
	own, err := s.countInserted(ctx, a.ID, firstInstant(), a.DecideSince)
	if err == nil {
		err = maildb.Get(ctx, s.db.Reader(), &n, "count messages", sqlCountSomeReceived, a.ID, dbtime.Of(firstInstant()),
			dbtime.Of(a.DecideSince), most+own)
	}
	return min(max(0, n-own), most), err
}

// NewestReceived returns when Gmail received the newest stored message of the account that is not a draft, sent, spam,
// or in the trash; zero if there is none. Windows of an old mailbox end there: an answer of today would leave nothing
// else in them.
func (s *Store) NewestReceived(ctx context.Context, accountID string) (time.Time, error) {
	var at dbtime.Time
	err := maildb.Get(ctx, s.db.Reader(), &at, "the newest message", sqlNewestReceived, accountID)
	if errors.Is(err, postroom.ErrNotFound) {
		return time.Time{}, nil
	}
	return at.Time, err
}
