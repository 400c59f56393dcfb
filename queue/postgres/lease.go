package postgres

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// LockLease implements [driver.Finisher]: it locks the job's row.
func (db *engine) LockLease(ctx context.Context, tx *driver.WriteTx, lease driver.Lease) error {
	held, err := query(ctx, tx, jobsql.ScanHeldJob, lockLease, lease.JobID)
	if err != nil {
		return err
	}
	return jobsql.LeaseErrors([]driver.Lease{lease}, held)[0]
}

// Cancel implements [driver.Finisher].
func (db *engine) Cancel(ctx context.Context, tx *driver.WriteTx, jobID string) error {
	canceled, err := db.CancelJobs(ctx, tx, driver.CancelRequest{JobIDs: []string{jobID},
		States: []driver.State{driver.StateQueued, driver.StateRunning}})
	if err == nil && len(canceled) == 0 {
		return jobsql.CancelError(db.LockLease(ctx, tx, driver.Lease{JobID: jobID}))
	}
	return err
}

// CancelJobs implements [driver.Finisher].
func (db *engine) CancelJobs(
	ctx context.Context, tx *driver.WriteTx, req driver.CancelRequest,
) (canceled []string, err error) {
	names := make([]string, len(req.States)) // not every driver takes a slice of states
	for i, state := range req.States {
		names[i] = string(state)
	}
	ended, err := query(ctx, tx, scanEnded, cancelJobs, tx.Now(), req.JobIDs, names, req.Reasons())
	if err != nil {
		return nil, err
	}
	var after aftermath
	for i := range ended {
		canceled = append(canceled, ended[i].id)
		after.add(&ended[i], true)
	}
	db.wakeForNodes(tx, &after)
	if err := errors.Join(after.write(ctx, tx), after.limited.write(ctx, tx)); err != nil || !after.freed {
		return canceled, err
	}
	return canceled, db.Notify(ctx, tx)
}

// A retriedJob is a job as it stands before it is tried again.
type retriedJob struct {
	driver.InsertJob
	state driver.State
}

func scanRetried(row jobsql.Scanner) (r retriedJob, err error) {
	var key, scope, limitKey, node sql.NullString
	var payload []byte
	err = row.Scan(&r.ID, &r.state, &r.Type, &payload, &key, &scope, &limitKey, &node)
	r.Node = node.String
	r.Key = driver.Key{Name: key.String, Scope: driver.KeyScope(scope.String)}
	r.Payload, r.LimitKey = payload, limitKey.String
	return r, err
}

// Retry implements [driver.Finisher]. It writes nothing unless it succeeds: its caller may go on with the transaction.
func (db *engine) Retry(ctx context.Context, tx *driver.WriteTx, jobID string) error {
	job, err := queryOne(ctx, tx, scanRetried, selectForRetry, jobID)
	if errors.Is(err, sql.ErrNoRows) {
		err = driver.ErrJobNotFound
	}
	if err := cmp.Or(err, jobsql.RetryError(job.state)); err != nil {
		return err
	}
	if jobsql.TakesKeyAgain(job.Key.Scope) {
		job.Fingerprint = driver.Fingerprint(job.Type, job.Payload)
		taken, err := takeKeys(ctx, tx, []driver.InsertJob{job.InsertJob})
		if err != nil {
			return err
		}
		if taken[0].Duplicate {
			return driver.ErrKeyConflict
		}
	}
	if job.Node != "" { // or the node could open meanwhile, and the job wait for it
		if err := later(ctx, tx, lockFlowOf, job.Node); err != nil {
			return err
		}
	}
	if err := later(ctx, tx, retryJob, tx.Now(), jobID); err != nil || job.LimitKey == "" {
		return err
	}
	return later(ctx, tx, insertHeadsOf, []string{jobID})
}

// Hasten implements [driver.Finisher].
func (db *engine) Hasten(ctx context.Context, tx *driver.WriteTx, jobID string) error {
	limitKey, err := queryOne(ctx, tx, jobsql.ScanText, hastenJob, tx.Now(), jobID)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil || limitKey == "":
		return err
	}
	return later(ctx, tx, insertHeadsOf, []string{jobID})
}

