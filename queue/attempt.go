package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
	"go.opentelemetry.io/otel/trace"
)

// An Attempt is one run of one job. A handler receives it, and [Queue.Claim] returns it. Its writes are refused with
// [ErrLeaseLost] once it no longer holds the job, and with [ErrNotRunning] once the job does not run.
type Attempt struct {
	// Job is the job as it was claimed. A handler's changes to it have no effect elsewhere.
	Job Job

	job       *Job // the same, and the handler's to leave alone
	q         *Queue
	log       *slog.Logger // the dispatcher's
	unread    error        // why the payload could not be decoded
	byHand    bool         // claimed by the program itself, with Claim
	completed atomic.Bool
	// undone is why the latest Complete has failed; nil when none has.
	undone atomic.Pointer[error]
	// adopted is the transaction given to CompleteTx; whether one of the program's own commits, only the database
	// knows.
	adopted atomic.Pointer[driver.WriteTx]
	result  atomic.Pointer[any]

	began time.Time  // by the clock of the queue; zero until its handler begins
	span  trace.Span // of the handler, on its goroutine
	// spanContext is the context of span, for other goroutines; nil without one.
	spanContext atomic.Pointer[trace.SpanContext]

	mu    sync.Mutex
	steps map[string]StepRecord // nil until read
	stale bool                  // they must be read in a first attempt as well
	// saving is the transaction in which a cursor was saved last, until it is known how it has ended.
	saving *driver.WriteTx
	// underWay are the steps that run now.
	underWay map[string]bool
	// parked is the end of the attempt, once Await has written it.
	parked  atomic.Pointer[parking]
	awaits  map[string]int  // signals that were answered in this attempt, by name
	signals []driver.Signal // of earlier attempts; nil until read
	kept    *keptLog        // nil until the handler asks for its logger
}

// Work is an attempt with its payload decoded. A handler receives it.
type Work[P any] struct {
	*Attempt
	Payload P
}

var errMadeUp = errors.New(
	"no claim has returned this attempt: a dispatcher, and Queue.Claim, make attempts; to test a handler, use package queuetest")

// made refuses an attempt that a program has made by itself, or none.
func (a *Attempt) made(op string) error {
	if a == nil || a.q == nil {
		return wrap(op, "", errMadeUp)
	}
	return nil
}

func newAttempt(q *Queue, log *slog.Logger, job *Job, unread error) *Attempt {
	return &Attempt{Job: *job, job: job, q: q, log: log, unread: unread}
}

// String describes the attempt for logs, as [Job.String] does.
func (a *Attempt) String() string {
	if a == nil {
		return "no attempt"
	}
	return a.Job.String()
}

// Queue is the queue the job came from.
func (a *Attempt) Queue() *Queue { return a.q }

// SetResult sets the result that is stored as JSON when the job completes. The last call counts, also in the function
// of [Attempt.Complete]; one that comes after the completion is too late, and is ignored. A result that is not valid
// JSON, or larger than [Config].MaxPayload, fails the job for good.
func (a *Attempt) SetResult(result any) { a.result.Store(&result) }

func (a *Attempt) resultValue() any {
	if p := a.result.Load(); p != nil {
		return *p
	}
	return nil
}

// Ends reports whether the handler's returning err would end the job for good, and not have it run again: attempts,
// budgets and marks such as [Fatal] are weighed as they will be then. It is for handlers that settle something of their
// own on the last failure.
func (a *Attempt) Ends(err error) bool {
	if madeUp := a.made("judge"); madeUp != nil {
		panic(madeUp)
	}
	return err != nil && a.waits() == nil && judge(a.job, err, a.q.now(), a.q.retry, a.q.budget).State.Finished()
}

// Write runs fn in a write transaction that only commits if the attempt still holds its job. Where it does not, the
// first statement of fn fails, if fn is called at all. fn does database work only; see [DB].
func (a *Attempt) Write(ctx context.Context, fn func(ctx context.Context, tx Tx) error) error {
	if err := a.made("write"); err != nil {
		return err
	}
	if fn == nil {
		return wrap("write", a.job.ID, driver.ErrNilFunc)
	}
	return a.write(ctx, func(ctx context.Context, tx *driver.WriteTx) error { return fn(ctx, tx) })
}

