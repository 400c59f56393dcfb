package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/postroom-go/postroom/internal/dbtime"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// Finish implements [driver.Finisher].
func (db *engine) Finish(ctx context.Context, tx *driver.WriteTx, outcomes []driver.Outcome) ([]error, error) {
	if err := driver.CheckOutcomes(outcomes); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(outcomes, func(out driver.Outcome) bool { return !isPlain(&out) }) {
		if done, err := completePlain(ctx, tx, pointers(outcomes)); err != nil || done {
			return make([]error, len(outcomes)), errors.Join(err, db.wakeAtCommit(ctx, tx))
		}
	}
	answers, ended, err := finish(ctx, tx, outcomes)
	if err != nil {
		return nil, err
	}
	if err := release(ctx, tx, ended); err != nil {
		return nil, err
	}
	return answers, db.wakeLimited(ctx, tx, ended)
}

var _ driver.FinishClaimer = (*engine)(nil)

// FinishAndClaim implements [driver.FinishClaimer]. The keys that the ends free are looked at by the claim at once,
// without being marked.
func (db *engine) FinishAndClaim(
	ctx context.Context, tx *driver.WriteTx, outcomes []driver.Outcome, req driver.ClaimRequest,
) (answers []error, claimed func() driver.ClaimResult, err error) {
	if err := driver.CheckOutcomes(outcomes); err != nil {
		return nil, nil, err
	}
	answers, ended, err := finish(ctx, tx, outcomes)
	if err != nil {
		return nil, nil, err
	}
	freed, err := releaseKeys(ctx, tx, ended)
	if err == nil {
		freed, err = freed.shut(ctx, tx)
	}
	if err != nil {
		return nil, nil, err
	}
	t := txClaim{req: req, freed: freed}
	if err := db.claimIn(ctx, tx, &t); err != nil {
		return nil, nil, err
	}
	if t.result.More || t.open || t.todo.tasks { // others may run what tasks have released
		err = db.Notify(ctx, tx)
	} else {
		err = db.wakeLimited(ctx, tx, nil)
	}
	return answers, func() driver.ClaimResult { return t.result }, err
}

// finish ends the jobs, and frees nothing that they held.
func finish(ctx context.Context, tx *driver.WriteTx, outcomes []driver.Outcome) ([]error, []endedJob, error) {
	ended, err := end(ctx, tx, outcomes)
	if err != nil {
		return nil, nil, err
	}
	// By lease: a batch may hold two attempts of one job, of which the earlier is refused.
	done := make(map[driver.Lease]*endedJob, len(ended))
	for i := range ended {
		done[driver.Lease{JobID: ended[i].id, Attempt: ended[i].attempt}] = &ended[i]
	}
	answers := make([]error, len(outcomes))
	for i := range outcomes {
		job, ok := done[outcomes[i].Lease]
		if !ok {
			if answers[i], err = leaseState(ctx, tx, outcomes[i].Lease); err != nil {
				return nil, nil, err
			}
			continue
		}
		if err := job.record(ctx, tx, &outcomes[i]); err != nil {
			return nil, nil, err
		}
		job.finished = outcomes[i].State.Finished()
	}
	return answers, ended, nil
}

// end writes the jobs' own rows and returns those whose leases were held.
func end(ctx context.Context, tx *driver.WriteTx, outcomes []driver.Outcome) ([]endedJob, error) {
	var plain, completed, others []*driver.Outcome
	for _, out := range pointers(outcomes) {
		switch {
		case out.Kind != driver.KindCompleted:
			others = append(others, out)
		case out.Plain:
			plain = append(plain, out)
		default:
			completed = append(completed, out)
		}
	}
	done, err := completePlain(ctx, tx, plain)
	if err != nil {
		return nil, err
	}
	ended := make([]endedJob, 0, len(outcomes))
	if !done {
		completed, plain = append(completed, plain...), nil
	}
	for _, out := range plain {
		ended = append(ended, endedJob{id: out.Lease.JobID, attempt: out.Lease.Attempt})
	}
	for chunk := range slices.Chunk(completed, maxRows) {
		rows, err := tx.QueryContext(ctx, completeReturning[len(chunk)], completeArgs(chunk)...)
		some, err := jobsql.Collect(rows, err, scanEnded)
		if err != nil {
			return nil, err
		}
		ended = append(ended, some...)
	}
	if len(others) == 0 {
		return ended, nil
	}
	rows, err := tx.QueryContext(ctx, finishJobs, finishRows(others, tx.Now()))
	some, err := jobsql.Collect(rows, err, scanEnded)
	return append(ended, some...), err
}

