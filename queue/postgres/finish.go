package postgres

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/jobrow"
	"github.com/postroom-go/postroom/queue"
)

// Finish implements [queue.Finisher]: one statement for all outcomes, and one each for freed keys, attempt records and
// refused leases where there are any.
func (db *DB) Finish(ctx context.Context, tx *queue.Tx, outcomes []queue.Outcome) ([]error, error) {
	done, err := finishAll(ctx, tx, outcomes)
	if err != nil {
		return nil, err
	}
	var records attemptRows
	var freed keyRows
	var refused []queue.Lease
	for i := range outcomes {
		out := &outcomes[i]
		d, ok := done[out.Lease]
		if !ok {
			refused = append(refused, out.Lease)
			continue
		}
		if out.Kind != queue.KindCompleted {
			records.add(out, d)
		}
		if out.State.Finished() && d.scope == queue.KeyUnfinished {
			freed.add(d.key, out.Lease.JobID)
		}
	}
	if err := errors.Join(freed.delete(ctx, tx), records.insert(ctx, tx)); err != nil {
		return nil, err
	}
	return refusals(ctx, tx, outcomes, done, refused)
}

func refusals(ctx context.Context, tx *queue.Tx, outcomes []queue.Outcome, done map[queue.Lease]finishedJob, refused []queue.Lease) ([]error, error) {
	answers := make([]error, len(outcomes))
	if len(refused) == 0 {
		return answers, nil
	}
	states, err := leaseStates(ctx, tx, refused)
	if err != nil {
		return nil, err
	}
	next := 0
	for i := range outcomes {
		if _, ok := done[outcomes[i].Lease]; !ok {
			answers[i] = states[next]
			next++
		}
	}
	return answers, nil
}

// A finishedJob is what an update tells of a job.
type finishedJob struct {
	lease   queue.Lease
	worker  string
	started time.Time
	key     string
	scope   queue.KeyScope
}

func finishAll(ctx context.Context, tx *queue.Tx, outcomes []queue.Outcome) (map[queue.Lease]finishedJob, error) {
	var ids, states, kinds, failures []string
	var results []*string
	var attempts []int
	var scheduled []bool
	var notBefore, at, finishedAt []*time.Time
	for i := range outcomes {
		out := &outcomes[i]
		ids = append(ids, out.Lease.JobID)
		attempts = append(attempts, out.Lease.Attempt)
		states = append(states, string(out.State))
		kinds = append(kinds, out.Kind)
		scheduled = append(scheduled, out.State == queue.StateQueued && out.NotBefore.After(tx.Now()))
		notBefore = append(notBefore, nullTime(out.NotBefore))
		results = append(results, nullJSON(out.Result))
		failures = append(failures, out.Error)
		at = append(at, nullTime(out.At))
		var end *time.Time
		if out.State.Finished() {
			end = nullTime(out.At)
		}
		finishedAt = append(finishedAt, end)
	}
	rows, err := tx.QueryxContext(ctx, finishJobs, ids, attempts, states, kinds, scheduled, notBefore, results, failures, at, finishedAt)
	list, err := jobrow.Collect(rows, err, func(row jobrow.Scanner) (f finishedJob, err error) {
		var worker, key, scope sql.NullString
		var started dbtime.Time
		err = row.Scan(&f.lease.JobID, &f.lease.Attempt, &worker, &started, &key, &scope)
		f.worker, f.key, f.scope, f.started = worker.String, key.String, queue.KeyScope(scope.String), started.Time
		return f, err
	})
	// By lease: a batch may hold two attempts of one job, of which the earlier is refused.
	done := make(map[queue.Lease]finishedJob, len(list))
	for _, f := range list {
		done[f.lease] = f
	}
	return done, err
}

func nullTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func nullJSON(b []byte) *string {
	if b == nil {
		return nil
	}
	s := string(b)
	return &s
}

type keyRows struct{ keys, ids []string }

func (r *keyRows) add(key, id string) {
	r.keys = append(r.keys, key)
	r.ids = append(r.ids, id)
}

func (r *keyRows) delete(ctx context.Context, tx *queue.Tx) error {
	if len(r.keys) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, deleteKeys, r.keys, r.ids)
	return err
}

type attemptRows struct {
	ids, workers, kinds, failures, stacks []string
	attempts                              []int
	started, finished                     []time.Time
}

