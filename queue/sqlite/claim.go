package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// Claim implements [driver.Claimer].
func (db *DB) Claim(ctx context.Context, req driver.ClaimRequest) (driver.ClaimResult, error) {
	ahead := db.candidates.read(ctx, req)
	result, err := db.claim(ctx, req, ahead)
	if errors.Is(err, errStale) {
		db.candidates.stale()
		result, err = db.claim(ctx, req, nil)
	}
	if err != nil {
		return driver.ClaimResult{}, err
	}
	db.candidates.claimed(len(result.Jobs))
	return result, nil
}

// claim takes the candidates, if they are not nil, or what it finds in its turn.
func (db *DB) claim(ctx context.Context, req driver.ClaimRequest, ahead *candidates) (result driver.ClaimResult, err error) {
	err = db.write(ctx, func(ctx context.Context, tx *driver.WriteTx) (err error) {
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

func claim(ctx context.Context, tx *driver.WriteTx, req driver.ClaimRequest, ahead *candidates) (result driver.ClaimResult, err error) {
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

// pick makes the first of the types' jobs running, and reports whether there may be more of them.
func pick(ctx context.Context, tx *driver.WriteTx, req driver.ClaimRequest, types []driver.TypeCapacity, todo *chores) (jobs []driver.Job, more bool, err error) {
	keyed := todo.fronts || todo.marks
	switch {
	case len(types) == 0 && !keyed:
		return nil, false, nil
	case len(types) == 1 && !keyed:
		wanted := min(types[0].Capacity, req.Limit)
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
func start(ctx context.Context, tx *driver.WriteTx, req driver.ClaimRequest, expected int, query string, args ...any) ([]driver.Job, error) {
	rows, err := tx.QueryContext(ctx, query, args...)
	jobs, numbers, err := jobsql.ScanClaimed(rows, err, expected)
	if err != nil || len(jobs) == 0 {
		return nil, err
	}
	markStarted(jobs, req)
	_, err = tx.ExecContext(ctx, claimJobs, req.WorkerID, dbtime.Of(req.Now), list(numbers))
	return jobs, err
}

func markStarted(jobs []driver.Job, req driver.ClaimRequest) {
	at := dbtime.Truncate(req.Now)
	for i := range jobs {
		j := &jobs[i]
		j.State, j.WorkerID, j.StartedAt, j.UpdatedAt = driver.StateRunning, req.WorkerID, at, at
		j.Attempt++
	}
}

// nextDue is when there may be something to claim again, without anybody's saying so.
func nextDue(ctx context.Context, tx *driver.WriteTx, types []driver.TypeCapacity, limits *typeLimits) (time.Time, error) {
	names := make([]string, len(types))
	for i := range types {
		names[i] = types[i].Type
	}
	var due dbtime.Time
	err := tx.QueryRowContext(ctx, selectNextDue, list(names)).Scan(&due)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return time.Time{}, err
	}
	var mark dbtime.Time
	if err := tx.QueryRowContext(ctx, selectNextMark).Scan(&mark); err != nil {
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

// Heartbeat implements [driver.Claimer].
func (db *DB) Heartbeat(ctx context.Context, req driver.HeartbeatRequest) (alive bool, err error) {
	err = db.write(ctx, func(ctx context.Context, tx *driver.WriteTx) error {
		if req.First {
			if _, err := tx.ExecContext(ctx, ensureWorker, req.WorkerID, dbtime.Of(req.Now)); err != nil {
				return err
			}
		}
		res, err := tx.ExecContext(ctx, beatWorker, dbtime.Of(req.Now), jobsql.NullTags(req.Types), req.WorkerID)
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		alive = n == 1
		return err
	})
	return alive, err
}

// Workers implements [driver.Claimer].
func (db *DB) Workers(ctx context.Context) ([]driver.Worker, error) {
	rows, err := db.reader.QueryContext(ctx, selectWorkers)
	return jobsql.Collect(rows, err, jobsql.ScanWorker)
}

// RemoveDeadWorker implements [driver.Claimer].
func (db *DB) RemoveDeadWorker(ctx context.Context, tx *driver.WriteTx, seen driver.Worker) ([]driver.Job, error) {
	if seen.Beat < 0 {
		var registered int
		if err := tx.QueryRowContext(ctx, selectWorker, seen.ID).Scan(&registered); err != nil || registered > 0 {
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
	rows, err := tx.QueryContext(ctx, jobsql.SelectWorkerJobs, seen.ID)
	return jobsql.Collect(rows, err, jobsql.ScanJob)
}

// RemoveWorker implements [driver.Claimer].
func (db *DB) RemoveWorker(ctx context.Context, workerID string) error {
	return db.write(ctx, func(ctx context.Context, tx *driver.WriteTx) error {
		_, err := tx.ExecContext(ctx, deleteWorker, workerID)
		return err
	})
}

// CheckLeases implements [driver.Claimer].
func (db *DB) CheckLeases(ctx context.Context, leases []driver.Lease) ([]error, error) {
	ids, err := json.Marshal(jobsql.LeaseIDs(leases))
	if err != nil {
		return nil, err
	}
	found, err := db.reader.QueryContext(ctx, selectLeases, string(ids))
	held, err := jobsql.Collect(found, err, jobsql.ScanHeldJob)
	if err != nil {
		return nil, err
	}
	return jobsql.LeaseErrors(leases, held), nil
}
