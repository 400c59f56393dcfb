package mailstore

import (
	"context"
	"fmt"
	"time"

	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/internal/mailname"
)

// notReceived are labels of what the account has sent, and of what nobody reads.
const notReceived = `
    AND CAST(labels_json AS TEXT) NOT LIKE '%"SENT"%' AND CAST(labels_json AS TEXT) NOT LIKE '%"DRAFT"%'
    AND CAST(labels_json AS TEXT) NOT LIKE '%"SPAM"%' AND CAST(labels_json AS TEXT) NOT LIKE '%"TRASH"%'`

// The newest messages are taken by messages_received before they are counted, so that a large mailbox costs no more.
const sqlUnreadSenders = `
SELECT sender, COUNT(*) AS messages, SUM(unread) AS unread, MAX(at) AS last_at,
  MAX(CASE WHEN unread = 0 THEN at END) AS last_read_at
FROM (
  SELECT COALESCE(from_key, LOWER(from_email)) AS sender, COALESCE(received_at, created_at) AS at,
    CASE WHEN CAST(labels_json AS TEXT) LIKE '%"UNREAD"%' THEN 1 ELSE 0 END AS unread
  FROM messages
  WHERE account_id = $1 AND deleted_at IS NULL AND COALESCE(received_at, created_at) >= $2 AND from_email <> ''` +
	notReceived + `
  ORDER BY COALESCE(received_at, created_at) DESC, id DESC
  LIMIT $3
) AS newest
GROUP BY sender
HAVING COUNT(*) >= $4 AND COUNT(*) - SUM(unread) < COUNT(*) * CAST($5 AS DOUBLE PRECISION)
ORDER BY COUNT(*) DESC, sender
LIMIT $6`

const sqlNewestFrom = `
SELECT id
FROM messages` + newestFrom

// SQLite by itself takes the index of times.
const sqlNewestFromSQLite = `
SELECT id
FROM messages INDEXED BY messages_sender` + newestFrom

const newestFrom = `
WHERE account_id = $1 AND SUBSTR(COALESCE(from_key, LOWER(from_email)), 1, 320) = SUBSTR(CAST($2 AS TEXT), 1, 320)
  AND COALESCE(from_key, LOWER(from_email)) = $2
  AND COALESCE(received_at, created_at) >= $3 AND deleted_at IS NULL` + notReceived + `
ORDER BY COALESCE(received_at, created_at) DESC, id DESC
LIMIT $4`

// maxCounted bounds the messages that UnreadSenders counts, for a page that shows them: seven weeks of a mailbox that
// gets a million in ten years.
const maxCounted = 15_000

// An UnreadFilter selects senders whose mail is hardly read.
type UnreadFilter struct {
	Since     time.Time // older messages do not count
	AtLeast   int       // the least number of messages
	ReadBelow float64   // the share of read messages that a sender stays below, from 0 to 1
	Limit     int
}

// UnreadSenders returns the addresses whose messages the account hardly reads, those with the most messages first. It
// counts as [Store.TopSenders] does, but neither spam nor what is in the trash, and the newest 15,000 messages at
// most.
func (s *Store) UnreadSenders(ctx context.Context, accountID string, f UnreadFilter) ([]SenderVolume, error) {
	if f.Limit < 1 {
		return nil, fmt.Errorf("gmail: UnreadSenders: the limit is %d; it must be positive", f.Limit)
	}
	var rows []senderVolumeRow
	err := dbquery.Select(ctx, s.db.Reader(), &rows, sqlUnreadSenders, accountID, dbtime.Of(f.Since), maxCounted,
		f.AtLeast, f.ReadBelow, f.Limit)
	return volumesOf(rows), err
}

// NewestFrom returns the ids of the newest messages of an address since the instant, the newest first, at most limit;
// a zero instant is long ago. What is deleted, in the trash or spam does not count.
func (s *Store) NewestFrom(ctx context.Context, accountID, sender string, since time.Time, limit int) (ids []string,
	err error) {
	key := mailname.Address(dbvalue.Clean(sender))
	if since.IsZero() {
		since = time.Unix(0, 0)
	}
	query := sqlNewestFrom
	if string(s.db.Dialect()) == "sqlite" {
		query = sqlNewestFromSQLite
	}
	err = dbquery.Select(ctx, s.db.Reader(), &ids, query, accountID, key, dbtime.Of(since), limit)
	return ids, err
}
