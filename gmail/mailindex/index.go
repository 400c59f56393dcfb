package mailindex

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/queue"
)

// A Source is the stored mail that an [Index] is of.
type Source interface {
	// Address returns the address of an account, or an error that matches [postroom.ErrNotFound].
	Address(ctx context.Context, accountID string) (string, error)
	// Labels lists the labels of an account.
	Labels(ctx context.Context, accountID string) ([]postroom.Label, error)
	// Messages reads messages from the table messages, called m. The clauses are what follows FROM: WHERE, ORDER BY and
	// LIMIT.
	Messages(ctx context.Context, q Querier, clauses string, args ...any) ([]Message, error)
	// Lock keeps other transactions from indexing messages of the account until this one ends. A missing account is an
	// error that matches [postroom.ErrNotFound].
	Lock(ctx context.Context, tx queue.Tx, accountID string) error
}

// A Querier is a database or a transaction to read from.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// A Message is a stored message and its place in the order of a search: when it was received, or else stored.
type Message struct {
	*postroom.Message
	At time.Time
}

// An Index finds messages, and keeps what it finds them by. [New] makes one; the zero Index is unusable. It is
// safe for concurrent use.
type Index struct {
	db      queue.DB
	mail    Source
	windows windows
}

// New makes the index of the mail in the database.
func New(db queue.DB, mail Source) *Index { return &Index{db: db, mail: mail, windows: usualWindows} }

// indexBatch is the number of messages that are indexed in one transaction, and that wait for it: a row of the index
// is written for many messages at once. A search reads the waiting ones.
const indexBatch = 512

// Build adds the messages of an account that wait for the index to it, in many small transactions, and returns their
// number. Finished transactions stay when it is interrupted. Searches find all messages before as well, only slower
// if many wait.
func (x *Index) Build(ctx context.Context, accountID string) (indexed int, err error) {
	for {
		var n int
		err := x.db.Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
			n, err = x.indexSome(ctx, tx, accountID)
			return err
		})
		if indexed += n; err != nil || n < indexBatch {
			return indexed, err
		}
	}
}

// Waits reports whether enough messages wait for the index to enqueue a job that builds it.
func (x *Index) Waits(ctx context.Context, tx queue.Tx, accountID string) (bool, error) {
	var n int
	err := maildb.Get(ctx, tx, &n, "count messages without index", sqlCountUnindexed, accountID, indexBatch)
	return n >= indexBatch, err
}

// An unindexedRow is a message whose terms are not in the index.
type unindexedRow struct {
	MessageID string `db:"message_id"`
	Received  int64  `db:"received"`
	Terms     []byte `db:"terms"`
}

// Add lets a message that was stored, and received in the second, wait for the index with its terms; see [Terms].
func (x *Index) Add(ctx context.Context, tx queue.Tx, m *postroom.Message, received int64, terms []byte) error {
	_, err := maildb.Exec(ctx, tx, "index message "+m.ProviderID, sqlSaveTerms, m.AccountID, m.ID, received, terms)
	return err
}

// indexSome moves the terms of some messages into the index.
func (x *Index) indexSome(ctx context.Context, tx queue.Tx, accountID string) (int, error) {
	// On PostgreSQL the account stays locked, so that no other transaction changes the rows of the index meanwhile.
	if err := x.mail.Lock(ctx, tx, accountID); err != nil {
		return 0, err
	}
	var rows []unindexedRow
	if err := dbquery.Select(ctx, tx, &rows, sqlTakeUnindexed, accountID, indexBatch); err != nil {
		return 0, fmt.Errorf("mailindex: messages without index: %w", err)
	}
	if err := x.readTerms(ctx, tx, accountID, rows); err != nil {
		return 0, err
	}
	return len(rows), x.indexRows(ctx, tx, accountID, rows)
}

