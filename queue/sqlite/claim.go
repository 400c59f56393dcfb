package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/joblimit"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// Claim implements [driver.Claimer].
func (db *engine) Claim(ctx context.Context, req driver.ClaimRequest) (driver.ClaimResult, error) {
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

// A txClaim is a claim within a transaction.
type txClaim struct {
	req   driver.ClaimRequest
	ahead *candidates // to take, if they are not nil, and not what the claim finds
	freed marks       // limit keys that the transaction has freed

	todo   chores
	result driver.ClaimResult
	open   bool // limit keys are left that have capacity and jobs
}

func (db *engine) claim(ctx context.Context, req driver.ClaimRequest, ahead *candidates) (driver.ClaimResult, error) {
	t := txClaim{req: req, ahead: ahead}
	err := db.write(ctx, func(ctx context.Context, tx *driver.WriteTx) error { return db.claimIn(ctx, tx, &t) })
	return t.result, err
}

func (db *engine) claimIn(ctx context.Context, tx *driver.WriteTx, t *txClaim) error {
	// Limits use the instants that are stored.
	now := dbtime.Truncate(t.req.Now)
	t.req.Now = now
	if db.clock.PutBack(now) {
		if _, err := tx.ExecContext(ctx, hastenMarks, dbtime.Of(joblimit.AtOnce), dbtime.Of(now)); err != nil {
			return err
		}
	}
	tx.OnCommit(func() { db.clock.Passed(now) })
	return t.claim(ctx, db, tx)
}

func (t *txClaim) claim(ctx context.Context, db *engine, tx *driver.WriteTx) (err error) {
	if t.todo, err = db.doChores(ctx, tx, &t.req); err != nil {
		return err
	}
	if t.ahead != nil && t.todo == (chores{}) {
		t.result.More = true // more may have come since they were read
		t.result.Jobs, err = t.ahead.start(ctx, tx, t.req)
		return err
	}
	var limits joblimit.Types
	if t.todo.typeLimits {
		if limits, err = readTypeLimits(ctx, tx, t.req.Now); err != nil {
			return err
		}
	}
	more, err := t.pick(ctx, tx, limits.Within(t.req.Types))
	if err != nil {
		return err
	}
	jobs := t.result.Jobs
	t.result.More = more || t.todo.more || len(jobs) == t.req.Limit || t.req.Reached(jobs)
	if err := spendTypes(ctx, tx, limits, jobs); err != nil || t.result.More {
		return err
	}
	t.result.NextDue, err = nextDue(ctx, tx, t.req.Types, limits)
	return err
}

// pick makes the first of the types' jobs running, and reports whether there may be more of them.
func (t *txClaim) pick(ctx context.Context, tx *driver.WriteTx, types []driver.TypeCapacity) (more bool, err error) {
	req := t.req
	keyed := t.todo.heads || t.todo.marks || len(t.freed) > 0
	switch {
	case len(types) == 0 && !keyed:
		return false, nil
	case len(types) == 1 && !keyed:
		wanted := min(types[0].Capacity, req.Limit)
		t.result.Jobs, err = start(ctx, tx, req, min(wanted, 16), selectClaimable, types[0].Type, dbtime.Of(req.Now),
			wanted)
		return false, err
	}
	m, err := newMerge(ctx, tx, types, t)
	if err != nil {
		return false, err
	}
	places, err := m.run(ctx)
	if err != nil {
		return false, err
	}
	if len(places) > 0 {
		t.result.Jobs, err = start(ctx, tx, req, len(places), selectClaimableRows, list(rowsOf(places)),
			dbtime.Of(req.Now))
	}
	if err != nil {
		return false, err
	}
	all := len(t.result.Jobs) == len(places)
	err = m.leave(ctx, t.result.Jobs, all)
	t.open = m.open
	return !all || m.more, err
}

// start makes the selected jobs running, approximately as many as expected.
func start(
	ctx context.Context, tx *driver.WriteTx, req driver.ClaimRequest, expected int, query string, args ...any,
) ([]driver.Job, error) {
	rows, err := tx.QueryContext(ctx, query, args...)
	jobs, numbers, err := jobsql.ScanClaimed(rows, err, expected, req.Bytes)
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
		j.Attempt = min(j.Attempt, driver.LastAttempt-1) + 1
	}
}

// nextDue returns when there may be jobs to claim without a notification.
func nextDue(
	ctx context.Context, tx *driver.WriteTx, types []driver.TypeCapacity, limits joblimit.Types,
) (time.Time, error) {
	names := make([]string, len(types))
	for i := range types {
		names[i] = types[i].Type
	}
	var due, mark jobsql.Instant
	if err := scanRow(ctx, tx, selectNextDue, []any{list(names)}, &due, &mark); err != nil {
		return time.Time{}, err
	}
	return joblimit.Earliest(due.Time, mark.Time, limits.Next(types)), nil
}

