package mailstore

import (
	"context"
	"fmt"
	"time"

	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
)

const sqlTopSenders = `
SELECT COALESCE(from_key, LOWER(from_email)) AS sender, COUNT(*) AS messages,
  SUM(CASE WHEN CAST(labels_json AS TEXT) LIKE '%"UNREAD"%' THEN 1 ELSE 0 END) AS unread,
  MAX(COALESCE(received_at, created_at)) AS last_at,
  MAX(CASE WHEN CAST(labels_json AS TEXT) NOT LIKE '%"UNREAD"%' THEN COALESCE(received_at, created_at) END) AS last_read_at
FROM messages
WHERE account_id = $1 AND deleted_at IS NULL AND COALESCE(received_at, created_at) >= $2 AND from_email <> ''
  AND CAST(labels_json AS TEXT) NOT LIKE '%"SENT"%' AND CAST(labels_json AS TEXT) NOT LIKE '%"DRAFT"%'
GROUP BY COALESCE(from_key, LOWER(from_email))
ORDER BY COUNT(*) DESC, COALESCE(from_key, LOWER(from_email))
LIMIT $3`

// A SenderVolume is how much an address has sent to an account, and how much of it was read.
type SenderVolume struct {
	Sender   string // the address as it is compared
	Messages int
	Unread   int       // of Messages, those that have the label UNREAD now
	LastAt   time.Time // when Gmail received the newest of Messages
	// LastReadAt is when Gmail received the newest of those that are read; zero if none is.
	LastReadAt time.Time
}

// ReadShare is the share of the messages that are read, from 0 to 1.
func (v SenderVolume) ReadShare() float64 {
	if v.Messages == 0 {
		return 0
	}
	return float64(v.Messages-v.Unread) / float64(v.Messages)
}

// TopSenders returns the addresses that have sent the most messages of the account since the instant, most first, at
// most limit. What was sent or drafted by the account, and what is deleted, does not count; spam does. It reads each
// message since then, and no older one. Anyone can write any address into a message.
func (s *Store) TopSenders(ctx context.Context, accountID string, since time.Time, limit int) ([]SenderVolume, error) {
	if limit < 1 {
		return nil, fmt.Errorf("gmail: TopSenders: the limit is %d; it must be positive", limit)
	}
	var rows []senderVolumeRow
	err := dbquery.Select(ctx, s.db.Reader(), &rows, sqlTopSenders, accountID, dbtime.Of(since), limit)
	return volumesOf(rows), err
}

type senderVolumeRow struct {
	Sender     string
	Messages   int
	Unread     int
	LastAt     dbtime.Time `db:"last_at"`
	LastReadAt dbtime.Time `db:"last_read_at"`
}

func volumesOf(rows []senderVolumeRow) []SenderVolume {
	volumes := make([]SenderVolume, len(rows))
	for i, r := range rows {
		volumes[i] = SenderVolume{Sender: r.Sender, Messages: r.Messages, Unread: r.Unread, LastAt: r.LastAt.Time,
			LastReadAt: r.LastReadAt.Time}
	}
	return volumes
}
