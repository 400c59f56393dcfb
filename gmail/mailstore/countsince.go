package mailstore

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/google/uuid"

	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/internal/dbtime"
)

// Ids of messages are UUIDv7, which begin with the time: those from an instant on are read from the primary key,
// however many there are before.
const sqlCountStoredSince = `SELECT COUNT(*) FROM messages WHERE id >= $1 AND account_id = $2`

// CountStoredSince counts the messages and broken messages of the account that were stored for the first time at the
// instant or later, by the clocks of those who stored them, to the millisecond. What was deleted since is among them,
// while its account is there.
func (s *Store) CountStoredSince(ctx context.Context, accountID string, since time.Time) (int, error) {
	var n int
	if err := maildb.Get(ctx, s.db.Reader(), &n, "count messages", sqlCountStoredSince, firstIDAt(since),
		accountID); err != nil {
		return 0, err
	}
	broken, err := s.Broken(ctx, accountID)
	for i := range broken {
		if !broken[i].CreatedAt.Before(since) {
			n++
		}
	}
	return n, err
}

const sqlCountOldStoredSince = sqlCountStoredSince + ` AND received_at < $3`

// CountOldStoredSince counts those messages of [Store.CountStoredSince] that Gmail had received before the account's
// DecideSince, so that nobody has decided about them. Broken messages are not among them.
func (s *Store) CountOldStoredSince(ctx context.Context, a Account, since time.Time) (n int, err error) {
	if a.DecideSince.IsZero() {
		return 0, nil
	}
	err = maildb.Get(ctx, s.db.Reader(), &n, "count old messages", sqlCountOldStoredSince, firstIDAt(since), a.ID,
		dbtime.Of(a.DecideSince))
	return n, err
}

// Arrived selects messages by when they were stored for the first time, by the clocks of those who stored them, to the
// millisecond. So none is missed that Gmail had received while nobody was there to take it in.
type Arrived struct {
	// From is the first instant, and Until the first that does not count any more.
	From, Until time.Time
	// Received excludes what Gmail had received before it, such as the old mail that a backfill stores. Zero: nothing.
	Received time.Time
}

func (a Arrived) args() []any {
	received := a.Received
	if received.IsZero() {
		received = firstInstant()
	}
	return []any{firstIDAt(a.From), firstIDAt(a.Until), dbtime.Of(received)}
}

const sqlCountArrived = `SELECT COUNT(*) FROM messages
WHERE account_id = $1 AND id >= $2 AND id < $3 AND deleted_at IS NULL AND COALESCE(received_at, created_at) >= $4`

// CountArrived counts the messages of the account that arrived. Sent mail is among them, and those that are deleted,
// or that the host has put there, are not.
func (s *Store) CountArrived(ctx context.Context, accountID string, in Arrived) (n int, err error) {
	args := append([]any{accountID}, in.args()...)
	if err := maildb.Get(ctx, s.db.Reader(), &n, "count messages", sqlCountArrived, args...); err != nil {
		return 0, err
	}
	own, err := s.countInsertedArrived(ctx, accountID, in)
	return n - own, err
}

// firstIDAt is the lowest UUIDv7 that is made at the instant.
func firstIDAt(at time.Time) string {
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:], uint64(max(0, at.UnixMilli()))<<16)
	id[6], id[8] = 7<<4, 2<<6 // version and variant
	return id.String()
}
