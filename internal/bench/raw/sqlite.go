package raw

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/postroom-go/postroom/internal/bench/contender"
	"github.com/postroom-go/postroom/internal/bench/postroom"
	"github.com/postroom-go/postroom/internal/bench/store"
)

func sqliteContenders() []contender.Contender {
	const setting = "one writer with postroom's cache, a checkpoint each 4,000 pages, prepared statements, due and scheduled jobs in partial indexes of their own; " +
		"concurrent enqueues share a commit; each 100 jobs are claimed by one statement and completed by one; " +
		"handlers that write a row share a commit by 100, too"
	return contenders("sqlite", "github.com/mattn/go-sqlite3", setting, func(ours bool, batch int) contender.Contender {
		return contender.Contender{Open: func(ctx context.Context, place store.Place) (contender.Queue, error) {
			return openSQLite(ctx, place, ours, batch)
		}}
	})
}

// sqliteQueue is an upper bound for a queue on this driver and this table: only the statements.
type sqliteQueue struct {
	db    *sql.DB
	shape *shape
	batch int
	ids   atomic.Int64
	wake  chan struct{}
	mu    sync.Mutex // held while the statements run
	// What is enqueued in the next commit; whoever holds turn commits for all.
	turn    chan struct{}
	waiting sync.Mutex
	pending []request

	insertOne, insertRows, claim, complete, begin, commit *sql.Stmt
}

var _ contender.RowQueue = (*sqliteQueue)(nil)

type request struct {
	n    int64
	done chan error
}

func openSQLite(ctx context.Context, place store.Place, ours bool, batch int) (contender.Queue, error) {
	shape := &sqliteShape
	if ours {
		shape = &ourSQLiteShape
		if err := postroom.MakeTables(ctx, "sqlite", place); err != nil {
			return nil, err
		}
	}
	db, err := store.OpenSQLite(place)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, pragmas+shape.Table); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	q := &sqliteQueue{db: db, shape: shape, batch: batch, wake: make(chan struct{}, 1), turn: make(chan struct{}, 1)}
	return q, q.prepare(ctx)
}

func (q *sqliteQueue) prepare(ctx context.Context) (err error) {
	rows := strings.TrimSuffix(strings.Repeat(q.shape.Row+", ", rowsAtOnce), ", ")
	for _, s := range []struct {
		statement **sql.Stmt
		text      string
	}{
		{&q.insertOne, q.shape.Insert + q.shape.Row}, {&q.insertRows, q.shape.Insert + rows},
		{&q.claim, q.shape.Claim}, {&q.complete, q.shape.Complete}, {&q.begin, "BEGIN IMMEDIATE"}, {&q.commit, "COMMIT"},
	} {
		if *s.statement, err = q.db.PrepareContext(ctx, s.text); err != nil { //nolint:sqlclosecheck // they are closed with the database
			return errors.Join(err, q.db.Close())
		}
	}
	return nil
}

func (q *sqliteQueue) Enqueue(ctx context.Context, p contender.Payload) error {
	r := request{p.N, make(chan error, 1)}
	q.waiting.Lock()
	q.pending = append(q.pending, r)
	q.waiting.Unlock()
	select {
	case err := <-r.done:
		return err
	case q.turn <- struct{}{}:
	}
	q.waiting.Lock()
	all := q.pending
	q.pending = nil
	q.waiting.Unlock()
	err := q.insertMany(ctx, contender.Due, len(all), func(i int) int64 { return all[i].n })
	<-q.turn
	for _, other := range all {
		other.done <- err
	}
	return <-r.done
}

func (q *sqliteQueue) EnqueueMany(ctx context.Context, n int) error {
	return q.insertMany(ctx, contender.Due, n, func(i int) int64 { return int64(i) })
}

// job is the arguments of one row. Its id grows, as a UUIDv7 does, and is as long.
func (q *sqliteQueue) job(kind contender.Kind, n int64, now string) []any {
	j := jobOf(kind, fmt.Sprintf("%08x-0000-7000-8000-%012x", q.ids.Add(1), 0), n)
	j.now = now
	if kind == contender.Scheduled {
		j.scheduled = timeText(contender.Tomorrow())
	}
	return q.shape.Args(&j)
}

