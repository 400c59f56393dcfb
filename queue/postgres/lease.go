package postgres

import (
	"cmp"
	"context"
	"database/sql"
	"errors"

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
	job, err := queryOne(ctx, tx, scanEnded, cancelJob, tx.Now(), jobID)
	if errors.Is(err, sql.ErrNoRows) {
		return jobsql.CancelError(db.LockLease(ctx, tx, driver.Lease{JobID: jobID}))
	}
	if err != nil {
		return err
	}
	var after aftermath
	after.add(&job, true)
	if err := errors.Join(after.write(ctx, tx), after.limited.write(ctx, tx)); err != nil || !after.freed {
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
	if err := later(ctx, tx, retryJob, tx.Now(), jobID); err != nil || job.LimitKey == "" {
		return err
	}
	return later(ctx, tx, insertHeadsOf, []string{jobID})
}
