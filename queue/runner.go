package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/stacks"
)

// The runner runs the handlers of claimed jobs and gives the ends of their attempts to the completer.
type runner struct {
	q         *Queue
	log       *slog.Logger
	now       func() time.Time
	running   *runningSet
	completer *completer
	handlers  handlers
	onStuck   func(ctx context.Context, h StuckHandler) // nil: log
}

// start takes claimed jobs in, and as many goroutines as there are free slots for them.
func (r *runner) start(ctx context.Context, jobs []driver.Job) {
	entries := make([]*entry, len(jobs))
	now := time.Now()
	// A stop is soft at first: handlers hear of it only when the drain is over.
	soft := context.WithoutCancel(ctx)
	for i := range jobs {
		ctx, cancel := context.WithCancelCause(soft)
		job := (*Job)(&jobs[i])
		h := r.handlers[job.Type]
		unread := r.q.codecs.readClaimed(job)
		entries[i] = &entry{
			attempt: newAttempt(r.q, r.log, job, unread), ctx: ctx, cancel: cancel, claimed: now,
			timeout: cmp.Or(job.Timeout, h.timeout), pool: r.running.poolFor(h), suspect: job.suspected(),
		}
	}
	entries = r.leave(entries)
	for range r.running.add(entries) {
		go r.work()
	}
}

// work runs one job after the other in a slot of its own.
func (r *runner) work() {
	self := stacks.Self()
	for e := r.running.next(self); e != nil; e = r.running.next(self) {
		if !r.runOne(e) {
			return
		}
	}
}

// runOne returns false when another goroutine has taken the slot: this one is being unwound by runtime.Goexit, which
// nothing can stop, or was given up.
func (r *runner) runOne(e *entry) (goesOn bool) {
	returned := false
	// A Goexit in the handler runs deferred calls and nothing else.
	err := error(&PanicError{Stack: "runtime.Goexit"})
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Value: v, Stack: string(debug.Stack())}
			returned = true
		}
		r.ended(e, err)
		e.cancel(nil)
		goesOn = returned && !e.replaced
		if !returned && !e.replaced {
			go r.work()
		}
	}()
	if cause := context.Cause(e.ctx); cause != nil {
		err = cause // while it waited
	} else if unmarked := r.mark(e); unmarked != nil {
		err = unmarked
	} else {
		err = r.handlers[e.attempt.job.Type].run(r.q.begin(e), e.attempt)
	}
	if err == nil {
		err = e.attempt.unsettled()
	}
	returned = true
	return true
}

// mark stores that a suspect begins: if it kills the process, the others that were claimed are not to blame.
func (r *runner) mark(e *entry) error {
	if !e.suspect {
		return nil
	}
	if err := r.q.markBegun(e.ctx, e.attempt); err != nil {
		return Defer(err, 0)
	}
	return nil
}

// ended hands the end of an attempt to the completer, unless its job is no longer ours to write about.
func (r *runner) ended(e *entry, err error) {
	a := e.attempt
	outcome := r.outcome(e, err)
	if p := a.parked.Load(); p != nil {
		outcome = p.out
	}
	r.q.telemetry.end(e, &outcome)
	if verdict := a.verdictOf(err); verdict != err { //nolint:errorlint // the very same
		outcome = r.outcome(e, verdict)
	}
	goroutines, held := r.running.leave(e)
	for range goroutines {
		go r.work()
	}
	if !held {
		r.log.InfoContext(e.ctx, "handler that was given up has returned",
			logJobID, a.job.ID, logJobType, a.job.Type, logAttempt, a.job.Attempt, logError, err)
		return
	}
	if a.parked.Load() != nil {
		r.running.forget(a)
		r.parkedEnd(e, err)
		return
	}
	if a.completed.Load() {
		r.running.forget(a)
		if err != nil {
			r.log.WarnContext(e.ctx, "handler returned an error after it had completed its job",
				logJobID, a.job.ID, logJobType, a.job.Type, logAttempt, a.job.Attempt, logError, outcome.Error)
		}
		return
	}
	ended := newCompletion(a, outcome)
	ended.level = levelOf(err)
	r.completer.add(ended)
}

// giveBack returns jobs that were claimed ahead before the given time, and not begun, as if they had not been claimed.
func (r *runner) giveBack(claimedBefore time.Time) {
	for _, a := range append(r.running.unclaim(claimedBefore), r.running.unclaimWaiting(claimedBefore)...) {
		r.release(a, time.Time{})
	}
}

// release gives back a job that has not begun; zero: it is due as before.
func (r *runner) release(a *Attempt, notBefore time.Time) {
	r.completer.add(newCompletion(a, driver.Outcome{Lease: a.job.lease(), State: StateQueued,
		Kind: driver.KindReleased, NotBefore: notBefore, At: r.now()}))
}

