package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/jobrow"
	"github.com/postroom-go/postroom/queue"
)

// Finish implements [queue.Finisher].
func (db *DB) Finish(ctx context.Context, tx *queue.Tx, outcomes []queue.Outcome) ([]error, error) {
	ended, err := end(ctx, tx, outcomes)
	if err != nil {
		return nil, err
	}
	// By lease: a batch may hold two attempts of one job, of which the earlier is refused.
	done := make(map[queue.Lease]*endedJob, len(ended))
	for i := range ended {
		done[queue.Lease{JobID: ended[i].id, Attempt: ended[i].attempt}] = &ended[i]
	}
	answers := make([]error, len(outcomes))
	for i := range outcomes {
		job, ok := done[outcomes[i].Lease]
		if !ok {
			if answers[i], err = leaseState(ctx, tx, outcomes[i].Lease); err != nil {
				return nil, err
			}
			continue
		}
		if err := job.record(ctx, tx, &outcomes[i]); err != nil {
			return nil, err
		}
		job.finished = outcomes[i].State.Finished()
	}
	if err := release(ctx, tx, ended); err != nil {
		return nil, err
	}
	return answers, db.wakeLimited(ctx, tx, ended)
}

// end writes the jobs' own rows and returns those whose leases were held.
func end(ctx context.Context, tx *queue.Tx, outcomes []queue.Outcome) ([]endedJob, error) {
	var plain, completed, others []*queue.Outcome
	for i := range outcomes {
		switch out := &outcomes[i]; {
		case out.Kind != queue.KindCompleted:
			others = append(others, out)
		case out.Plain:
			plain = append(plain, out)
		default:
			completed = append(completed, out)
		}
	}
	ended, err := completePlain(ctx, tx, plain)
	if err != nil {
		return nil, err
	}
	if len(ended) < len(plain) {
		completed = append(completed, plain...)
	}
	for chunk := range slices.Chunk(completed, maxRows) {
		rows, err := tx.QueryxContext(ctx, completeReturning[len(chunk)], completeArgs(chunk)...)
		some, err := jobrow.Collect(rows, err, scanEnded)
		if err != nil {
			return nil, err
		}
		ended = append(ended, some...)
	}
	if len(others) == 0 {
		return ended, nil
	}
	rows, err := tx.QueryxContext(ctx, finishJobs, finishRows(others, tx.Now()))
	some, err := jobrow.Collect(rows, err, scanEnded)
	return append(ended, some...), err
}

var completeStatements, completeReturning = completions(""), completions(returningEnded)

func completions(returning string) [maxRows + 1]string {
	return valueStatements(completeJobs, ofHeldLeases+returning, 1, func(first int) string {
		return fmt.Sprintf("($%d, $%d, $%d, $%d)", first, first+1, first+2, first+3)
	}, 4)
}

func completeArgs(outcomes []*queue.Outcome) []any {
	args := make([]any, 0, 4*len(outcomes))
	for _, out := range outcomes {
		args = append(args, out.Lease.JobID, out.Lease.Attempt, null(string(out.Result)), dbtime.Format(out.At))
	}
	return args
}

// completePlain spares the database telling which jobs have ended: as a rule, all that were to. Else it writes nothing and
// returns none.
func completePlain(ctx context.Context, tx *queue.Tx, outcomes []*queue.Outcome) ([]endedJob, error) {
	if len(outcomes) == 0 {
		return nil, nil
	}
	if _, err := tx.ExecContext(ctx, "SAVEPOINT postroom_plain"); err != nil {
		return nil, err
	}
	ended, err := completeWhileHeld(ctx, tx, outcomes)
	if len(ended) < len(outcomes) {
		ended = nil
		_, e := tx.ExecContext(ctx, "ROLLBACK TO postroom_plain")
		err = errors.Join(err, e)
	}
	_, e := tx.ExecContext(ctx, "RELEASE postroom_plain")
	return ended, errors.Join(err, e)
}

// completeWhileHeld stops where a lease is not held any more.
func completeWhileHeld(ctx context.Context, tx *queue.Tx, outcomes []*queue.Outcome) (ended []endedJob, err error) {
	for chunk := range slices.Chunk(outcomes, maxRows) {
		res, err := tx.ExecContext(ctx, completeStatements[len(chunk)], completeArgs(chunk)...)
		if err != nil {
			return nil, err
		}
		if n, err := res.RowsAffected(); err != nil || n != int64(len(chunk)) {
			return nil, err
		}
		for _, out := range chunk {
			ended = append(ended, endedJob{id: out.Lease.JobID, attempt: out.Lease.Attempt})
		}
	}
	return ended, nil
}

// record keeps how an attempt ended that did not simply succeed.
func (e *endedJob) record(ctx context.Context, tx *queue.Tx, out *queue.Outcome) error {
	if out.Kind == queue.KindCompleted || out.Kind == queue.KindReleased {
		return nil
	}
	_, err := tx.ExecContext(ctx, insertAttempt, out.Lease.JobID, out.Lease.Attempt, e.worker, out.Kind,
		out.Error, out.Stack, e.started, dbtime.Of(out.At))
	return err
}

// An endedJob is a job that runs no more, and what it held.
type endedJob struct {
	id       string
	attempt  int
	worker   string
	started  dbtime.Time
	key      string
	scope    queue.KeyScope
	limitKey string
	finished bool // and not to be run again
	waited   bool // or may have: it did not surely run
}