func (r *attemptRows) add(out *queue.Outcome, d finishedJob) {
	r.ids = append(r.ids, out.Lease.JobID)
	r.attempts = append(r.attempts, out.Lease.Attempt)
	r.workers = append(r.workers, d.worker)
	r.kinds = append(r.kinds, out.Kind)
	r.failures = append(r.failures, out.Error)
	r.stacks = append(r.stacks, out.Stack)
	r.started = append(r.started, d.started)
	r.finished = append(r.finished, out.At)
}

func (r *attemptRows) insert(ctx context.Context, tx *queue.Tx) error {
	if len(r.ids) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, insertAttempts, r.ids, r.attempts, r.workers, r.kinds, r.failures, r.stacks, r.started, r.finished)
	return err
}

// leaseStates answers each lease: nil when it is held, and else what holds instead.
func leaseStates(ctx context.Context, q sqlx.QueryerContext, leases []queue.Lease) ([]error, error) {
	ids := make([]string, len(leases))
	for i, l := range leases {
		ids[i] = l.JobID
	}
	type job struct {
		id      string
		state   queue.State
		attempt int
	}
	rows, err := q.QueryxContext(ctx, selectLeases, ids)
	list, err := jobrow.Collect(rows, err, func(row jobrow.Scanner) (j job, err error) {
		err = row.Scan(&j.id, &j.state, &j.attempt)
		return j, err
	})
	if err != nil {
		return nil, err
	}
	jobs := make(map[string]job, len(list))
	for _, j := range list {
		jobs[j.id] = j
	}
	answers := make([]error, len(leases))
	for i, l := range leases {
		if j, ok := jobs[l.JobID]; ok {
			answers[i] = jobrow.Lease(l, j.state, j.attempt)
		} else {
			answers[i] = queue.ErrJobNotFound
		}
	}
	return answers, nil
}

// Check implements [queue.Finisher]: it locks the job's row.
func (db *DB) Check(ctx context.Context, tx *queue.Tx, lease queue.Lease) error {
	var state queue.State
	var attempt int
	err := tx.QueryRowxContext(ctx, lockLease, lease.JobID).Scan(&state, &attempt)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return queue.ErrJobNotFound
	case err != nil:
		return err
	}
	return jobrow.Lease(lease, state, attempt)
}

// Cancel implements [queue.Finisher].
func (db *DB) Cancel(ctx context.Context, tx *queue.Tx, jobID string) error {
	var key, scope sql.NullString
	err := tx.QueryRowxContext(ctx, cancelJob, tx.Now(), jobID).Scan(&key, &scope)
	if errors.Is(err, sql.ErrNoRows) {
		err = db.Check(ctx, tx, queue.Lease{JobID: jobID})
		if errors.Is(err, queue.ErrNotRunning) {
			err = queue.ErrFinished
		}
		return err
	}
	if err != nil || queue.KeyScope(scope.String) != queue.KeyUnfinished {
		return err
	}
	freed := keyRows{keys: []string{key.String}, ids: []string{jobID}}
	return freed.delete(ctx, tx)
}

// Retry implements [queue.Finisher]. It writes nothing unless it succeeds: its caller may go on with the transaction.
func (db *DB) Retry(ctx context.Context, tx *queue.Tx, jobID string) error {
	job := queue.InsertJob{ID: jobID}
	var state queue.State
	var key, scope sql.NullString
	var payload []byte
	err := tx.QueryRowxContext(ctx, selectForRetry, jobID).Scan(&state, &job.Type, &payload, &key, &scope)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return queue.ErrJobNotFound
	case err != nil:
		return err
	case state == queue.StateCompleted:
		return queue.ErrFinished
	case !state.Finished():
		return queue.ErrNotFinished
	}
	if queue.KeyScope(scope.String) == queue.KeyUnfinished {
		job.Key = queue.WhileUnfinished(key.String)
		job.Fingerprint = queue.Fingerprint(job.Type, payload)
		taken, err := takeKeys(ctx, tx, []queue.InsertJob{job})
		if err != nil {
			return err
		}
		if taken[0].Duplicate {
			return queue.ErrKeyConflict
		}
	}
	_, err = tx.ExecContext(ctx, retryJob, tx.Now(), jobID)
	return err
}
