package lessons

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

// A person sorts mail one by one. More corrections than these within a short time were made at once, by another
// program, by a filter, or by a person who did not look at each message.
const (
	bulkActs   = 20
	bulkWithin = 60 * time.Second
)

// The answers to the question whether acts in bulk were a person's.
const (
	notAnswered = iota
	counts
	countsNot
)

// inBulk returns which of the corrections, oldest first, are among more than 20 within 60 seconds.
func inBulk(rows []feedbackRow) []bool {
	bulk := make([]bool, len(rows))
	first := 0
	for last := range rows {
		for rows[last].CreatedAt.Sub(rows[first].CreatedAt.Time) > bulkWithin {
			first++
		}
		if last-first+1 > bulkActs {
			for i := last; i >= first && !bulk[i]; i-- {
				bulk[i] = true
			}
		}
	}
	return bulk
}

// unanswered returns the ids of those of the corrections, oldest first, that were made in bulk and that nobody has
// answered for.
func unanswered(rows []feedbackRow) map[string]bool {
	var open []feedbackRow
	for i := range rows {
		if rows[i].Counted == notAnswered {
			open = append(open, rows[i])
		}
	}
	atOnce := map[string]bool{}
	for i, is := range inBulk(open) {
		if is {
			atOnce[open[i].ID] = true
		}
	}
	return atOnce
}

const feedbackBatch = 500

// feedback reads the corrections of an account since an instant, oldest first.
func (s *Store) feedback(ctx context.Context, accountID string, since time.Time) (list []feedbackRow, err error) {
	after := ""
	for {
		var rows []feedbackRow
		err := dbquery.Select(ctx, s.cfg.DB.Reader(), &rows, sqlFeedbackAfter, accountID, after, dbtime.Of(since),
			feedbackBatch)
		if err != nil {
			return nil, fmt.Errorf("lessons: read the corrections of account %s: %w", accountID, err)
		}
		list = append(list, rows...)
		if len(rows) < feedbackBatch {
			return list, nil
		}
		after = rows[len(rows)-1].ID
	}
}

// Bulk returns how many corrections of an account were made in bulk and do not count until a person has said, by
// [Store.CountBulk], that they are to.
func (s *Store) Bulk(ctx context.Context, accountID string) (n int, err error) {
	ids, err := s.bulk(ctx, accountID)
	return len(ids), err
}

// bulk reads only what nobody has answered for, of the year that is learned from: a page shows how many they are.
func (s *Store) bulk(ctx context.Context, accountID string) (ids []string, err error) {
	var rows []feedbackRow
	err = dbquery.Select(ctx, s.cfg.DB.Reader(), &rows, sqlUnanswered, accountID, dbtime.Of(time.Now().Add(-learnedFrom)))
	if err != nil {
		return nil, fmt.Errorf("lessons: read the corrections in bulk of account %s: %w", accountID, err)
	}
	for i, bulk := range inBulk(rows) {
		if bulk {
			ids = append(ids, rows[i].ID)
		}
	}
	return ids, nil
}

// ErrBulk reports that other corrections in bulk are there than a person was shown.
var ErrBulk = errors.New("the number of corrections in bulk is another by now; look again, and answer anew")

// CountBulk answers for the corrections in bulk that nobody has answered for: they count from now on as those of a
// person, for a drift as well, or never. shown is how many of them the person was shown, by [Store.Bulk]; if there are
// others, nothing is answered, and the error is [ErrBulk]. It returns how many they are.
func (s *Store) CountBulk(ctx context.Context, accountID string, shown int, count bool) (int, error) {
	ids, err := s.bulk(ctx, accountID)
	if err != nil {
		return 0, err
	}
	if len(ids) != shown {
		return 0, fmt.Errorf("lessons: account %s has %d corrections in bulk, and %d were shown: %w", accountID, len(ids),
			shown, ErrBulk)
	}
	answer := countsNot
	if count {
		answer = counts
	}
	err = s.cfg.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		for _, id := range ids {
			if _, err := dbquery.Exec(ctx, tx, sqlCount, answer, accountID, id); err != nil {
				return fmt.Errorf("lessons: answer for corrections in bulk: %w", err)
			}
		}
		if !count {
			return nil
		}
		return s.countAnswered(ctx, tx, accountID)
	})
	return len(ids), err
}
