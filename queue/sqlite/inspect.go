package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/postroom-go/postroom/queue"
)

// Job implements [queue.Inspector].
func (db *DB) Job(ctx context.Context, jobID string) (*queue.Job, error) {
	job, err := scanJob(db.reader.QueryRowxContext(ctx, selectJob, jobID))
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
	return collect(rows, err, scanJob)
}

// Counts implements [queue.Inspector].
func (db *DB) Counts(ctx context.Context, f queue.Filter) (map[queue.State]int, error) {
	type line struct {
		state queue.State
		n     int
	}
	rows, err := db.reader.QueryxContext(ctx, countJobs, list(f.States), list(f.Types), f.Before)
	lines, err := collect(rows, err, func(row scanner) (l line, err error) {
		err = row.Scan(&l.state, &l.n)
		return l, err
	})
	counts := make(map[queue.State]int, len(lines))
	for _, l := range lines {
		counts[l.state] = l.n
	}
	return counts, err
}

// Attempts implements [queue.Inspector].
func (db *DB) Attempts(ctx context.Context, jobID string) ([]queue.AttemptRecord, error) {
	rows, err := db.reader.QueryxContext(ctx, selectAttempts, jobID)
	return collect(rows, err, scanAttempt)
}
