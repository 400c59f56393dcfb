package queue

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
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
	if !d.running.leave(a) {
		return
	}
	d.finished <- finished{attempt: a, err: err, interrupted: err != nil && context.Cause(ctx) == ErrShutdown}
}
