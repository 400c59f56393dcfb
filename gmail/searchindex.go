package gmail

import (
	"context"
	"fmt"
	"slices"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/queue"
)

// indexBatch is the number of messages that are indexed in one transaction, and that wait for it: a row of the index is written
// for many messages at once. A search reads the waiting ones.
const indexBatch = 512

// IndexMessages adds the stored messages of an account that are not in the search index to it, in many small transactions, and
// returns their number. Finished transactions stay when it is interrupted. Searches find all messages before as well, only slower
// if many are missing. The handlers of [Register] enqueue jobs for it ([JobIndex]). A program that stores messages without them
// must call it now and then, and once after an upgrade from a version without an index.
func (s *Store) IndexMessages(ctx context.Context, accountID string) (indexed int, err error) {
	for {
		var n int
		err := s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
			n, err = s.indexSome(ctx, tx, accountID)
			return err
		})
		if indexed += n; err != nil || n < indexBatch {
			return indexed, err
		}
	}
}

// waitsForIndex reports whether enough messages wait for the index to enqueue a job.
func (s *Store) waitsForIndex(ctx context.Context, tx queue.Tx, accountID string) (bool, error) {
	var n int
	err := get(ctx, tx, &n, "count messages without index", sqlCountUnindexed, accountID, indexBatch)
	return n >= indexBatch, err
}

// An unindexedRow is a message whose terms are not in the index.
type unindexedRow struct {
	MessageID string `db:"message_id"`
	Received  int64  `db:"received"`
	Terms     []byte `db:"terms"`
}

// saveTerms notes the terms of a message that was stored, for the index.
func (s *Store) saveTerms(ctx context.Context, tx queue.Tx, m *postroom.Message, received int64, terms []byte) error {
	_, err := exec(ctx, tx, "index message "+m.ProviderID, sqlSaveTerms, m.AccountID, m.ID, received, terms)
	return err
}

// indexSome moves the terms of some messages into the index.
func (s *Store) indexSome(ctx context.Context, tx queue.Tx, accountID string) (int, error) {
	// On PostgreSQL the account stays locked, so that no other transaction changes the rows of the index meanwhile.
	if _, err := s.lockCursor(ctx, tx, accountID); err != nil {
		return 0, err
	}
	var rows []unindexedRow
	if err := dbquery.Select(ctx, tx, &rows, sqlTakeUnindexed, accountID, indexBatch); err != nil {
		return 0, fmt.Errorf("gmail: messages without index: %w", err)
	}
	if err := s.readTerms(ctx, tx, accountID, rows); err != nil {
		return 0, err
	}
	return len(rows), s.indexRows(ctx, tx, accountID, rows)
}

// indexRows adds the terms of messages to the index.
func (s *Store) indexRows(ctx context.Context, tx queue.Tx, accountID string, rows []unindexedRow) error {
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
		if err := s.addPostings(ctx, tx, accountID, bucket, slots); err != nil {
			return err
		}
	}
	return nil
}

// readTerms reads the terms of messages that were stored before there was an index.
func (s *Store) readTerms(ctx context.Context, tx queue.Tx, accountID string, rows []unindexedRow) error {
	missing := make(map[string]*unindexedRow)
	var ids []any
	for i := range rows {
		if rows[i].Terms == nil {
			missing[rows[i].MessageID] = &rows[i]
			ids = append(ids, rows[i].MessageID)
		}
	}
	for chunk := range slices.Chunk(ids, searchBatch) {
		filter := searchFilter{args: []any{accountID}}
		filter.args = append(filter.args, chunk...)
		messages, err := readMessages(ctx, tx, sqlSearch+"\nWHERE m.account_id = $1 AND m.id IN "+places(2, len(chunk)), filter.args)
		if err != nil {
			return err
		}
		for _, m := range messages {
			missing[m.ID].Terms = encodeTerms(messageTerms(m.Message))
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
func (s *Store) addPostings(ctx context.Context, tx queue.Tx, accountID string, bucket int64, slots map[int][]posting) error {
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
		if err := dbquery.Select(ctx, tx, &rows, sqlOpenPostings+places(3, len(chunk)), args...); err != nil {
			return fmt.Errorf("gmail: index of searches: %w", err)
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
				if _, err := exec(ctx, tx, "index of searches", sqlClosePostings, accountID, slot, bucket, merged); err != nil {
					return err
				}
				merged = []byte{}
			}
			args = append(args, accountID, slot, bucket, 0, merged)
		}
		if _, err := exec(ctx, tx, "index of searches", sqlSavePostings+values(len(chunk), 5)+sqlSavePostingsAgain, args...); err != nil {
			return err
		}
	}
	return nil
}