func pointers(outcomes []driver.Outcome) []*driver.Outcome {
	to := make([]*driver.Outcome, len(outcomes))
	for i := range outcomes {
		to[i] = &outcomes[i]
	}
	return to
}

// record keeps how an attempt ended that did not simply succeed.
func (e *endedJob) record(ctx context.Context, tx *driver.WriteTx, out *driver.Outcome) error {
	if out.Kind == driver.KindCompleted || out.Kind == driver.KindReleased {
		return nil
	}
	started := e.started
	if started.IsZero() { // somebody has altered the row
		started = out.At
	}
	_, err := tx.ExecContext(ctx, insertAttempt, out.Lease.JobID, out.Lease.Attempt, e.worker, out.Kind,
		out.Error, out.Stack, dbtime.Of(started), dbtime.Of(out.At))
	return err
}

// An endedJob is a job that no longer runs, and everything that it held.
type endedJob struct {
	id       string
	attempt  int
	worker   string
	started  time.Time
	key      string
	scope    driver.KeyScope
	limitKey string
	finished bool // and not to be run again
	waited   bool // or may have: it did not surely run
}

func scanEnded(row jobsql.Scanner) (e endedJob, err error) {
	var worker, key, scope, limitKey sql.NullString
	var started jobsql.Instant
	err = row.Scan(&e.id, &e.attempt, &worker, &started, &key, &scope, &limitKey)
	e.worker, e.key, e.scope, e.limitKey, e.started = worker.String, key.String, driver.KeyScope(scope.String),
		limitKey.String, started.Time
	return e, err
}

// release frees everything that the jobs held.
func release(ctx context.Context, tx *driver.WriteTx, ended []endedJob) error {
	freed, err := releaseKeys(ctx, tx, ended)
	if err != nil {
		return err
	}
	return freed.writeFreed(ctx, tx)
}

// releaseKeys frees everything that the jobs held, and returns the limit keys that may now have capacity.
func releaseKeys(ctx context.Context, tx *driver.WriteTx, ended []endedJob) (freed marks, err error) {
	freed = newMarks()
	changed := newMarks()
	for i := range ended {
		e := &ended[i]
		if e.finished && !e.waited {
			freed.add(e.limitKey)
		} else {
			changed.add(e.limitKey)
		}
		if err := e.releaseKey(ctx, tx); err != nil {
			return nil, err
		}
	}
	return freed, changed.write(ctx, tx)
}

func (e *endedJob) releaseKey(ctx context.Context, tx *driver.WriteTx) (err error) {
	switch {
	case e.finished && (e.scope == driver.KeyUnfinished || e.scope == driver.KeyCoalesce):
		_, err = tx.ExecContext(ctx, deleteKey, e.key, e.id)
	case !e.finished && e.scope == driver.KeyCoalesce:
		err = e.takeKeyAgain(ctx, tx)
	}
	return err
}

// takeKeyAgain is for a coalescing job that waits again: it gets its key, or is canceled if another job waits under it.
func (e *endedJob) takeKeyAgain(ctx context.Context, tx *driver.WriteTx) error {
	job, err := jobsql.ScanHolder(tx.QueryRowContext(ctx, jobsql.SelectHolder, e.id))
	if err != nil {
		return err
	}
	holder, err := takeKey(ctx, tx, driver.Key{Name: e.key, Scope: e.scope}, e.id, job.Type,
		driver.Fingerprint(job.Type, job.Payload))
	if err == nil && holder.Duplicate {
		_, err = tx.ExecContext(ctx, supersedeJob, dbtime.Of(tx.Now()), e.id, e.key)
	}
	return err
}

// wakeLimited wakes dispatchers if the ends of jobs may have made capacity under a limit, or have opened a node.
func (db *engine) wakeLimited(ctx context.Context, tx *driver.WriteTx, ended []endedJob) error {
	for i := range ended {
		if ended[i].limitKey != "" {
			return db.Notify(ctx, tx)
		}
	}
	opened, err := mayOpen(ctx, tx)
	if err != nil || !opened {
		return err
	}
	return db.Notify(ctx, tx)
}

// wakeAtCommit is wakeLimited for jobs that were in no sequence either: the writer asks once for all whose ends it
// commits together. The turn that the end of a job leaves may be given, and no longer be seen, before that commit.
func (db *engine) wakeAtCommit(ctx context.Context, tx *driver.WriteTx) error {
	if s := db.writer.statements; ownStatements(tx) == s {
		s.ended.Store(true)
		return nil
	}
	return db.wakeLimited(ctx, tx, nil)
}

// mayOpen reports whether the end of a job without a limit key may let others start.
func mayOpen(ctx context.Context, q queryer) (opened bool, err error) {
	return opened, scanRow(ctx, q, selectOpened, nil, &opened)
}

