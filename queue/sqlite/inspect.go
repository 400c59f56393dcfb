package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/postroom-go/postroom/internal/joblist"
	"github.com/postroom-go/postroom/internal/jobrow"
	"github.com/postroom-go/postroom/internal/jobstats"
	"github.com/postroom-go/postroom/queue"
)

// Job implements [queue.Inspector].
func (db *DB) Job(ctx context.Context, jobID string) (*queue.Job, error) {
	job, err := jobrow.Job(db.reader.QueryRowxContext(ctx, selectJob, jobID))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, queue.ErrJobNotFound
	}
	if err != nil {
		return nil, err
	}
	return &job, nil
}

// Jobs implements [queue.Inspector].
func (db *DB) Jobs(ctx context.Context, f queue.Filter) ([]queue.Job, error) {
	query, args := joblist.Jobs(queue.SQLite, f)
	rows, err := db.reader.QueryxContext(ctx, query, args...)
	return jobrow.Collect(rows, err, jobrow.Job)
}

// JobIDs implements [queue.Inspector].
func (db *DB) JobIDs(ctx context.Context, f queue.Filter) (ids []string, err error) {
	query, args := joblist.IDs(queue.SQLite, f)
	err = db.reader.SelectContext(ctx, &ids, query, args...)
	return ids, err
}

// Counts implements [queue.Inspector].
func (db *DB) Counts(ctx context.Context, f queue.Filter) (map[queue.State]int, error) {
	query, args := joblist.Counts(queue.SQLite, f)
	return jobrow.Counts(db.reader.QueryxContext(ctx, query, args...))
}

// Attempts implements [queue.Inspector].
func (db *DB) Attempts(ctx context.Context, jobID string) ([]queue.AttemptRecord, error) {
	rows, err := db.reader.QueryxContext(ctx, selectAttempts, jobID)
	return jobrow.Collect(rows, err, jobrow.Attempt)
}

// Stats implements [queue.Inspector].
func (db *DB) Stats(ctx context.Context, query queue.StatsQuery) (*queue.Stats, error) {
	workers, err := db.Workers(ctx)
	if err != nil {
		return nil, err
	}
	return jobstats.Read(ctx, db.reader, queue.SQLite, query, workers)
}
