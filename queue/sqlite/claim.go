package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/jobrow"
	"github.com/postroom-go/postroom/queue"
)

// Claim implements [queue.Claimer].
func (db *DB) Claim(ctx context.Context, req queue.ClaimRequest) (queue.ClaimResult, error) {
	var result queue.ClaimResult
	err := db.Write(ctx, func(ctx context.Context, tx *queue.Tx) (err error) {
		if _, err := tx.ExecContext(ctx, ensureWorker, req.WorkerID, dbtime.Of(req.Now)); err != nil {
			return err
		}
		// Limits reckon in what is stored.
		req.Now = dbtime.Truncate(req.Now)
		result, err = claim(ctx, tx, req)
		return err
	})
	if err != nil {
		return queue.ClaimResult{}, err
	}
	return result, nil
}

func claim(ctx context.Context, tx *queue.Tx, req queue.ClaimRequest) (result queue.ClaimResult, err error) {
	todo, err := doChores(ctx, tx, req.Now)
	if err != nil {
		return result, err
	}
	var limits *typeLimits
	if todo.typeLimits {
		if limits, err = readTypeLimits(ctx, tx, req.Now); err != nil {
			return result, err
		}
	}
	jobs, more, err := pick(ctx, tx, req, limits.within(req.Types), todo.keyLimits)
	if err != nil {
		return result, err
	}
	result.Jobs, result.More = jobs, more || todo.more || len(jobs) == req.Limit
	if err := limits.spend(ctx, tx, jobs); err != nil || result.More {
		return result, err
	}
	result.NextDue, err = nextDue(ctx, tx, req.Types, limits)
	return result, err
}

// pick makes the first of the types' jobs running, and tells whether there may be more of them.
func pick(ctx context.Context, tx *queue.Tx, req queue.ClaimRequest, types []queue.TypeRoom, limited bool) (jobs []queue.Job, more bool, err error) {
	switch {
	case len(types) == 0:
		return nil, false, nil
	case len(types) == 1 && !limited:
		wanted := min(types[0].Room, req.Limit)
		rows, err := tx.QueryxContext(ctx, claimOfType, req.WorkerID, dbtime.Of(req.Now), types[0].Type, wanted)
		jobs, err = jobrow.Jobs(rows, err, min(wanted, 16))
		if err != nil {
			return nil, false, err
		}
	default:
		places, err := merge(ctx, tx, types, req.Limit, limited)
		if err != nil || len(places) == 0 {
			return nil, false, err
		}
		if jobs, err = take(ctx, tx, req, places, limited); err != nil {
			return nil, false, err
		}
		more = len(jobs) < len(places)
	}
	slices.SortFunc(jobs, func(a, b queue.Job) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), a.NotBefore.Compare(b.NotBefore), cmp.Compare(a.ID, b.ID))
	})
	return jobs, more, nil
}

// take makes running what the limits of keys let run.
func take(ctx context.Context, tx *queue.Tx, req queue.ClaimRequest, places []place, limited bool) ([]queue.Job, error) {
	keys := keyLimits{now: req.Now}
	ids := idsOf(places)
	if limited {
		var err error
		if ids, err = keys.within(ctx, tx, places); err != nil || len(ids) == 0 {
			return nil, errors.Join(err, keys.spend(ctx, tx, nil))
		}
	}
	rows, err := tx.QueryxContext(ctx, claimByID, req.WorkerID, dbtime.Of(req.Now), list(ids))
	jobs, err := jobrow.Jobs(rows, err, len(ids))
	if err != nil {
		return nil, err
	}
	return jobs, keys.spend(ctx, tx, jobs)
}

// nextDue is when there may be something to claim again, without anybody's saying so.
func nextDue(ctx context.Context, tx *queue.Tx, types []queue.TypeRoom, limits *typeLimits) (time.Time, error) {
	names := make([]string, len(types))
	for i := range types {
		names[i] = types[i].Type
	}
	var due dbtime.Time
	err := tx.QueryRowxContext(ctx, selectNextDue, list(names)).Scan(&due)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return time.Time{}, err
	}
	var mark dbtime.Time
	if err := tx.QueryRowxContext(ctx, selectNextMark).Scan(&mark); err != nil {
		return time.Time{}, err
	}
	return earliest(due.Time, mark.Time, limits.next(types)), nil
}

func earliest(times ...time.Time) (first time.Time) {
	for _, t := range times {
		if !t.IsZero() && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	return first
}

// Beat implements [queue.Claimer].
func (db *DB) Beat(ctx context.Context, req queue.BeatRequest) (alive bool, err error) {
	err = db.Write(ctx, func(ctx context.Context, tx *queue.Tx) error {
		if req.First {
			if _, err := tx.ExecContext(ctx, ensureWorker, req.WorkerID, dbtime.Of(req.Now)); err != nil {
				return err
			}
		}
		res, err := tx.ExecContext(ctx, beatWorker, dbtime.Of(req.Now), jobrow.NullTags(req.Types), req.WorkerID)
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