func (q *sqliteQueue) insertMany(ctx context.Context, kind contender.Kind, n int, number func(i int) int64) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := timeText(time.Now())
	if n > 1 {
		if _, err := q.begin.ExecContext(ctx); err != nil {
			return err
		}
	}
	for done := 0; done < n; {
		statement, rows := q.insertOne, 1
		if n-done >= rowsAtOnce {
			statement, rows = q.insertRows, rowsAtOnce
		}
		var args []any
		for i := range rows {
			args = append(args, q.job(kind, number(done+i), now)...)
		}
		if _, err := statement.ExecContext(ctx, args...); err != nil {
			return err
		}
		done += rows
	}
	if n > 1 {
		if _, err := q.commit.ExecContext(ctx); err != nil {
			return err
		}
	}
	select {
	case q.wake <- struct{}{}:
	default:
	}
	return nil
}

func (q *sqliteQueue) Run(ctx context.Context, ran func(n int64)) error {
	return q.run(ctx, func(ctx context.Context, claimed []claimedRow) error {
		for _, c := range claimed {
			ran(c.n)
		}
		return q.completeBatch(ctx, claimed)
	})
}

// RunWriting has the rows of a batch and its completions in one transaction.
func (q *sqliteQueue) RunWriting(ctx context.Context, ran func(n int64)) (err error) {
	insert, err := q.db.PrepareContext(ctx, contender.RowInsertText)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, insert.Close()) }()
	return q.run(ctx, func(ctx context.Context, claimed []claimedRow) error {
		if _, err := q.begin.ExecContext(ctx); err != nil {
			return err
		}
		for _, c := range claimed {
			if _, err := insert.ExecContext(ctx, c.n); err != nil {
				return err
			}
			ran(c.n)
		}
		if err := q.completeBatch(ctx, claimed); err != nil {
			return err
		}
		_, err := q.commit.ExecContext(ctx)
		return err
	})
}

func (q *sqliteQueue) run(ctx context.Context, work func(ctx context.Context, claimed []claimedRow) error) error {
	statements := context.WithoutCancel(ctx)
	for ctx.Err() == nil {
		claimed, err := q.claimBatch(statements)
		if err != nil {
			return err
		}
		if len(claimed) == 0 {
			select {
			case <-ctx.Done():
			case <-q.wake:
			}
			continue
		}
		q.mu.Lock()
		err = work(statements, claimed)
		q.mu.Unlock()
		if err != nil {
			return err
		}
	}
	return nil
}

type claimedRow struct{ rowid, n int64 }

func (q *sqliteQueue) claimBatch(ctx context.Context) ([]claimedRow, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	rows, err := q.claim.QueryContext(ctx, timeText(time.Now()), q.batch)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	claimed := make([]claimedRow, 0, q.batch)
	for rows.Next() {
		var rowid int64
		var id, payload string
		if err := rows.Scan(&rowid, &id, &payload); err != nil {
			return nil, err
		}
		claimed = append(claimed, claimedRow{rowid, contender.PayloadNumber(payload)})
	}
	return claimed, rows.Err()
}

// completeBatch is called with the lock held.
func (q *sqliteQueue) completeBatch(ctx context.Context, claimed []claimedRow) error {
	list := make([]byte, 0, 10*len(claimed))
	for _, c := range claimed {
		list = fmt.Append(append(list, ','), c.rowid)
	}
	list[0] = '['
	result, err := q.complete.ExecContext(ctx, timeText(time.Now()), string(list)+"]")
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n != int64(len(claimed)) {
		return fmt.Errorf("completed %d of %d jobs: %w", n, len(claimed), err)
	}
	return nil
}

func (q *sqliteQueue) Stage(ctx context.Context, kind contender.Kind, n int) error {
	return contender.InThousands(n, func(n int) error {
		return q.insertMany(ctx, kind, n, func(i int) int64 { return int64(i) })
	})
}

func (q *sqliteQueue) Unfinished(ctx context.Context) (int, error) {
	return q.Count(ctx, "SELECT COUNT(*) FROM jobs WHERE state IN ('queued', 'running')")
}

func (q *sqliteQueue) Exec(ctx context.Context, statement string) error {
	_, err := q.db.ExecContext(ctx, statement)
	return err
}

func (q *sqliteQueue) Count(ctx context.Context, query string) (n int, err error) {
	err = q.db.QueryRowContext(ctx, query).Scan(&n)
	return n, err
}

func (q *sqliteQueue) Close() error { return q.db.Close() }

func timeText(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }
