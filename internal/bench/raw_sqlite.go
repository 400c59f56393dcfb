package main

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

func rawSQLiteContenders() []Contender {
	open := func(batch int) func(context.Context, Place) (Queue, error) {
		return func(ctx context.Context, place Place) (Queue, error) { return openRawSQLite(ctx, place, batch) }
	}
	const setting = "one writer, prepared statements, due and scheduled jobs in partial indexes of their own; concurrent enqueues share a commit; " +
		"each 100 jobs are claimed by one statement and completed by one"
	return []Contender{
		{Engine: "sqlite", Name: rawName, Module: "github.com/mattn/go-sqlite3", Setting: setting, Groups: Everything, Open: open(100)},
		{Engine: "sqlite", Name: rawLargeName, Setting: "the same, 1,000 jobs a statement", Groups: Draining, Open: open(1000)},
	}
}

const rawSQLiteTable = `
CREATE TABLE jobs (
  id TEXT PRIMARY KEY,
  type TEXT NOT NULL,
  payload_json TEXT NOT NULL,
  priority INTEGER NOT NULL DEFAULT 0,
  state TEXT NOT NULL CHECK(state IN ('queued','running','completed','failed','canceled')),
  attempts INTEGER NOT NULL DEFAULT 0,
  max_attempts INTEGER NOT NULL DEFAULT 5,
  not_before TEXT,
  idempotency_key TEXT,
  last_error TEXT,
  heartbeat_at TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
);
CREATE INDEX jobs_due ON jobs(priority DESC, id) WHERE state = 'queued' AND not_before IS NULL;
CREATE INDEX jobs_scheduled ON jobs(not_before) WHERE state = 'queued' AND not_before IS NOT NULL;
CREATE UNIQUE INDEX jobs_idem_idx ON jobs(idempotency_key) WHERE idempotency_key IS NOT NULL;`

const (
	rawInsert   = "INSERT INTO jobs (id, type, payload_json, priority, state, not_before, created_at, updated_at) VALUES "
	rawRow      = "(?, 'bench', '1', ?, ?, ?, ?, ?)"
	rawRows     = 50 // a statement
	rawFreeze   = "2006-01-02T15:04:05.000000Z"
	rawClaimSQL = `
UPDATE jobs
SET state = 'running', attempts = attempts + 1, heartbeat_at = ?, updated_at = ?
WHERE rowid IN (
  SELECT rowid
  FROM jobs
  WHERE state = 'queued'
    AND not_before IS NULL
  ORDER BY priority DESC, id
  LIMIT ?)
RETURNING rowid, id, payload_json`
	rawCompleteSQL = `
UPDATE jobs
SET state = 'completed', updated_at = ?
WHERE rowid IN (SELECT value FROM json_each(?))
  AND state = 'running'`
)

// rawSQLite is what a queue on this driver and this table can hardly pass: nothing but the statements.
type rawSQLite struct {
	db    *sql.DB
	batch int
	ids   atomic.Int64
	wake  chan struct{}
	mu    sync.Mutex // held while the statements run
	// What waits for the next commit; whoever holds turn commits for all.
	turn    chan struct{}
	waiting sync.Mutex
	pending []chan error

	insertOne, insertRows, claim, complete, begin, commit *sql.Stmt
}

func openRawSQLite(ctx context.Context, place Place, batch int) (Queue, error) {
	db, err := openSQLite(place)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, rawSQLiteTable); err != nil {
		return nil, err
	}
	q := &rawSQLite{db: db, batch: batch, wake: make(chan struct{}, 1), turn: make(chan struct{}, 1)}
	for _, s := range []struct {
		statement **sql.Stmt
		text      string
	}{
		{&q.insertOne, rawInsert + rawRow},
		{&q.insertRows, rawInsert + strings.TrimSuffix(strings.Repeat(rawRow+", ", rawRows), ", ")},
		{&q.claim, rawClaimSQL}, {&q.complete, rawCompleteSQL}, {&q.begin, "BEGIN IMMEDIATE"}, {&q.commit, "COMMIT"},
	} {
		if *s.statement, err = db.PrepareContext(ctx, s.text); err != nil { //nolint:sqlclosecheck // they are closed with the database
			return nil, err
		}
	}
	return q, nil
}