func (a *Attempt) write(ctx context.Context, fn func(ctx context.Context, tx *driver.WriteTx) error) error {
	err := a.q.write(ctx, func(ctx context.Context, tx *driver.WriteTx) error {
		if err := a.q.lockLease(ctx, tx, a.job.lease()); err != nil {
			return wrap("write", a.job.ID, err)
		}
		return fn(ctx, tx)
	})
	return refused("write", a.job.ID, err)
}

// Complete commits the handler's writes, the jobs it enqueues with the transaction, and the completion of this job
// together: all of them happen, or none. It is the last thing a handler does. A job whose handler returns nil without
// it is completed as well. fn may be nil.
//
// When Complete fails and the handler returns nil, the attempt fails with the error of Complete. A handler may call it
// again: then the last call counts.
func (a *Attempt) Complete(ctx context.Context, fn func(ctx context.Context, tx Tx) error) (err error) {
	if err := a.made("complete"); err != nil {
		return err
	}
	err = errUnwound
	defer func() {
		if err != nil && !a.completed.Load() {
			a.settle(err)
		}
	}()
	err = a.q.write(ctx, func(ctx context.Context, tx *driver.WriteTx) error {
		// First, so that a stale attempt is refused before anything that fn writes.
		if err := a.complete(ctx, tx, a.q.finishLater); err != nil {
			return err
		}
		tx.OnCommit(func() { a.settle(nil) }) // also where a function that is called after it panics
		if fn != nil {
			stored := a.result.Load()
			if err := fn(ctx, tx); err != nil {
				return err
			}
			if a.result.Load() != stored {
				if err := a.replaceResult(ctx, tx); err != nil {
					return wrap("complete", a.job.ID, err)
				}
			}
		}
		return a.q.addLogs(ctx, tx, a.logLines())
	})
	return refused("complete", a.job.ID, err)
}

// errUnwound is the error of a Complete that a panic, or runtime.Goexit, has left.
var errUnwound = errors.New("it did not return")

// settle stores the result of completing the job.
func (a *Attempt) settle(err error) {
	if err != nil {
		a.undone.Store(&err)
		return
	}
	a.completed.Store(true)
}

// unsettled returns the error of a handler that returned nil: the error of a failed Complete, if the job is not
// completed.
func (a *Attempt) unsettled() error {
	if err := a.undone.Load(); err != nil && !a.completed.Load() {
		return fmt.Errorf("the handler returned nil after Complete had failed: %w", *err)
	}
	return nil
}

// complete completes the attempt's job in the transaction.
func (a *Attempt) complete(ctx context.Context, tx *driver.WriteTx, finish finisher) error {
	out := driver.Outcome{Lease: a.job.lease(), State: StateCompleted, Kind: KindCompleted, At: tx.Now(),
		Plain: a.job.plain()}
	var err error
	if out.Result, err = a.encodedResult(); err == nil {
		err = finish(ctx, tx, out)
	}
	if err == nil {
		err = a.q.recordEnd(ctx, tx, &out, a)
	}
	return wrap("complete", a.job.ID, err)
}

// encodedResult returns what is stored of the result, or nil if there is none.
func (a *Attempt) encodedResult() (json.RawMessage, error) {
	result := a.resultValue()
	if result == nil {
		return nil, nil
	}
	stored, err := a.q.encodeAt(resultPlace(a.job.ID), result)
	if err != nil {
		return nil, Fatal(fmt.Errorf("result: %w", err))
	}
	return stored, nil
}

// replaceResult stores a result that was set after the job was completed.
func (a *Attempt) replaceResult(ctx context.Context, tx *driver.WriteTx) error {
	stored, err := a.encodedResult()
	if err != nil {
		return err
	}
	return a.q.driver.SetResult(ctx, tx, a.job.ID, stored)
}