// indexRows adds the terms of messages to the index.
func (x *Index) indexRows(ctx context.Context, tx queue.Tx, accountID string, rows []unindexedRow) error {
	buckets := make(map[int64]map[int][]posting)
	for _, row := range rows {
		bucket, at := bucketOf(row.Received), offsetIn(row.Received)
		if buckets[bucket] == nil {
			buckets[bucket] = make(map[int][]posting)
		}
		for _, t := range decodeTerms(row.Terms) {
			buckets[bucket][t.slot()] = append(buckets[bucket][t.slot()], posting{t.key(), at})
		}
	}
	for bucket, slots := range buckets {
		if err := x.addPostings(ctx, tx, accountID, bucket, slots); err != nil {
			return err
		}
	}
	return nil
}

// readTerms reads the terms of messages that have none, as when the index was deleted to make it again.
func (x *Index) readTerms(ctx context.Context, tx queue.Tx, accountID string, rows []unindexedRow) error {
	missing := make(map[string]*unindexedRow)
	var ids []any
	for i := range rows {
		if rows[i].Terms == nil {
			missing[rows[i].MessageID] = &rows[i]
			ids = append(ids, rows[i].MessageID)
		}
	}
	for chunk := range slices.Chunk(ids, searchBatch) {
		args := append([]any{accountID}, chunk...)
		messages, err := x.mail.Messages(ctx, tx, "\nWHERE m.account_id = $1 AND m.id IN "+maildb.Places(2, len(chunk)),
			args...)
		if err != nil {
			return err
		}
		for _, m := range messages {
			missing[m.ID].Terms = encodeTerms(messageTerms(m.Message, nil))
		}
	}
	return nil
}

// A postingsRow is a row of the index.
type postingsRow struct {
	Slot     int    `db:"slot"`
	Bucket   int64  `db:"bucket"`
	Postings []byte `db:"postings"`
}

// slotBatch is the number of rows of the index that one statement reads or writes.
const slotBatch = 128

// addPostings adds postings to the rows of a bucket.
func (x *Index) addPostings(ctx context.Context, tx queue.Tx, accountID string, bucket int64,
	slots map[int][]posting) error {
	numbers := make([]int, 0, len(slots))
	for slot := range slots {
		numbers = append(numbers, slot)
	}
	slices.Sort(numbers)
	var m merger
	for chunk := range slices.Chunk(numbers, slotBatch) {
		args := []any{accountID, bucket}
		for _, slot := range chunk {
			args = append(args, slot)
		}
		var rows []postingsRow
		if err := dbquery.Select(ctx, tx, &rows, sqlOpenPostings+maildb.Places(3, len(chunk)), args...); err != nil {
			return fmt.Errorf("mailindex: index of searches: %w", err)
		}
		had := make(map[int][]byte, len(rows))
		for _, row := range rows {
			had[row.Slot] = row.Postings
		}
		args = args[:0]
		for _, slot := range chunk {
			more := slots[slot]
			slices.SortFunc(more, comparePostings)
			merged, err := m.merge(had[slot], slices.Compact(more))
			if err != nil {
				return err
			}
			if len(merged) > maxPostings {
				if _, err := maildb.Exec(ctx, tx, "index of searches", sqlClosePostings, accountID, slot, bucket,
					merged); err != nil {
					return err
				}
				merged = []byte{}
			}
			args = append(args, accountID, slot, bucket, 0, merged)
		}
		if _, err := maildb.Exec(ctx, tx, "index of searches", sqlSavePostings+maildb.Values(len(chunk), 5)+
			sqlSavePostingsAgain, args...); err != nil {
			return err
		}
	}
	return nil
}

// DeleteSome deletes up to limit rows of the index of an account that is removed, and returns how many it has
// deleted: 0 when there are none left.
func (x *Index) DeleteSome(ctx context.Context, tx queue.Tx, accountID string, limit int) (deleted int64, err error) {
	for _, statement := range []string{sqlDeletePostings, sqlDeleteUnindexed} {
		if deleted, err = maildb.Exec(ctx, tx, "remove account "+accountID, statement, accountID, limit); err != nil ||
			deleted > 0 {
			return deleted, err
		}
	}
	return 0, nil
}
