package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/jobrow"
	"github.com/postroom-go/postroom/queue"
)

// Claim implements [queue.Claimer].
func (db *DB) Claim(ctx context.Context, req queue.ClaimRequest) (queue.ClaimResult, error) {
	var result queue.ClaimResult
	err := db.Write(ctx, func(ctx context.Context, tx *queue.Tx) error {
		if _, err := tx.ExecContext(ctx, ensureWorker, req.WorkerID, dbtime.Of(req.Now)); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, promoteJobs, dbtime.Of(req.Now)); err != nil {
			return err
		}
		types := list(req.Types)
		rows, err := tx.QueryxContext(ctx, claimJobs, req.WorkerID, dbtime.Of(req.Now), types, req.Limit)
		if result.Jobs, err = jobrow.Collect(rows, err, jobrow.Job); err != nil {
			return err
		}
		if len(result.Jobs) == req.Limit {
			return nil
		}
		var due dbtime.Time
		err = tx.QueryRowxContext(ctx, selectNextDue, types).Scan(&due)
		if errors.Is(err, sql.ErrNoRows) {
			err = nil
		}
		result.NextDue = due.Time
		return err
	})
	if err != nil {
		return queue.ClaimResult{}, err
	}
	slices.SortFunc(result.Jobs, func(a, b queue.Job) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), a.NotBefore.Compare(b.NotBefore), cmp.Compare(a.ID, b.ID))
	})
	return result, nil
}

// Beat implements [queue.Claimer].
func (db *DB) Beat(ctx context.Context, req queue.BeatRequest) (alive bool, err error) {
	err = db.Write(ctx, func(ctx context.Context, tx *queue.Tx) error {
		if req.First {
			if _, err := tx.ExecContext(ctx, ensureWorker, req.WorkerID, dbtime.Of(req.Now)); err != nil {
				return err
			}
		}
		res, err := tx.ExecContext(ctx, beatWorker, dbtime.Of(req.Now), req.WorkerID)
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		alive = n == 1
		return err
	})
	return alive, err
}

// Workers implements [queue.Claimer].
func (db *DB) Workers(ctx context.Context) ([]queue.Worker, error) {
	rows, err := db.reader.QueryxContext(ctx, selectWorkers)
	return jobrow.Collect(rows, err, jobrow.Worker)
}

// Bury implements [queue.Claimer].
func (db *DB) Bury(ctx context.Context, tx *queue.Tx, seen queue.Worker) ([]queue.Job, error) {
	if seen.Beat < 0 {
		var registered int
		if err := tx.QueryRowxContext(ctx, selectWorker, seen.ID).Scan(&registered); err != nil || registered > 0 {
			return nil, err
		}
	} else {
		res, err := tx.ExecContext(ctx, deleteWorkerAt, seen.ID, seen.Beat)
		if err != nil {
			return nil, err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return nil, err
		}
	}
	rows, err := tx.QueryxContext(ctx, selectHeld, seen.ID)
	return jobrow.Collect(rows, err, jobrow.Job)
}

// Held implements [queue.Claimer].
func (db *DB) Held(ctx context.Context, workerID string) ([]queue.Job, error) {
	rows, err := db.reader.QueryxContext(ctx, selectHeld, workerID)
	return jobrow.Collect(rows, err, jobrow.Job)
}

// Retire implements [queue.Claimer].
func (db *DB) Retire(ctx context.Context, workerID string) error {
	return db.Write(ctx, func(ctx context.Context, tx *queue.Tx) error {
		_, err := tx.ExecContext(ctx, deleteWorker, workerID)
		return err
	})
}

// Verify implements [queue.Claimer].
func (db *DB) Verify(ctx context.Context, leases []queue.Lease) ([]error, error) {
	answers := make([]error, len(leases))
	for i, lease := range leases {
		held, err := leaseState(ctx, db.reader, lease)
		if err != nil {
			return nil, err
		}
		answers[i] = held
	}
	return answers, nil
}
