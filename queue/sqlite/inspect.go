package sqlite

import (
	"context"
	"database/sql"
	"errors"

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
	rows, err := db.reader.QueryxContext(ctx, listJobs, list(f.States), list(f.Types), f.Before, f.Limit)
	return jobrow.Collect(rows, err, jobrow.Job)
}

// Counts implements [queue.Inspector].
func (db *DB) Counts(ctx context.Context, f queue.Filter) (map[queue.State]int, error) {
	return jobrow.Counts(db.reader.QueryxContext(ctx, countJobs, list(f.States), list(f.Types), f.Before))
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
	return jobstats.Read(ctx, db, query, workers)
}
