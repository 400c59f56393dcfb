package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/joblimit"
	"github.com/postroom-go/postroom/internal/jobrow"
	"github.com/postroom-go/postroom/queue"
)

// Jobs with a limit key wait apart (hold 2) until their key has room, so that what cannot run is never in the way of what
// can. Whatever changes a key's room or its waiting jobs marks the key in the same transaction; the next claim looks at
// the marked keys and admits what has room. How many a key has admitted is counted, never kept.

// marks are keys to look at.
type marks map[string]struct{}

func newMarks() marks { return make(marks) }

// add takes the empty key for none.
func (m marks) add(key string) {
	if key != "" {
		m[key] = struct{}{}
	}
}

func (m marks) write(ctx context.Context, tx *queue.Tx, due time.Time) error {
	for key := range m {
		if _, err := tx.ExecContext(ctx, markKey, dbtime.Of(due), key); err != nil {
			return err
		}
	}
	return nil
}

// portionOfMarks bounds how long one claim admits.
const portionOfMarks = 100

func (c *chores) admit(ctx context.Context, tx *queue.Tx, now time.Time) error {
	rows, err := tx.QueryxContext(ctx, takeMarks, dbtime.Of(now))
	keys, err := jobrow.Collect(rows, err, limitKey)
	if err != nil {
		return err
	}
	c.more = c.more || len(keys) == portionOfMarks
	seen := newMarks()
	for _, key := range keys {
		if _, ok := seen[key]; ok {
			continue
		}
		seen.add(key)
		again, err := admitKey(ctx, tx, key, now)
		if err != nil {
			return err
		}
		if again.IsZero() {
			continue
		}
		c.more = c.more || !again.After(now)
		if _, err := tx.ExecContext(ctx, markKey, dbtime.Of(again), key); err != nil {
			return err
		}
	}
	return nil
}

// maxAdmitted bounds how many jobs of a key are admitted at once.
const maxAdmitted = 1000

// admitKey admits what the key has room for and tells when it must be looked at again, if nobody marks it before.
func admitKey(ctx context.Context, tx *queue.Tx, key string, now time.Time) (again time.Time, err error) {
	limit, err := keyLimit(ctx, tx, key)
	if err != nil {
		return again, err
	}
	var admitted, ready int
	if err := tx.QueryRowxContext(ctx, countAdmitted, key).Scan(&admitted, &ready); err != nil {
		return again, err
	}
	arrival, err := arrivalOf(ctx, tx, limit, "key", key)
	if err != nil {
		return again, err
	}
	// What is admitted and has not begun will spend from the rate, too.
	if limit.Rate > 0 {
		arrival = limit.Arrive(arrival, now, ready)
	}
	room, again := limit.Room(admitted, arrival, now)
	n := min(room, maxAdmitted)
	if n == 0 {
		return again, nil
	}
	res, err := tx.ExecContext(ctx, admitJobs, key, n)
	if err != nil {
		return again, err
	}
	done, err := res.RowsAffected()
	switch {
	case err != nil:
		return again, err
	case int(done) < n:
		return time.Time{}, nil // nothing waits any more
	case n < room:
		return now, nil
	}
	return again, nil
}

func keyLimit(ctx context.Context, tx *queue.Tx, key string) (joblimit.Limit, error) {
	limit, err := scanLimit(tx.QueryRowxContext(ctx, selectKeyLimit, key))
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return limit.For(key), err
}

func scanLimit(row jobrow.Scanner, before ...any) (l joblimit.Limit, err error) {
	var maxRunning, rate, period, burst sql.NullInt64
	err = row.Scan(append(before, &l.Paused, &maxRunning, &rate, &period, &burst)...)
	l.MaxRunning, l.Rate, l.Burst = int(maxRunning.Int64), int(rate.Int64), int(burst.Int64)
	l.Period = time.Duration(period.Int64) * time.Microsecond
	return l, err
}

// arrivalOf is where the rate stands; nothing is read when there is none.
func arrivalOf(ctx context.Context, tx *queue.Tx, limit joblimit.Limit, kind, name string) (time.Time, error) {
	if limit.Rate == 0 {
		return time.Time{}, nil
	}
	var at dbtime.Time
	err := tx.QueryRowxContext(ctx, selectArrival, kind, name).Scan(&at)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return at.Time, err
}

// spendKeys takes what has been claimed off the rates of its keys.
func spendKeys(ctx context.Context, tx *queue.Tx, jobs []queue.Job, now time.Time) error {
	started := make(map[string]int)
	for i := range jobs {
		if key := jobs[i].LimitKey; key != "" {
			started[key]++
		}
	}
	for key, n := range started {
		limit, err := keyLimit(ctx, tx, key)
		if err != nil {
			return err
		}
		if err := spend(ctx, tx, limit, "key", key, n, now); err != nil {
			return err
		}
	}
	return nil
}

func spend(ctx context.Context, tx *queue.Tx, limit joblimit.Limit, kind, name string, n int, now time.Time) error {
	if limit.Rate == 0 || n == 0 {
		return nil
	}
	arrival, err := arrivalOf(ctx, tx, limit, kind, name)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, setArrival, kind, name, dbtime.Of(limit.Arrive(arrival, now, n)))
	return err
}