func scanEnded(row jobrow.Scanner) (e endedJob, err error) {
	var worker, key, scope, limitKey sql.NullString
	err = row.Scan(&e.id, &e.attempt, &worker, &e.started, &key, &scope, &limitKey)
	e.worker, e.key, e.scope, e.limitKey = worker.String, key.String, queue.KeyScope(scope.String), limitKey.String
	return e, err
}

// release frees what the jobs held.
func release(ctx context.Context, tx *queue.Tx, ended []endedJob) error {
	freed, changed := newMarks(), newMarks()
	for i := range ended {
		e := &ended[i]
		if e.finished && !e.waited {
			freed.add(e.limitKey)
		} else {
			changed.add(e.limitKey)
		}
		if err := e.releaseKey(ctx, tx); err != nil {
			return err
		}
	}
	return errors.Join(freed.writeFreed(ctx, tx), changed.write(ctx, tx))
}

func (e *endedJob) releaseKey(ctx context.Context, tx *queue.Tx) (err error) {
	switch {
	case e.finished && (e.scope == queue.KeyUnfinished || e.scope == queue.KeyCoalesce):
		_, err = tx.ExecContext(ctx, deleteKey, e.key, e.id)
	case !e.finished && e.scope == queue.KeyCoalesce:
		err = e.takeKeyAgain(ctx, tx)
	}
	return err
}

// takeKeyAgain is for a job that coalesces and waits again: under its key, or not at all where another waits under it.
func (e *endedJob) takeKeyAgain(ctx context.Context, tx *queue.Tx) error {
	var jobType string
	var payload []byte
	if err := tx.QueryRowxContext(ctx, selectHolder, e.id).Scan(&jobType, &payload); err != nil {
		return err
	}
	holder, err := takeKey(ctx, tx, queue.Key{Name: e.key, Scope: e.scope}, e.id, queue.Fingerprint(jobType, payload))
	if err == nil && holder.Duplicate {
		_, err = tx.ExecContext(ctx, supersedeJob, dbtime.Of(tx.Now()), e.id, e.key)
	}
	return err
}

// wakeLimited tells dispatchers when what has ended may have made room under a limit.
func (db *DB) wakeLimited(ctx context.Context, tx *queue.Tx, ended []endedJob) error {
	for i := range ended {
		if ended[i].limitKey != "" {
			return db.Notify(ctx, tx)
		}
	}
	var limited bool
	if err := tx.QueryRowxContext(ctx, selectTypesLimited).Scan(&limited); err != nil || !limited {
		return err
	}
	return db.Notify(ctx, tx)
}

// finishRows is the array that finishJobs reads.
func finishRows(outcomes []*queue.Outcome, now time.Time) string {
	var rows jsonRows
	for _, out := range outcomes {
		hold, finished := jobrow.HoldNone, time.Time{}
		if out.State.Finished() {
			finished = out.At
		} else {
			hold = jobrow.HoldFor(out.NotBefore, now, "")
		}
		rows.begin()
		rows.text(out.Lease.JobID)
		rows.int(out.Lease.Attempt)
		rows.text(string(out.State))
		rows.int(int(hold))
		rows.time(out.NotBefore)
		rows.int(count(out.Kind == queue.KindFailed))
		rows.int(count(out.Kind == queue.KindInterrupted))
		rows.int(count(out.Kind == queue.KindCrashed))
		rows.text(string(out.Result))
		rows.text(out.Error)
		rows.time(out.At)
		rows.time(finished)
	}
	return rows.end()
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
	if _, err := tx.ExecContext(ctx, recordCanceled, dbtime.Of(tx.Now()), jobID); err != nil {
		return err
	}
	var key, scope, limitKey sql.NullString
	err := tx.QueryRowxContext(ctx, cancelJob, dbtime.Of(tx.Now()), jobID).Scan(&key, &scope, &limitKey)
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
	ended := []endedJob{{
		id: jobID, key: key.String, scope: queue.KeyScope(scope.String), limitKey: limitKey.String, finished: true, waited: true,
	}}
	if err := release(ctx, tx, ended); err != nil {
		return err
	}
	return db.wakeLimited(ctx, tx, ended)
}

// Retry implements [queue.Finisher]. It writes nothing unless it succeeds: its caller may go on with the transaction.
func (db *DB) Retry(ctx context.Context, tx *queue.Tx, jobID string) error {
	var state queue.State
	var jobType string
	var payload []byte
	var key, scope, limitKey sql.NullString
	err := tx.QueryRowxContext(ctx, selectForRetry, jobID).Scan(&state, &jobType, &payload, &key, &scope, &limitKey)
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
	if held := queue.KeyScope(scope.String); held == queue.KeyUnfinished || held == queue.KeyCoalesce || held == queue.KeyForever {
		holder, err := takeKey(ctx, tx, queue.Key{Name: key.String, Scope: held}, jobID, queue.Fingerprint(jobType, payload))
		if err != nil {
			return err
		}
		if holder.Duplicate {
			return queue.ErrKeyConflict
		}
	}
	if _, err := tx.ExecContext(ctx, retryJob, dbtime.Of(tx.Now()), jobID); err != nil {
		return err
	}
	keys := newMarks()
	keys.add(limitKey.String)
	return keys.write(ctx, tx)
}
