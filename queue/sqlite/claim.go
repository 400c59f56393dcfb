package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/jobrow"
	"github.com/postroom-go/postroom/queue"
)

// Claim implements [queue.Claimer].
func (db *DB) Claim(ctx context.Context, req queue.ClaimRequest) (queue.ClaimResult, error) {
	ahead := db.candidates.read(ctx, req)
	result, err := db.claim(ctx, req, ahead)
	if errors.Is(err, errStale) {
		db.candidates.stale()
		result, err = db.claim(ctx, req, nil)
	}
	if err != nil {
		return queue.ClaimResult{}, err
	}
	db.candidates.claimed(len(result.Jobs))
	return result, nil
}

// claim takes the candidates, if they are not nil, or what it finds in its turn.
func (db *DB) claim(ctx context.Context, req queue.ClaimRequest, ahead *candidates) (result queue.ClaimResult, err error) {
	err = db.Write(ctx, func(ctx context.Context, tx *queue.Tx) (err error) {
		if _, err := tx.ExecContext(ctx, ensureWorker, req.WorkerID, dbtime.Of(req.Now)); err != nil {
			return err
		}
		// Limits reckon in what is stored.
		req.Now = dbtime.Truncate(req.Now)
		if db.clock.PutBack(req.Now) {
			if _, err := tx.ExecContext(ctx, hastenMarks, dbtime.Of(atOnce), dbtime.Of(req.Now)); err != nil {
				return err
			}
		}
		result, err = claim(ctx, tx, req, ahead)
		return err
	})
	if err == nil {
		db.clock.Passed(dbtime.Truncate(req.Now))
	}
	return result, err
}

func claim(ctx context.Context, tx *queue.Tx, req queue.ClaimRequest, ahead *candidates) (result queue.ClaimResult, err error) {
	todo, err := doChores(ctx, tx, req.Now)
	if err != nil {
		return result, err
	}
	if ahead != nil && todo == (chores{}) {
		result.More = true // perhaps some have come since they were read
		result.Jobs, err = ahead.start(ctx, tx, req)
		return result, err
	}
	var limits *typeLimits
	if todo.typeLimits {
		if limits, err = readTypeLimits(ctx, tx, req.Now); err != nil {
			return result, err
		}
	}
	jobs, more, err := pick(ctx, tx, req, limits.within(req.Types), &todo)
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
func pick(ctx context.Context, tx *queue.Tx, req queue.ClaimRequest, types []queue.TypeRoom, todo *chores) (jobs []queue.Job, more bool, err error) {
	keyed := todo.fronts || todo.marks
	switch {
	case len(types) == 0 && !keyed:
		return nil, false, nil
	case len(types) == 1 && !keyed:
		wanted := min(types[0].Room, req.Limit)
		jobs, err = start(ctx, tx, req, min(wanted, 16), selectClaimable, types[0].Type, dbtime.Of(req.Now), wanted)
		return jobs, false, err
	}
	m, err := newMerge(ctx, tx, req, types, todo)
	if err != nil {
		return nil, false, err
	}
	places, err := m.run(ctx)
	if err != nil {
		return nil, false, err
	}
	if len(places) > 0 {
		jobs, err = start(ctx, tx, req, len(places), selectClaimableRows, list(rowsOf(places)), dbtime.Of(req.Now))
	}
	if err != nil {
		return nil, false, err
	}
	all := len(jobs) == len(places)
	return jobs, !all || m.more, m.leave(ctx, jobs, all)
}

// start makes running what the query selects, about as many as expected.
func start(ctx context.Context, tx *queue.Tx, req queue.ClaimRequest, expected int, query string, args ...any) ([]queue.Job, error) {
	rows, err := tx.QueryxContext(ctx, query, args...)
	jobs, numbers, err := jobrow.Claimable(rows, err, expected)
	if err != nil || len(jobs) == 0 {
		return nil, err
	}
	markStarted(jobs, req)
	_, err = tx.ExecContext(ctx, claimJobs, req.WorkerID, dbtime.Of(req.Now), list(numbers))
	return jobs, err
}

func markStarted(jobs []queue.Job, req queue.ClaimRequest) {
	at := dbtime.Truncate(req.Now)
	for i := range jobs {
		j := &jobs[i]
		j.State, j.WorkerID, j.StartedAt, j.UpdatedAt = queue.StateRunning, req.WorkerID, at, at
		j.Attempt++
	}
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