// row is the arguments of one job. Its id grows, as a UUIDv7 does, and is as long.
func (q *rawSQLite) row(priority int, state string, notBefore any, now string) []any {
	id := fmt.Sprintf("%08x-0000-7000-8000-%012x", q.ids.Add(1), 0)
	return []any{id, priority, state, notBefore, now, now}
}

func (q *rawSQLite) Enqueue(ctx context.Context) error {
	done := make(chan error, 1)
	q.waiting.Lock()
	q.pending = append(q.pending, done)
	q.waiting.Unlock()
	select {
	case err := <-done:
		return err
	case q.turn <- struct{}{}:
	}
	q.waiting.Lock()
	all := q.pending
	q.pending = nil
	q.waiting.Unlock()
	err := q.insertMany(ctx, len(all), 0, "queued", nil)
	<-q.turn
	for _, other := range all {
		other <- err
	}
	return <-done
}

func (q *rawSQLite) EnqueueMany(ctx context.Context, n int) error {
	return q.insertMany(ctx, n, 0, "queued", nil)
}

func (q *rawSQLite) insertMany(ctx context.Context, n, priority int, state string, notBefore any) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := time.Now().UTC().Format(rawFreeze)
	if n > 1 {
		if _, err := q.begin.ExecContext(ctx); err != nil {
			return err
		}
	}
	for left := n; left > 0; {
		statement, rows := q.insertOne, 1
		if left >= rawRows {
			statement, rows = q.insertRows, rawRows
		}
		args := make([]any, 0, 6*rows)
		for range rows {
			args = append(args, q.row(priority, state, notBefore, now)...)
		}
		if _, err := statement.ExecContext(ctx, args...); err != nil {
			return err
		}
		left -= rows
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

func (q *rawSQLite) Run(ctx context.Context, ran func()) error {
	statements := context.WithoutCancel(ctx)
	for ctx.Err() == nil {
		ids, err := q.claimBatch(statements)
		if err != nil {
			return err
		}
		if len(ids) == 0 {
			select {
			case <-ctx.Done():
			case <-q.wake:
			}
			continue
		}
		for range ids {
			ran()
		}
		if err := q.completeBatch(statements, ids); err != nil {
			return err
		}
	}
	return nil
}

func (q *rawSQLite) claimBatch(ctx context.Context) ([]int64, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := time.Now().UTC().Format(rawFreeze)
	rows, err := q.claim.QueryContext(ctx, now, now, q.batch)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	ids := make([]int64, 0, q.batch)
	for rows.Next() {
		var rowid int64
		var id, payload string
		if err := rows.Scan(&rowid, &id, &payload); err != nil {
			return nil, err
		}
		ids = append(ids, rowid)
	}
	return ids, rows.Err()
}

func (q *rawSQLite) completeBatch(ctx context.Context, ids []int64) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	list := strings.ReplaceAll(fmt.Sprint(ids), " ", ",")
	result, err := q.complete.ExecContext(ctx, time.Now().UTC().Format(rawFreeze), list)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n != int64(len(ids)) {
		return fmt.Errorf("completed %d of %d jobs: %w", n, len(ids), err)
	}
	return nil
}

func (q *rawSQLite) Stage(ctx context.Context, kind Kind, n int) error {
	priority, state, notBefore := 0, "queued", any(nil)
	switch kind {
	case Due:
	case Finished:
		state = "completed"
	case Scheduled:
		priority, notBefore = 10, tomorrow().Format(rawFreeze)
	}
	return inThousands(n, func(n int) error { return q.insertMany(ctx, n, priority, state, notBefore) })
}

func (q *rawSQLite) Unfinished(ctx context.Context) (n int, err error) {
	err = q.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM jobs WHERE state IN ('queued', 'running')").Scan(&n)
	return n, err
}

func (q *rawSQLite) Close() error { return q.db.Close() }

func tomorrow() time.Time { return time.Now().UTC().Add(24 * time.Hour) }

// inThousands calls fn with 1000 at most until n is reached.
func inThousands(n int, fn func(n int) error) error {
	for ; n > 0; n -= 1000 {
		if err := fn(min(n, 1000)); err != nil {
			return err
		}
	}
	return nil
}