// Heartbeat implements [driver.Claimer].
func (db *engine) Heartbeat(ctx context.Context, req driver.HeartbeatRequest) (alive bool, err error) {
	err = db.write(ctx, func(ctx context.Context, tx *driver.WriteTx) error {
		if req.First {
			if _, err := tx.ExecContext(ctx, jobsql.EnsureWorker, req.WorkerID, dbtime.Of(req.Now)); err != nil {
				return err
			}
		}
		res, err := tx.ExecContext(ctx, beatWorker, dbtime.Of(req.Now), jobsql.NullTags(req.Types), req.WorkerID,
			jobsql.NullText(req.Version))
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
func (db *engine) Workers(ctx context.Context) ([]driver.Worker, error) {
	rows, err := db.query(ctx, selectWorkers)
	return jobsql.Collect(rows, err, jobsql.ScanWorker)
}

// RemoveDeadWorker implements [driver.Claimer].
func (db *engine) RemoveDeadWorker(ctx context.Context, tx *driver.WriteTx, seen driver.Worker) ([]driver.Job, error) {
	if seen.Beat < 0 {
		rows, err := tx.QueryContext(ctx, jobsql.SelectWorker, seen.ID)
		if registered, err := jobsql.Collect(rows, err, jobsql.ScanText); err != nil || len(registered) > 0 {
			return nil, err
		}
	} else {
		rows, err := tx.QueryContext(ctx, jobsql.DeleteWorkerAt, seen.ID, seen.Beat)
		if deleted, err := jobsql.Collect(rows, err, jobsql.ScanText); err != nil || len(deleted) == 0 {
			return nil, err
		}
	}
	rows, err := tx.QueryContext(ctx, jobsql.SelectWorkerJobs, seen.ID)
	return jobsql.Collect(rows, err, jobsql.ScanJob)
}

// RemoveWorker implements [driver.Claimer].
func (db *engine) RemoveWorker(ctx context.Context, workerID string) error {
	return db.write(ctx, func(ctx context.Context, tx *driver.WriteTx) error {
		_, err := tx.ExecContext(ctx, jobsql.DeleteWorker, workerID)
		return err
	})
}

// MarkBegun implements [driver.Claimer].
func (db *engine) MarkBegun(ctx context.Context, leases []driver.Lease, now time.Time) error {
	var rows jsonRows
	for _, l := range leases {
		rows.begin()
		rows.text(l.JobID)
		rows.int(l.Attempt)
	}
	return db.write(ctx, func(ctx context.Context, tx *driver.WriteTx) error {
		_, err := tx.ExecContext(ctx, markBegun, dbtime.Of(now), rows.end())
		return err
	})
}

// CheckLeases implements [driver.Claimer].
func (db *engine) CheckLeases(ctx context.Context, leases []driver.Lease) ([]error, error) {
	ids, err := json.Marshal(jobsql.LeaseIDs(leases))
	if err != nil {
		return nil, err
	}
	found, err := db.query(ctx, selectLeases, string(ids))
	held, err := jobsql.Collect(found, err, jobsql.ScanHeldJob)
	if err != nil {
		return nil, err
	}
	return jobsql.LeaseErrors(leases, held), nil
}

// chores are the tasks of a claim before it claims; nearly always there are none.
type chores struct {
	expired, due, marks bool
	typeLimits          bool
	heads               bool // some limit keys have capacity for jobs that wait
	tasks               bool // about jobs of flows
	more                bool // some are left for the next claim
}

func (db *engine) doChores(
	ctx context.Context, tx *driver.WriteTx, req *driver.ClaimRequest,
) (todo chores, err error) {
	at := dbtime.Of(req.Now)
	var registered bool
	err = scanRow(ctx, tx, selectChores, []any{at, req.WorkerID},
		&todo.expired, &todo.due, &todo.marks, &todo.typeLimits, &todo.heads,
		&todo.tasks, &registered)
	if err != nil {
		return todo, err
	}
	if !registered {
		if _, err := tx.ExecContext(ctx, jobsql.EnsureWorker, req.WorkerID, at); err != nil {
			return todo, err
		}
	}
	if todo.expired {
		// Others may run what waited for them.
		if err := errors.Join(todo.expire(ctx, tx, at), db.Notify(ctx, tx)); err != nil {
			return todo, err
		}
	}
	if todo.tasks {
		more, err := db.DoTasks(ctx, tx)
		if err != nil {
			return todo, err
		}
		todo.due, todo.marks, todo.more = true, true, todo.more || more
	}
	if todo.due {
		return todo, todo.promote(ctx, tx, at)
	}
	return todo, nil
}

// portionOfChores bounds the rows that one claim expires, and that it promotes.
const portionOfChores = 1000

func (c *chores) expire(ctx context.Context, tx *driver.WriteTx, at dbtime.Time) error {
	rows, err := tx.QueryContext(ctx, expireJobs, at)
	ended, err := jobsql.Collect(rows, err, func(row jobsql.Scanner) (e endedJob, err error) {
		var key, scope, limitKey sql.NullString
		err = row.Scan(&e.id, &key, &scope, &limitKey)
		e.finished, e.waited, e.key, e.scope, e.limitKey = true, true, key.String, driver.KeyScope(scope.String),
			limitKey.String
		return e, err
	})
	if err != nil {
		return err
	}
	c.more = c.more || len(ended) == portionOfChores
	c.tasks = c.tasks || len(ended) > 0 // nodes may have ended
	for i := range ended {
		c.marks = c.marks || ended[i].limitKey != ""
	}
	return release(ctx, tx, ended)
}

func (c *chores) promote(ctx context.Context, tx *driver.WriteTx, at dbtime.Time) error {
	rows, err := tx.QueryContext(ctx, promoteJobs, at)
	keys, err := jobsql.Collect(rows, err, limitKey)
	if err != nil {
		return err
	}
	c.more = c.more || len(keys) == portionOfChores
	marks := newMarks()
	for _, key := range keys {
		marks.add(key)
	}
	c.marks = c.marks || len(marks) > 0
	return marks.write(ctx, tx)
}

func limitKey(row jobsql.Scanner) (string, error) {
	var key sql.NullString
	err := row.Scan(&key)
	return key.String, err
}
