package postgres

import (
	"context"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// Heartbeat implements [driver.Claimer].
func (db *engine) Heartbeat(ctx context.Context, req driver.HeartbeatRequest) (alive bool, err error) {
	var beaten []string
	err = db.write(ctx, func(ctx context.Context, tx *driver.WriteTx) error {
		if req.First {
			if err := later(ctx, tx, jobsql.EnsureWorker, req.WorkerID, req.Now); err != nil {
				return err
			}
		}
		return laterInto(ctx, tx, &beaten, jobsql.ScanText, beatWorker, req.Now, jobsql.NullTags(req.Types), req.WorkerID)
	})
	return len(beaten) == 1, err
}

// Workers implements [driver.Claimer].
func (db *engine) Workers(ctx context.Context) ([]driver.Worker, error) {
	return read(ctx, db, jobsql.ScanWorker, selectWorkers)
}

// RemoveDeadWorker implements [driver.Claimer]. It skips jobs that others hold, such as a handler's own transaction, which may
// still end one: the other jobs do not wait for that.
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
	conn, err := db.acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	_, err = conn.Exec(ctx, jobsql.DeleteWorker, workerID)
	return err
}

// CheckLeases implements [driver.Claimer].
func (db *engine) CheckLeases(ctx context.Context, leases []driver.Lease) ([]error, error) {
	held, err := read(ctx, db, jobsql.ScanHeldJob, selectLeases, jobsql.LeaseIDs(leases))
	return jobsql.LeaseErrors(leases, held), err
}
