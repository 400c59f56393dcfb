package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// A handler is what runs the jobs of one type, and how.
type handler struct {
	run         func(ctx context.Context, a *Attempt) error
	concurrency int // 0: no bound but the dispatcher's slots
}

// Handle registers the handler of a job type, before Run. A type registered twice is an error that Run returns.
//
// The handler's error decides what becomes of the job: nil completes it, an error is a failure that is retried with
// backoff until MaxAttempts, [Fatal] ends it, [RetryAfter] and [Defer] choose the time. A panic is a failure, kept with
// its stack. The context is canceled with the cause [ErrCanceled], [ErrLeaseLost] or [ErrShutdown]; after the first two,
// what the handler reports is ignored.
func Handle[P any](d *Dispatcher, t Type[P], fn func(ctx context.Context, w *Work[P]) error) {
	name := string(t)
	if _, ok := d.handlers[name]; ok || name == "" {
		d.faults = append(d.faults, fmt.Errorf("queue: handler %q is registered twice, or has no name", name))
		return
	}
	d.handlers[name] = &handler{run: func(ctx context.Context, a *Attempt) error {
		w := &Work[P]{Attempt: a}
		if err := json.Unmarshal(a.Job.Payload, &w.Payload); err != nil {
			return Fatal(fmt.Errorf("payload does not fit %T: %w", w.Payload, err))
		}
		return fn(ctx, w)
	}}
}

// start takes claimed jobs in, and as many goroutines as there are free slots for them.
func (d *Dispatcher) start(ctx context.Context, jobs []Job) {
	entries := make([]*entry, len(jobs))
	now := time.Now()
	for i := range jobs {
		// A stop is soft at first: handlers hear of it only when the drain is over.
		ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
		entries[i] = &entry{attempt: newAttempt(d.q, jobs[i]), ctx: ctx, cancel: cancel, claimed: now}
	}
	for range d.running.add(entries) {
		go d.work()
	}
}

// work runs one job after the other in a slot of its own.
func (d *Dispatcher) work() {
	for e := d.running.next(); e != nil; e = d.running.next() {
		if !d.runOne(e) {
			return
		}
	}
}

// runOne returns false when the goroutine is being unwound by runtime.Goexit, which nothing can stop; another has taken
// its slot then.
func (d *Dispatcher) runOne(e *entry) (goesOn bool) {
	returned := false
	// A Goexit in the handler runs deferred calls and nothing else.
	err := error(&PanicError{Stack: "runtime.Goexit"})
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Value: v, Stack: string(debug.Stack())}
			returned = true
		}
		d.ended(e, err)
		e.cancel(nil)
		if goesOn = returned; !returned {
			go d.work()
		}
	}()
	if cause := context.Cause(e.ctx); cause != nil {
		err = cause // while it waited
	} else {
		err = d.handlers[e.attempt.Job.Type].run(e.ctx, e.attempt)
	}
	returned = true
	return true
}

// ended hands the end of an attempt to the completer, unless its job is no longer ours to write about.
func (d *Dispatcher) ended(e *entry, err error) {
	a := e.attempt
	outcome := d.outcome(e.ctx, a, err)
	if !d.running.leave(e) {
		return
	}
	if a.completed.Load() {
		d.running.forget(a)
		if err != nil {
			d.log.WarnContext(e.ctx, "handler returned an error after it had completed its job",
				logJobID, a.Job.ID, logJobType, a.Job.Type, logAttempt, a.Job.Attempt, logError, outcome.Error)
		}
		return
	}
	d.completer.add(ending{attempt: a, outcome: outcome})
}

// giveBack returns jobs that were claimed ahead before the given time, and not begun, as if they had not been claimed.
func (d *Dispatcher) giveBack(claimedBefore time.Time) {
	for _, a := range d.running.unclaim(claimedBefore) {
		d.completer.add(ending{attempt: a, outcome: Outcome{
			Lease: a.Job.Lease(), State: StateQueued, Kind: KindReleased, At: time.Now(),
		}})
	}
}

// outcome is here, on the handler's goroutine, because the handler's values run their own code: an error makes its text,
// a result its JSON, and either may panic.
func (d *Dispatcher) outcome(ctx context.Context, a *Attempt, err error) (out Outcome) {
	defer func() {
		if v := recover(); v != nil {
			out = d.judge(a, &PanicError{Value: v, Stack: string(debug.Stack())})
		}
	}()
	if err != nil {
		if cause := context.Cause(ctx); errors.Is(cause, ErrShutdown) || errors.Is(cause, ErrLeaseLost) {
			err = Defer(cause, 0)
		}
		return d.judge(a, err)
	}
	out = Outcome{Lease: a.Job.Lease(), State: StateCompleted, Kind: KindCompleted, At: time.Now()}
	if result := a.resultValue(); result != nil && !a.completed.Load() {
		if out.Result, err = encode(result); err != nil {
			return d.judge(a, Fatal(fmt.Errorf("result: %w", err)))
		}
	}
	return out
}

func (d *Dispatcher) judge(a *Attempt, err error) Outcome {
	return judge(&a.Job, err, time.Now(), d.q.retry, d.q.budget)
}
