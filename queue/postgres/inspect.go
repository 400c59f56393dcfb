package postgres

import (
	"context"
	"database/sql"

	"github.com/postroom-go/postroom/internal/joblist"
	"github.com/postroom-go/postroom/internal/jobrow"
	"github.com/postroom-go/postroom/internal/jobstats"
	"github.com/postroom-go/postroom/queue"
)

// Job implements [queue.Inspector].
func (db *DB) Job(ctx context.Context, jobID string) (*queue.Job, error) {
	jobs, err := read(ctx, db, jobrow.Job, selectJob, jobID)
	if err != nil {
		return nil, err
	}
	if len(jobs) == 0 {
		return nil, queue.ErrJobNotFound
	}
	return &jobs[0], nil
}

// Jobs implements [queue.Inspector].
func (db *DB) Jobs(ctx context.Context, f queue.Filter) ([]queue.Job, error) {
	query, args := joblist.Jobs(queue.Postgres, f)
	return read(ctx, db, jobrow.Job, query, args...)
}

// JobIDs implements [queue.Inspector].
func (db *DB) JobIDs(ctx context.Context, f queue.Filter) ([]string, error) {
	query, args := joblist.IDs(queue.Postgres, f)
	return read(ctx, db, func(row jobrow.Scanner) (id string, err error) {
		err = row.Scan(&id)
		return id, err
	}, query, args...)
}

// Counts implements [queue.Inspector].
func (db *DB) Counts(ctx context.Context, f queue.Filter) (map[queue.State]int, error) {
	query, args := joblist.Counts(queue.Postgres, f)
	answer, err := db.pool.Query(ctx, query, args...)
	return jobrow.Counts(rows{answer}, err)
}

// Attempts implements [queue.Inspector].
func (db *DB) Attempts(ctx context.Context, jobID string) ([]queue.AttemptRecord, error) {
	return read(ctx, db, jobrow.Attempt, selectAttempts, jobID)
}

// Stats implements [queue.Inspector].
func (db *DB) Stats(ctx context.Context, query queue.StatsQuery) (*queue.Stats, error) {
	workers, err := db.Workers(ctx)
	if err != nil {
		return nil, err
	}
	// One snapshot, so that the figures belong together.
	tx, err := db.db.BeginTxx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer tx.Rollback() //nolint:errcheck // it has only read
	if _, err := tx.ExecContext(ctx, planOurs); err != nil {
		return nil, err
	}
	return jobstats.Read(ctx, tx, queue.Postgres, query, workers)
}

// read runs a query outside of transactions.
func read[T any](ctx context.Context, db *DB, scan func(jobrow.Scanner) (T, error), query string, args ...any) ([]T, error) {
	answer, err := db.pool.Query(ctx, query, args...)
	return jobrow.Collect(rows{answer}, err, scan)
}