// A finisher writes one outcome.
type finisher func(ctx context.Context, tx *driver.WriteTx, out driver.Outcome) error

// finishLater is finish for a transaction that has no effect if the outcome is refused: the refusal may come with the
// next statement of the transaction.
func (q *Queue) finishLater(ctx context.Context, tx *driver.WriteTx, out driver.Outcome) error {
	if q.fence != nil && out.Plain {
		return q.fence.CompleteLater(ctx, tx, out)
	}
	return q.finish(ctx, tx, out)
}

// lockLease keeps a transaction from committing where the lease is not held.
func (q *Queue) lockLease(ctx context.Context, tx *driver.WriteTx, lease driver.Lease) error {
	if q.fence != nil {
		return q.fence.LockLeaseLater(ctx, tx, lease)
	}
	return q.driver.LockLease(ctx, tx, lease)
}

// refused wraps a refusal that came with a later statement of a transaction, or with its commit.
func refused(op, jobID string, err error) error {
	if e := (*Error)(nil); errors.As(err, &e) {
		return err
	}
	if errors.Is(err, ErrLeaseLost) || errors.Is(err, ErrNotRunning) || errors.Is(err, ErrJobNotFound) {
		return wrap(op, jobID, err)
	}
	return err
}

// fail ends the running attempt of a job with an error.
func (q *Queue) fail(ctx context.Context, job *Job, cause error) error {
	return q.write(ctx, func(ctx context.Context, tx *driver.WriteTx) error { return q.failTx(ctx, tx, job, cause) })
}

func (q *Queue) failTx(ctx context.Context, tx *driver.WriteTx, job *Job, cause error) error {
	out := judge(job, cause, tx.Now(), q.retry, q.budget)
	err := q.finish(ctx, tx, *q.stored(&out))
	if err == nil {
		err = q.recordFailure(ctx, tx, job, &out)
	}
	if err != nil {
		return wrap("fail", job.ID, err)
	}
	return q.driver.Notify(ctx, tx)
}

func (q *Queue) finish(ctx context.Context, tx *driver.WriteTx, out driver.Outcome) error {
	answers, err := q.driver.Finish(ctx, tx, []driver.Outcome{out})
	if err != nil {
		return err
	}
	return answers[0]
}

// errUncommitted is the failure of a handler that has left the completion of its job to a transaction.
var errUncommitted = errors.New("the transaction that was given to CompleteTx has not committed")

// CompleteTx completes the job, with the result of [Attempt.SetResult] and the lines of [Attempt.Logger], as part of a
// transaction: the program's own, which the handler then commits, or one of [DB].Write. It is [Attempt.Complete] for
// programs that begin and commit by themselves. A stale attempt is refused with [ErrLeaseLost]: roll back then.
//
// A handler that has called it and returns nil has completed its job if the transaction has committed by then.
// Otherwise the attempt fails, as it does with an error, or if CompleteTx itself has failed. [EventCompleted] follows
// when the dispatcher has found the job completed.
func (a *Attempt) CompleteTx(ctx context.Context, tx Tx) (err error) {
	if err := a.made("complete"); err != nil {
		return err
	}
	defer func() {
		if a.undone.Store(nil); err != nil {
			a.undone.Store(&err)
		}
	}()
	w, leave, err := a.q.adopt(ctx, tx)
	if err != nil {
		return wrap("complete", a.job.ID, err)
	}
	defer leave()
	a.adopted.Store(w)
	if err := a.complete(ctx, w, a.q.finish); err != nil {
		return err
	}
	w.OnCommit(func() { a.completed.Store(true) })
	return wrap("complete", a.job.ID, a.q.addLogs(ctx, w, a.logLines()))
}

// verdictOf returns the verdict on a handler's error if a transaction was to complete the job. If the transaction has
// committed, the lease refuses the failure.
func (a *Attempt) verdictOf(err error) error {
	if err == nil && a.adopted.Load() != nil && !a.completed.Load() {
		return errUncommitted
	}
	return err
}
