package mailstore

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/google/uuid"

	"github.com/postroom-go/postroom/gmail/internal/maildb"
)

// Ids of messages are UUIDv7, which begin with the time: those from an instant on are read from the primary key, however many there are
// before.
const sqlCountStoredSince = `SELECT COUNT(*) FROM messages WHERE id >= $1 AND account_id = $2`

// CountStoredSince counts the messages and broken messages of the account that were stored for the first time at the instant or
// later, by the clocks of those who stored them, to the millisecond. What was deleted since is among them, while its account is there.
func (s *Store) CountStoredSince(ctx context.Context, accountID string, since time.Time) (int, error) {
	var n int
	if err := maildb.Get(ctx, s.db.Reader(), &n, "count messages", sqlCountStoredSince, firstIDAt(since), accountID); err != nil {
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

// firstIDAt is the lowest UUIDv7 that is made at the instant.
func firstIDAt(at time.Time) string {
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:], uint64(max(0, at.UnixMilli()))<<16)
	id[6], id[8] = 7<<4, 2<<6 // version and variant
	return id.String()
}
