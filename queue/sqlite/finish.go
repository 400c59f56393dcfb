package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/jmoiron/sqlx"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/jobrow"
	"github.com/postroom-go/postroom/queue"
)

// Finish implements [queue.Finisher].
func (db *DB) Finish(ctx context.Context, tx *queue.Tx, outcomes []queue.Outcome) ([]error, error) {
	answers := make([]error, len(outcomes))
	for i := range outcomes {
		answer, err := finish(ctx, tx, &outcomes[i])
		if err != nil {
			return nil, err
		}
		answers[i] = answer
	}
	return answers, nil
}

func finish(ctx context.Context, tx *queue.Tx, out *queue.Outcome) (answer, err error) {
	var finishedAt dbtime.Time
	if out.State.Finished() {
		finishedAt = dbtime.Of(out.At)
	}
	scheduled := 0
	if out.State == queue.StateQueued && out.NotBefore.After(tx.Now()) {
		scheduled = 1
	}
	var worker, key, scope sql.NullString
	var started dbtime.Time
	err = tx.QueryRowxContext(ctx, finishJob, string(out.State), scheduled, dbtime.Of(out.NotBefore),
		count(out.Kind == queue.KindFailed), count(out.Kind == queue.KindInterrupted), count(out.Kind == queue.KindCrashed),
		jobrow.NullJSON(out.Result), jobrow.NullText(out.Error), dbtime.Of(out.At), finishedAt, out.Lease.JobID, out.Lease.Attempt).
		Scan(&worker, &started, &key, &scope)
	if errors.Is(err, sql.ErrNoRows) {
		return leaseState(ctx, tx, out.Lease)
	}
	if err != nil {
		return nil, err
	}
	if out.State.Finished() && queue.KeyScope(scope.String) == queue.KeyUnfinished {
		if _, err := tx.ExecContext(ctx, deleteKey, key.String, out.Lease.JobID); err != nil {
			return nil, err
		}
	}
	if out.Kind == queue.KindCompleted {
		return nil, nil
	}
	_, err = tx.ExecContext(ctx, insertAttempt, out.Lease.JobID, out.Lease.Attempt, worker.String, out.Kind,
		out.Error, out.Stack, started, dbtime.Of(out.At))
	return nil, err
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// leaseState answers nil when the lease is held, and else what holds instead.
func leaseState(ctx context.Context, q sqlx.QueryerContext, lease queue.Lease) (answer, err error) {
	var state queue.State
	var attempt int
	err = q.QueryRowxContext(ctx, selectLease, lease.JobID).Scan(&state, &attempt)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return queue.ErrJobNotFound, nil
	case err != nil:
		return nil, err
	}
	return jobrow.Lease(lease, state, attempt), nil
}

// Check implements [queue.Finisher]. The write transaction itself keeps all others from writing.
func (db *DB) Check(ctx context.Context, tx *queue.Tx, lease queue.Lease) error {
	answer, err := leaseState(ctx, tx, lease)
	return errors.Join(answer, err)
}

// Cancel implements [queue.Finisher].
func (db *DB) Cancel(ctx context.Context, tx *queue.Tx, jobID string) error {
	var key, scope sql.NullString
	err := tx.QueryRowxContext(ctx, cancelJob, dbtime.Of(tx.Now()), jobID).Scan(&key, &scope)
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
	_, err = tx.ExecContext(ctx, deleteKey, key.String, jobID)
	return err
}

// Retry implements [queue.Finisher]. It writes nothing unless it succeeds: its caller may go on with the transaction.
func (db *DB) Retry(ctx context.Context, tx *queue.Tx, jobID string) error {
	var state queue.State
	var jobType string
	var payload []byte
	var key, scope sql.NullString
	err := tx.QueryRowxContext(ctx, selectForRetry, jobID).Scan(&state, &jobType, &payload, &key, &scope)
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
		holder, err := takeKey(ctx, tx, queue.Key{Name: key.String, Scope: queue.KeyUnfinished}, jobID, queue.Fingerprint(jobType, payload))
		if err != nil {
			return err
		}
		if holder.Duplicate {
			return queue.ErrKeyConflict
		}
	}
	_, err = tx.ExecContext(ctx, retryJob, dbtime.Of(tx.Now()), jobID)
	return err
}