// outcome is here, on the handler's goroutine, because the handler's values run their own code: an error makes its
// text, a result its JSON, and either may panic.
func (r *runner) outcome(e *entry, err error) (out driver.Outcome) {
	a := e.attempt
	defer func() {
		if v := recover(); v != nil {
			out = r.judge(a, &PanicError{Value: v, Stack: string(debug.Stack())})
		}
	}()
	if err != nil {
		switch cause := context.Cause(e.ctx); {
		case errors.Is(cause, ErrShutdown), errors.Is(cause, ErrLeaseLost):
			err = Defer(cause, 0)
		case errors.Is(cause, ErrTimeout):
			ran := time.Since(e.deadline) + e.timeout
			err = fmt.Errorf("%w: it ran %v, %v are allowed: %w", ErrTimeout, ran.Round(time.Millisecond), e.timeout,
				err)
		}
		return r.judge(a, err)
	}
	out = driver.Outcome{Lease: a.job.lease(), State: StateCompleted, Kind: KindCompleted, At: r.now(),
		Plain: a.job.plain()}
	if result := a.resultValue(); result != nil && !a.completed.Load() {
		if out.Result, err = r.q.encodeAt(resultPlace(a.job.ID), result); err != nil {
			return r.judge(a, Fatal(fmt.Errorf("result: %w", err)))
		}
	}
	return out
}

func (r *runner) judge(a *Attempt, err error) driver.Outcome {
	h := r.handlers[a.job.Type]
	return judge(a.job, h.timed(a.job, err), r.now(), h.retry, r.q.budget)
}

// drain waits for the handlers: first for all to end, then for the canceled ones to return. Handlers that still run are
// given up; without a lease they cannot write.
func (r *runner) drain(ctx context.Context, patience time.Duration) {
	r.giveBack(time.Now().Add(time.Hour))
	left, _ := r.running.unclaimSuspects(time.Now().Add(time.Hour)) // nothing is left that a goroutine could run
	for _, a := range left {
		r.release(a, time.Time{})
	}
	// Handlers that were given up before may return as well. If they do not, there is nothing to cancel.
	if r.running.wait(patience, r.running.returned) || r.running.waitIdle(0) {
		return
	}
	r.running.cancelAll(ErrShutdown)
	if !r.running.waitIdle(patience) {
		r.giveUp(ctx, func(*entry) bool { return true })
	}
}

// A StuckHandler is one that has not returned although its context was canceled.
type StuckHandler struct {
	Job Job
	// Cause is the cause of its context: [ErrTimeout], [ErrCanceled], [ErrLeaseLost] or [ErrShutdown].
	Cause error
	// Since is when the context was canceled.
	Since time.Time
	// Stack is the current stack of its goroutine; empty if it could not be determined.
	Stack string
}

// errStuck is the result of a handler that was given up.
var errStuck = errors.New("it has not returned")

// The watchdog gives up handlers that ignore their contexts: the ends of their attempts are written as if they had
// returned, and others take their slots. At a shutdown the drain does so.
type watchdog struct {
	runner *runner
	grace  time.Duration
}

func (w *watchdog) run(ctx context.Context) {
	ticker := time.NewTicker(w.grace / 4)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			w.runner.giveUp(ctx, func(e *entry) bool { return e.overdue(w.grace) })
		}
	}
}

// overdue reports whether the handler still runs that long after its context was canceled.
func (e *entry) overdue(grace time.Duration) bool {
	cause := context.Cause(e.ctx)
	return cause != nil && !errors.Is(cause, ErrShutdown) && time.Since(e.canceledAt()) >= grace
}

func (e *entry) canceledAt() time.Time {
	if errors.Is(context.Cause(e.ctx), ErrTimeout) {
		return e.deadline
	}
	return e.stopped
}

// giveUp ends the attempts of those handlers that are within and match.
func (r *runner) giveUp(ctx context.Context, match func(e *entry) bool) {
	stuck, goroutines := r.running.giveUp(match)
	for range goroutines {
		go r.work()
	}
	if len(stuck) == 0 {
		return
	}
	found := stacks.Of(mapped(stuck, func(e *entry) uint64 { return e.goroutine }))
	for _, e := range stuck {
		a := e.attempt
		if a.completed.Load() {
			r.running.forget(a)
		} else {
			outcome := r.outcome(e, errStuck)
			outcome.Stack = storable(found[e.goroutine])
			r.completer.add(newCompletion(a, outcome))
		}
		r.tellStuck(ctx, StuckHandler{Job: *a.job, Cause: context.Cause(e.ctx), Since: e.canceledAt(),
			Stack: found[e.goroutine]})
	}
}

func (r *runner) tellStuck(ctx context.Context, h StuckHandler) {
	if r.onStuck == nil {
		r.log.ErrorContext(ctx, "handler does not return although its context was canceled; it is given up",
			logJobID, h.Job.ID, logJobType, h.Job.Type, logAttempt, h.Job.Attempt,
			"cause", h.Cause, "since", h.Since, "stack", h.Stack)
		return
	}
	defer func() {
		if v := recover(); v != nil {
			r.log.ErrorContext(ctx, "DispatcherConfig.OnStuck panicked", logError, v, "stack", string(debug.Stack()))
		}
	}()
	r.onStuck(ctx, h)
}

// leaked returns the error that names the handlers that still run after the dispatcher has stopped.
func (r *runner) leaked() error {
	if names := r.running.stuckJobs(); len(names) > 0 {
		return fmt.Errorf("queue: handlers did not return after their contexts were canceled: %s", names)
	}
	return nil
}
