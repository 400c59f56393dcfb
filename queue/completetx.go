package queue

import (
	"context"
	"errors"

	"github.com/postroom-go/postroom/queue/driver"
)

// errUncommitted is the failure of a handler that has left the completion of its job to a transaction.
var errUncommitted = errors.New("the transaction that was given to CompleteTx has not committed")

// CompleteTx completes the job, with the result of [Attempt.SetResult] and the lines of [Attempt.Logger], as part of a
// transaction: the program's own, which the handler then commits, or one of [DB].Write. It is [Attempt.Complete] for programs
// that begin and commit by themselves. A stale attempt is refused with [ErrLeaseLost]: roll back then.
//
// A handler that has called it and returns nil has completed its job if the transaction has committed by then. Otherwise the
// attempt fails, as it does with an error, or if CompleteTx itself has failed. [EventCompleted] follows when the dispatcher has
// found the job completed.
func (a *Attempt) CompleteTx(ctx context.Context, tx Tx) (err error) {
	if err := a.made("complete"); err != nil {
		return err
	}
	defer func() {
		if a.undone.Store(nil); err != nil {
			a.undone.Store(&err)
		}
	}()
	w, leave, err := a.q.join(ctx, tx)
	if err != nil {
		return wrap("complete", a.job.ID, err)
	}
	defer leave()
	a.joined.Store(w)
	if err := a.complete(ctx, w, a.q.finish); err != nil {
		return err
	}
	w.OnCommit(func() { a.completed.Store(true) })
	return wrap("complete", a.job.ID, a.q.addLogs(ctx, w, a.logLines()))
}

// verdictOf returns the verdict on a handler's error if a transaction was to complete the job. If the transaction has committed,
// the lease refuses the failure.
func (a *Attempt) verdictOf(err error) error {
	if err == nil && a.joined.Load() != nil && !a.completed.Load() {
		return errUncommitted
	}
	return err
}

// settle finds the attempts whose failures were refused because their transactions have committed.
func (c *completer) settle(ctx context.Context, tx *driver.WriteTx, batch []*ending, answers []error) error {
	for i := range batch {
		if batch[i].attempt.joined.Load() == nil || !errors.Is(answers[i], ErrNotRunning) {
			continue
		}
		lease := batch[i].stored.Lease
		jobs, err := c.q.driver.ReadJobs(ctx, tx, []string{lease.JobID})
		if err != nil {
			return err
		}
		batch[i].settled = len(jobs) == 1 && jobs[0].State == StateCompleted && jobs[0].Attempt == lease.Attempt
	}
	return nil
}

// reportJoined reports the end of the job, once the transaction of CompleteTx has ended.
func (e *ending) reportJoined(answer error) {
	switch tx := e.attempt.joined.Load(); {
	case tx == nil:
	case e.settled:
		tx.Committed()
	case answer == nil:
		tx.RolledBack()
	}
}
