package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

type handler func(ctx context.Context, a *Attempt) error

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
	d.handlers[name] = func(ctx context.Context, a *Attempt) error {
		w := &Work[P]{Attempt: a}
		if err := json.Unmarshal(a.Job.Payload, &w.Payload); err != nil {
			return Fatal(fmt.Errorf("payload does not fit %T: %w", w.Payload, err))
		}
		return fn(ctx, w)
	}
}

// start runs a claimed job on a goroutine of its own.
func (d *Dispatcher) start(ctx context.Context, job Job) {
	a := newAttempt(d.q, job)
	// A stop is soft at first: handlers hear of it only when the drain is over.
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	d.running.add(a, cancel)
	go func() {
		// A Goexit in the handler runs deferred calls and nothing else.
		err := error(&PanicError{Stack: "runtime.Goexit"})
		defer func() {
			if v := recover(); v != nil {
				err = &PanicError{Value: v, Stack: string(debug.Stack())}
			}
			d.ended(ctx, a, err)
			cancel(nil)
		}()
		err = d.handlers[job.Type](ctx, a)
	}()
}

// ended hands the end of an attempt to the completer, unless its job is no longer ours to write about.
func (d *Dispatcher) ended(ctx context.Context, a *Attempt, err error) {
	outcome := d.outcome(ctx, a, err)
	if !d.running.leave(a) {
		return
	}
	if a.completed.Load() {
		d.running.forget(a)
		if err != nil {
			d.log.WarnContext(ctx, "handler returned an error after it had completed its job",
				logJobID, a.Job.ID, logJobType, a.Job.Type, logAttempt, a.Job.Attempt, logError, outcome.Error)
		}
		return
	}
	d.completer.add(ending{attempt: a, outcome: outcome})
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