// finishRows is the array that finishJobs reads.
func finishRows(outcomes []*driver.Outcome, now time.Time) string {
	var rows jsonRows
	for _, out := range outcomes {
		hold, finished := driver.HoldNone, time.Time{}
		if out.State.Finished() {
			finished = out.At
		} else {
			hold = jobsql.HoldFor(out.NotBefore, now, "")
		}
		rows.begin()
		rows.text(out.Lease.JobID)
		rows.int(out.Lease.Attempt)
		rows.text(string(out.State))
		rows.int(int(hold))
		rows.time(out.NotBefore)
		rows.int(count(out.Kind == driver.KindFailed))
		rows.int(count(out.Kind == driver.KindInterrupted))
		rows.int(count(out.Kind == driver.KindCrashed))
		rows.text(string(out.Result))
		rows.text(out.Error)
		rows.time(out.At)
		rows.time(finished)
		rows.int(count(out.Kind == driver.KindWaiting))
	}
	return rows.end()
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// leaseState returns nil if the lease is held, otherwise the error.
func leaseState(ctx context.Context, q queryer, lease driver.Lease) (answer, err error) {
	var state driver.State
	var attempt int
	err = scanRow(ctx, q, selectLease, []any{lease.JobID}, &state, &attempt)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return driver.ErrJobNotFound, nil
	case err != nil:
		return nil, err
	}
	return jobsql.LeaseError(lease, state, attempt), nil
}

// LockLease implements [driver.Finisher]. The write transaction itself keeps all others from writing.
func (db *engine) LockLease(ctx context.Context, tx *driver.WriteTx, lease driver.Lease) error {
	answer, err := leaseState(ctx, tx, lease)
	return errors.Join(answer, err)
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
	var jobs jsonRows
	for i, reason := range req.Reasons() {
		jobs.pair(req.JobIDs[i], reason)
	}
	now, named := dbtime.Of(tx.Now()), jobs.end()
	if slices.Contains(req.States, driver.StateRunning) {
		if _, err := tx.ExecContext(ctx, recordCanceled, now, named); err != nil {
			return nil, err
		}
	}
	rows, err := tx.QueryContext(ctx, cancelJobs, now, named, list(req.States))
	ended, err := jobsql.Collect(rows, err, scanCanceled)
	if err != nil || len(ended) == 0 {
		return nil, err
	}
	for i := range ended {
		canceled = append(canceled, ended[i].id)
	}
	if err := release(ctx, tx, ended); err != nil {
		return nil, err
	}
	return canceled, db.wakeLimited(ctx, tx, ended)
}

func scanCanceled(row jobsql.Scanner) (endedJob, error) {
	e := endedJob{finished: true, waited: true}
	var key, scope, limitKey sql.NullString
	err := row.Scan(&e.id, &key, &scope, &limitKey)
	e.key, e.scope, e.limitKey = key.String, driver.KeyScope(scope.String), limitKey.String
	return e, err
}

// Retry implements [driver.Finisher]. It writes nothing unless it succeeds: its caller may go on with the transaction.
func (db *engine) Retry(ctx context.Context, tx *driver.WriteTx, jobID string) error {
	var state driver.State
	var jobType string
	var payload []byte
	var key, scope, limitKey sql.NullString
	err := tx.QueryRowContext(ctx, selectForRetry, jobID).Scan(&state, &jobType, &payload, &key, &scope, &limitKey)
	if errors.Is(err, sql.ErrNoRows) {
		err = driver.ErrJobNotFound
	}
	if err := cmp.Or(err, jobsql.RetryError(state)); err != nil {
		return err
	}
	if held := driver.KeyScope(scope.String); jobsql.TakesKeyAgain(held) {
		holder, err := takeKey(ctx, tx, driver.Key{Name: key.String, Scope: held}, jobID, jobType,
			driver.Fingerprint(jobType, payload))
		if err != nil {
			return err
		}
		if holder.Duplicate {
			return driver.ErrKeyConflict
		}
	}
	if _, err := tx.ExecContext(ctx, retryJob, dbtime.Of(tx.Now()), jobID); err != nil {
		return err
	}
	keys := newMarks()
	keys.add(limitKey.String)
	return keys.write(ctx, tx)
}

// Hasten implements [driver.Finisher].
func (db *engine) Hasten(ctx context.Context, tx *driver.WriteTx, jobID string) error {
	keys := newMarks()
	var limitKey string
	err := tx.QueryRowContext(ctx, hastenJob, dbtime.Of(tx.Now()), jobID).Scan(&limitKey)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	keys.add(limitKey)
	return keys.write(ctx, tx)
}
