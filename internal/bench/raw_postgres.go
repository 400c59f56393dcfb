package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

func rawPostgresContenders() []Contender {
	open := func(batch int) func(context.Context, Place) (Queue, error) {
		return func(ctx context.Context, place Place) (Queue, error) { return openRawPostgres(ctx, place, batch) }
	}
	const setting = "20 connections, prepared statements, partial indexes, COPY for bulk; each 100 jobs are claimed by one statement (FOR UPDATE SKIP LOCKED) " +
		"and completed by one"
	return []Contender{
		{Engine: "postgres", Name: rawName, Module: "github.com/jackc/pgx/v5", Setting: setting, Groups: Everything, Open: open(100)},
		{Engine: "postgres", Name: rawLargeName, Setting: "the same, 1,000 jobs a statement", Groups: Draining, Open: open(1000)},
	}
}

const rawPostgresTable = `
CREATE TABLE jobs (
  id TEXT PRIMARY KEY,
  type TEXT NOT NULL,
  payload_json TEXT NOT NULL,
  priority INTEGER NOT NULL DEFAULT 0,
  state TEXT NOT NULL CHECK(state IN ('queued','running','completed','failed','canceled')),
  attempts INTEGER NOT NULL DEFAULT 0,
  max_attempts INTEGER NOT NULL DEFAULT 5,
  not_before TIMESTAMPTZ,
  idempotency_key TEXT,
  last_error TEXT,
  heartbeat_at TIMESTAMPTZ,
  created_at TIMESTAMPTZ NOT NULL,
  updated_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX jobs_due ON jobs(priority DESC, id) WHERE state = 'queued' AND not_before IS NULL;
CREATE INDEX jobs_scheduled ON jobs(not_before) WHERE state = 'queued' AND not_before IS NOT NULL;
CREATE UNIQUE INDEX jobs_idem_idx ON jobs(idempotency_key) WHERE idempotency_key IS NOT NULL;`

const (
	rawPostgresInsert = "INSERT INTO jobs (id, type, payload_json, state, created_at, updated_at) VALUES ($1, 'bench', '1', 'queued', $2, $2)"
	rawPostgresClaim  = `
UPDATE jobs
SET state = 'running', attempts = attempts + 1, heartbeat_at = $1, updated_at = $1
WHERE id = ANY (ARRAY (
  SELECT id
  FROM jobs
  WHERE state = 'queued'
    AND not_before IS NULL
  ORDER BY priority DESC, id
  LIMIT $2
  FOR UPDATE SKIP LOCKED))
RETURNING id, payload_json`
	rawPostgresComplete = "UPDATE jobs SET state = 'completed', updated_at = $1 WHERE id = ANY ($2) AND state = 'running'"
)

// rawPostgres is what a queue on this table can hardly pass: nothing but the statements.
type rawPostgres struct {
	pool  *pgxpool.Pool
	batch int
	ids   atomic.Int64
	wake  chan struct{}
}

func openRawPostgres(ctx context.Context, place Place, batch int) (Queue, error) {
	pool, err := pgxpool.New(ctx, pooled(place.DSN))
	if err != nil {
		return nil, err
	}
	if _, err := pool.Exec(ctx, rawPostgresTable); err != nil {
		pool.Close()
		return nil, err
	}
	return &rawPostgres{pool: pool, batch: batch, wake: make(chan struct{}, 1)}, nil
}

func (q *rawPostgres) id() string { return fmt.Sprintf("%08x-0000-7000-8000-%012x", q.ids.Add(1), 0) }

func (q *rawPostgres) notify() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

func (q *rawPostgres) Enqueue(ctx context.Context) error {
	_, err := q.pool.Exec(ctx, rawPostgresInsert, q.id(), time.Now())
	q.notify()
	return err
}

func (q *rawPostgres) EnqueueMany(ctx context.Context, n int) error {
	defer q.notify()
	return q.copyIn(ctx, n, 0, "queued", nil)
}

func (q *rawPostgres) copyIn(ctx context.Context, n, priority int, state string, notBefore any) error {
	columns := []string{"id", "type", "payload_json", "priority", "state", "not_before", "created_at", "updated_at"}
	now := time.Now()
	written, err := q.pool.CopyFrom(ctx, pgx.Identifier{"jobs"}, columns, pgx.CopyFromSlice(n, func(int) ([]any, error) {
		return []any{q.id(), "bench", "1", priority, state, notBefore, now, now}, nil
	}))
	if err == nil && written != int64(n) {
		err = fmt.Errorf("copied %d of %d jobs", written, n)
	}
	return err
}

// Run works on one connection.
func (q *rawPostgres) Run(ctx context.Context, ran func()) error {
	statements := context.WithoutCancel(ctx)
	for ctx.Err() == nil {
		rows, err := q.pool.Query(statements, rawPostgresClaim, time.Now(), q.batch)
		if err != nil {
			return err
		}
		var id, payload string
		ids := make([]string, 0, q.batch)
		_, err = pgx.ForEachRow(rows, []any{&id, &payload}, func() error {
			ids = append(ids, id)
			return nil
		})
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
		tag, err := q.pool.Exec(statements, rawPostgresComplete, time.Now(), ids)
		if err != nil || tag.RowsAffected() != int64(len(ids)) {
			return errors.Join(err, fmt.Errorf("completed %d of %d jobs", tag.RowsAffected(), len(ids)))
		}
	}
	return nil
}

func (q *rawPostgres) Stage(ctx context.Context, kind Kind, n int) error {
	priority, state, notBefore := 0, "queued", any(nil)
	switch kind {
	case Due:
	case Finished:
		state = "completed"
	case Scheduled:
		priority, notBefore = 10, tomorrow()
	}
	return q.copyIn(ctx, n, priority, state, notBefore)
}

func (q *rawPostgres) Unfinished(ctx context.Context) (n int, err error) {
	err = q.pool.QueryRow(ctx, "SELECT COUNT(*) FROM jobs WHERE state IN ('queued', 'running')").Scan(&n)
	return n, err
}

func (q *rawPostgres) Close() error {
	q.pool.Close()
	return nil
}
