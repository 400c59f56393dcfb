package postgres

import (
	"context"
	"database/sql"
	"errors"

	"github.com/postroom-go/postroom/internal/jobrow"
	"github.com/postroom-go/postroom/queue"
)

// Job implements [queue.Inspector].
func (db *DB) Job(ctx context.Context, jobID string) (*queue.Job, error) {
	job, err := jobrow.Job(db.db.QueryRowxContext(ctx, selectJob, jobID))
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
	rows, err := db.db.QueryxContext(ctx, listJobs, texts(f.States), texts(f.Types), f.Before, f.Limit)
	return jobrow.Collect(rows, err, jobrow.Job)
}

// Counts implements [queue.Inspector].
func (db *DB) Counts(ctx context.Context, f queue.Filter) (map[queue.State]int, error) {
	return jobrow.Counts(db.db.QueryxContext(ctx, countJobs, texts(f.States), texts(f.Types), f.Before))
}

// Attempts implements [queue.Inspector].
func (db *DB) Attempts(ctx context.Context, jobID string) ([]queue.AttemptRecord, error) {
	rows, err := db.db.QueryxContext(ctx, selectAttempts, jobID)
	return jobrow.Collect(rows, err, jobrow.Attempt)
}

// texts is a list of strings as an array, empty and not NULL when there are none.
func texts[S ~string](values []S) []string {
	list := make([]string, len(values))
	for i, v := range values {
		list[i] = string(v)
	}
	return list
}
