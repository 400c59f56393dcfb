package postgres

import (
	"context"
	"database/sql"
	"errors"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// A heldJob is where a job stands.
type heldJob struct {
	id      string
	state   driver.State
	attempt int
}

func scanLease(row jobsql.Scanner) (h heldJob, err error) {
	err = row.Scan(&h.id, &h.state, &h.attempt)
	return h, err
}

func idsOf(leases []driver.Lease) []string {
	ids := make([]string, len(leases))
	for i, l := range leases {
		ids[i] = l.JobID
	}
	return ids
}

// judge answers each lease: nil when it is held, and else what holds instead.
func judge(leases []driver.Lease, held []heldJob) []error {
	jobs := make(map[string]heldJob, len(held))
	for _, h := range held {
		jobs[h.id] = h
	}
	answers := make([]error, len(leases))
	for i, l := range leases {
		if h, ok := jobs[l.JobID]; ok {
			answers[i] = jobsql.LeaseError(l, h.state, h.attempt)
		} else {
			answers[i] = driver.ErrJobNotFound
		}
	}
	return answers
}

// LockLease implements [driver.Finisher]: it locks the job's row.
func (db *DB) LockLease(ctx context.Context, tx *driver.WriteTx, lease driver.Lease) error {
	held, err := query(ctx, tx, scanLease, lockLease, lease.JobID)
	if err != nil {
		return err
	}
	return judge([]driver.Lease{lease}, held)[0]
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