// Heartbeat implements [driver.Claimer].
func (db *engine) Heartbeat(ctx context.Context, req driver.HeartbeatRequest) (alive bool, err error) {
	var beaten []string
	err = db.writeAgain(ctx, func(ctx context.Context, tx *driver.WriteTx) error {
		if req.First {
			if err := later(ctx, tx, jobsql.EnsureWorker, req.WorkerID, req.Now); err != nil {
				return err
			}
		}
		return laterInto(ctx, tx, &beaten, jobsql.ScanText, beatWorker, req.Now, jobsql.NullTags(req.Types),
			req.WorkerID, jobsql.NullText(req.Version))
	})
	return len(beaten) == 1, err
}

// Workers implements [driver.Claimer].
func (db *engine) Workers(ctx context.Context) ([]driver.Worker, error) {
	return read(ctx, db, jobsql.ScanWorker, selectWorkers)
}

// RemoveDeadWorker implements [driver.Claimer]. It skips jobs that others hold, such as a handler's own transaction,
// which may still end one: the other jobs do not wait for that.
func (db *engine) RemoveDeadWorker(ctx context.Context, tx *driver.WriteTx, seen driver.Worker) ([]driver.Job, error) {
	if seen.Beat < 0 {
		registered, err := query(ctx, tx, jobsql.ScanText, jobsql.SelectWorker, seen.ID)
		if err != nil || len(registered) > 0 {
			return nil, err
		}
	} else {
		deleted, err := query(ctx, tx, jobsql.ScanText, jobsql.DeleteWorkerAt, seen.ID, seen.Beat)
		if err != nil || len(deleted) == 0 {
			return nil, err
		}
	}
	return query(ctx, tx, jobsql.ScanJob, lockHeld, seen.ID)
}

// RemoveWorker implements [driver.Claimer].
func (db *engine) RemoveWorker(ctx context.Context, workerID string) error {
	return db.writeAgain(ctx, func(ctx context.Context, tx *driver.WriteTx) error {
		return later(ctx, tx, jobsql.DeleteWorker, workerID)
	})
}

// MarkBegun implements [driver.Claimer].
func (db *engine) MarkBegun(ctx context.Context, leases []driver.Lease, now time.Time) error {
	attempts := make([]int, len(leases))
	for i, l := range leases {
		attempts[i] = l.Attempt
	}
	return db.writeAgain(ctx, func(ctx context.Context, tx *driver.WriteTx) error {
		return later(ctx, tx, markBegun, now, jobsql.LeaseIDs(leases), attempts)
	})
}

// CheckLeases implements [driver.Claimer].
func (db *engine) CheckLeases(ctx context.Context, leases []driver.Lease) ([]error, error) {
	held, err := read(ctx, db, jobsql.ScanHeldJob, selectLeases, jobsql.LeaseIDs(leases))
	return jobsql.LeaseErrors(leases, held), err
}

// LockLeaseLater implements [driver.Fencer].
func (db *engine) LockLeaseLater(ctx context.Context, tx *driver.WriteTx, lease driver.Lease) error {
	own, ok := tx.Tx.(*transaction)
	if !ok {
		return db.LockLease(ctx, tx, lease)
	}
	return own.add(db.fence(tx, lease, lockLeaseHeld, lease.JobID, lease.Attempt))
}

// CompleteLater implements [driver.Fencer].
func (db *engine) CompleteLater(ctx context.Context, tx *driver.WriteTx, out driver.Outcome) error {
	own, ok := tx.Tx.(*transaction)
	if !ok {
		answers, err := db.Finish(ctx, tx, []driver.Outcome{out})
		if err != nil {
			return err
		}
		return answers[0]
	}
	return own.add(db.fence(tx, out.Lease, completeLease, out.Lease.JobID, out.Lease.Attempt,
		nullText(string(out.Result)), out.At))
}

// fence is a statement that fails if the lease is not held. It returns whether types are limited, so that the end of
// the job may free capacity for others, and whether a node may open by it.
func (db *engine) fence(tx *driver.WriteTx, lease driver.Lease, text string, args ...any) step {
	return step{sql: text, args: args, fence: &lease, read: func(r rows) error {
		var limited bool
		var after aftermath
		for r.Next() {
			var held int
			if err := r.Scan(&limited, &after.nodes, &held); err != nil {
				return err
			}
		}
		if limited {
			tx.OnCommit(db.news.tell)
		}
		db.wakeForNodes(tx, &after)
		return r.Err()
	}}
}
