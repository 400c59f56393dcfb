package postgres

import (
	"context"
	"database/sql"
	"errors"

	"github.com/postroom-go/postroom/internal/jobrow"
	"github.com/postroom-go/postroom/queue"
)

// A heldJob is where a job stands.
type heldJob struct {
	id      string
	state   queue.State
	attempt int
}

func scanLease(row jobrow.Scanner) (h heldJob, err error) {
	err = row.Scan(&h.id, &h.state, &h.attempt)
	return h, err
}

func idsOf(leases []queue.Lease) []string {
	ids := make([]string, len(leases))
	for i, l := range leases {
		ids[i] = l.JobID
	}
	return ids
}

// judge answers each lease: nil when it is held, and else what holds instead.
func judge(leases []queue.Lease, held []heldJob) []error {
	jobs := make(map[string]heldJob, len(held))
	for _, h := range held {
		jobs[h.id] = h
	}
	answers := make([]error, len(leases))
	for i, l := range leases {
		if h, ok := jobs[l.JobID]; ok {
			answers[i] = jobrow.Lease(l, h.state, h.attempt)
		} else {
			answers[i] = queue.ErrJobNotFound
		}
	}
	return answers
}

// Check implements [queue.Finisher]: it locks the job's row.
func (db *DB) Check(ctx context.Context, tx *queue.Tx, lease queue.Lease) error {
	held, err := query(ctx, tx, scanLease, lockLease, lease.JobID)
	if err != nil {
		return err
	}
	return judge([]queue.Lease{lease}, held)[0]
}

// Cancel implements [queue.Finisher].
func (db *DB) Cancel(ctx context.Context, tx *queue.Tx, jobID string) error {
	job, err := queryOne(ctx, tx, scanEnded, cancelJob, tx.Now(), jobID)
	if errors.Is(err, sql.ErrNoRows) {
		err = db.Check(ctx, tx, queue.Lease{JobID: jobID})
		if errors.Is(err, queue.ErrNotRunning) {
			err = queue.ErrFinished
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
	queue.InsertJob
	state queue.State
}

func scanRetried(row jobrow.Scanner) (r retriedJob, err error) {
	var key, scope, limitKey sql.NullString
	var payload []byte
	err = row.Scan(&r.ID, &r.state, &r.Type, &payload, &key, &scope, &limitKey)
	r.Key = queue.Key{Name: key.String, Scope: queue.KeyScope(scope.String)}
	r.Payload, r.LimitKey = payload, limitKey.String
	return r, err
}

// Retry implements [queue.Finisher]. It writes nothing unless it succeeds: its caller may go on with the transaction.
func (db *DB) Retry(ctx context.Context, tx *queue.Tx, jobID string) error {
	job, err := queryOne(ctx, tx, scanRetried, selectForRetry, jobID)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return queue.ErrJobNotFound
	case err != nil:
		return err
	case job.state == queue.StateCompleted:
		return queue.ErrFinished
	case !job.state.Finished():
		return queue.ErrNotFinished
	}
	if scope := job.Key.Scope; scope == queue.KeyUnfinished || scope == queue.KeyCoalesce || scope == queue.KeyForever {
		job.Fingerprint = queue.Fingerprint(job.Type, job.Payload)
		taken, err := takeKeys(ctx, tx, []queue.InsertJob{job.InsertJob})
		if err != nil {
			return err
		}
		if taken[0].Duplicate {
			return queue.ErrKeyConflict
		}
	}
	if err := later(ctx, tx, retryJob, tx.Now(), jobID); err != nil {
		return err
	}
	var limited marks
	limited.add(job.LimitKey, atOnce)
	return limited.write(ctx, tx)
}
