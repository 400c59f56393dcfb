package queue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
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
		unread := r.q.codecs.readClaimed(job)
		entries[i] = &entry{
			attempt: newAttempt(r.q, r.log, job, unread), ctx: ctx, cancel: cancel, claimed: now,
			timeout: r.handlers[job.Type].timeout,
		}
	}
	for range r.running.add(entries) {
		go r.work()
	}
}

// work runs one job after the other in a slot of its own.
func (r *runner) work() {
	self := goroutineID()
	for e := r.running.next(self); e != nil; e = r.running.next(self) {
		if !r.runOne(e) {
			return
		}
	}
}

// runOne returns false when another goroutine has taken the slot: this one is being unwound by runtime.Goexit, which nothing
// can stop, or was given up.
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
	} else {
		err = r.handlers[e.attempt.job.Type].run(r.q.begin(e), e.attempt)
	}
	if err == nil {
		err = e.attempt.unsettled()
	}
	returned = true
	return true
}

// ended hands the end of an attempt to the completer, unless its job is no longer ours to write about.
func (r *runner) ended(e *entry, err error) {
	a := e.attempt
	outcome := r.outcome(e, err)
	r.q.telemetry.end(e, &outcome)
	if verdict := a.verdictOf(err); verdict != err { //nolint:errorlint // the very same
		outcome = r.outcome(e, verdict)
	}
	if !r.running.leave(e) {
		r.log.InfoContext(e.ctx, "handler that was given up has returned",
			logJobID, a.job.ID, logJobType, a.job.Type, logAttempt, a.job.Attempt, logError, err)
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
	r.completer.add(newEnding(a, outcome))
}

// giveBack returns jobs that were claimed ahead before the given time, and not begun, as if they had not been claimed.
func (r *runner) giveBack(claimedBefore time.Time) {
	for _, a := range r.running.unclaim(claimedBefore) {
		r.completer.add(newEnding(a, driver.Outcome{Lease: a.job.lease(), State: StateQueued, Kind: driver.KindReleased, At: r.now()}))
	}
}

// outcome is here, on the handler's goroutine, because the handler's values run their own code: an error makes its text,
// a result its JSON, and either may panic.
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
			err = fmt.Errorf("%w: it ran %v, %v are allowed: %w", ErrTimeout, ran.Round(time.Millisecond), e.timeout, err)
		}
		return r.judge(a, err)
	}
	out = driver.Outcome{Lease: a.job.lease(), State: StateCompleted, Kind: KindCompleted, At: r.now(), Plain: a.job.plain()}
	if result := a.resultValue(); result != nil && !a.completed.Load() {
		if out.Result, err = r.q.encodeAt(resultPlace(a.job.ID), result); err != nil {
			return r.judge(a, Fatal(fmt.Errorf("result: %w", err)))
		}
	}
	return out
}

func (r *runner) judge(a *Attempt, err error) driver.Outcome {
	return judge(a.job, err, r.now(), r.handlers[a.job.Type].retry, r.q.budget)
}

// drain waits for the handlers: first for all to end, then for the canceled ones to return. Handlers that still run are given up;
// without a lease they cannot write.
func (r *runner) drain(ctx context.Context, patience time.Duration) {
	r.giveBack(time.Now().Add(time.Hour))
	if r.running.waitIdle(patience) {
		return
	}
	r.running.cancelAll(ErrShutdown)
	if !r.running.waitIdle(patience) {
		r.giveUp(ctx, func(*entry) bool { return true })
	}
}
