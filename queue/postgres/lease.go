package postgres

import (
	"context"
	"database/sql"
	"errors"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// LockLease implements [driver.Finisher]: it locks the job's row.
func (db *DB) LockLease(ctx context.Context, tx *driver.WriteTx, lease driver.Lease) error {
	held, err := query(ctx, tx, jobsql.ScanHeldJob, lockLease, lease.JobID)
	if err != nil {
		return err
	}
	return jobsql.LeaseErrors([]driver.Lease{lease}, held)[0]
}

// Cancel implements [driver.Finisher].
func (db *DB) Cancel(ctx context.Context, tx *driver.WriteTx, jobID string) error {
	job, err := queryOne(ctx, tx, scanEnded, cancelJob, tx.Now(), jobID)
	if errors.Is(err, sql.ErrNoRows) {
		err = db.LockLease(ctx, tx, driver.Lease{JobID: jobID})
		if errors.Is(err, driver.ErrNotRunning) {
			err = driver.ErrFinished
		}
		return err
	}
	if err != nil {
		return err
	}
	var after aftermath
	after.add(&job, true)
	if err := after.write(ctx, tx); err != nil || !after.room {
		return err
	}
	return db.Notify(ctx, tx)
}

// A retriedJob is a job as it stands before it is tried again.
type retriedJob struct {
	driver.InsertJob
	state driver.State
}

func scanRetried(row jobsql.Scanner) (r retriedJob, err error) {
	var key, scope, limitKey sql.NullString
	var payload []byte
	err = row.Scan(&r.ID, &r.state, &r.Type, &payload, &key, &scope, &limitKey)
	r.Key = driver.Key{Name: key.String, Scope: driver.KeyScope(scope.String)}
	r.Payload, r.LimitKey = payload, limitKey.String
	return r, err
}

// Retry implements [driver.Finisher]. It writes nothing unless it succeeds: its caller may go on with the transaction.
func (db *DB) Retry(ctx context.Context, tx *driver.WriteTx, jobID string) error {
	job, err := queryOne(ctx, tx, scanRetried, selectForRetry, jobID)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return driver.ErrJobNotFound
	case err != nil:
		return err
	case job.state == driver.StateCompleted:
		return driver.ErrFinished
	case !job.state.Finished():
		return driver.ErrNotFinished
	}
	if scope := job.Key.Scope; scope == driver.KeyUnfinished || scope == driver.KeyCoalesce || scope == driver.KeyForever {
		job.Fingerprint = driver.Fingerprint(job.Type, job.Payload)
		taken, err := takeKeys(ctx, tx, []driver.InsertJob{job.InsertJob})
		if err != nil {
			return err
		}
		if taken[0].Duplicate {
			return driver.ErrKeyConflict
		}
	}
	if err := later(ctx, tx, retryJob, tx.Now(), jobID); err != nil {
		return err
	}
	var limited marks
	limited.add(job.LimitKey, atOnce)
	return limited.write(ctx, tx)
}
