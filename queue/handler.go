package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
)

// A handler is what runs the jobs of one type, and how.
type handler struct {
	run         HandlerFunc
	timeout     time.Duration // 0: none
	retry       RetryPolicy
	concurrency int // 0: no bound but the dispatcher's slots

	fits  func(payload json.RawMessage) error
	steps []string // nil: not told
}

// Handle registers the handler of a job type, before Run. A type registered twice is an error that Run returns.
//
// The handler's error decides what becomes of the job: nil completes it, an error is a failure that is retried with
// backoff until MaxAttempts, [Fatal] ends it, [RetryAfter] and [Defer] choose the time. A panic is a failure, kept with
// its stack. The context is canceled with the cause [ErrTimeout], [ErrCanceled], [ErrLeaseLost] or [ErrShutdown]; when the
// job was canceled or its lease is lost, what the handler reports is ignored. A handler that does not return then is given
// up, see [DispatcherConfig].Grace.
func Handle[P any](d *Dispatcher, t Type[P], fn func(ctx context.Context, w *Work[P]) error, opts ...HandlerOption) {
	decode := func(stored json.RawMessage) (payload P, err error) {
		if err = unmarshal(stored, &payload); err != nil {
			err = fmt.Errorf("payload does not fit %T: %w", payload, err)
		}
		return payload, err
	}
	run := func(ctx context.Context, a *Attempt) error {
		payload, err := decode(a.job.Payload)
		if err != nil {
			return undecided(err)
		}
		return fn(ctx, &Work[P]{Attempt: a, Payload: payload})
	}
	fits := func(stored json.RawMessage) error {
		_, err := decode(stored)
		return err
	}
	d.register(string(t), run, fits, opts)
	if fn == nil {
		d.faults = append(d.faults, fmt.Errorf("queue: handler %q is nil", t))
	}
}

func (d *Dispatcher) register(name string, run HandlerFunc, fits func(json.RawMessage) error, opts []HandlerOption) {
	if _, ok := d.handlers[name]; ok {
		d.faults = append(d.faults, fmt.Errorf("queue: handler %q is registered twice", name))
		return
	}
	run, err := wrapHandler(run, d.cfg.Middleware)
	err = errors.Join(err, validText("Type", name, maxNameLength))
	if name == "" {
		err = errors.Join(err, errors.New("its Type is empty"))
	}
	h := &handler{run: decoded(run), retry: d.q.retry, fits: fits}
	for _, opt := range opts {
		err = errors.Join(err, opt(h))
	}
	if err != nil {
		d.faults = append(d.faults, fmt.Errorf("queue: handler %q: %w", name, err))
	}
	d.bounded = d.bounded || h.concurrency > 0
	d.handlers[name] = h
}

// start takes claimed jobs in, and as many goroutines as there are free slots for them.
func (d *Dispatcher) start(ctx context.Context, jobs []Job) {
	entries := make([]*entry, len(jobs))
	now := time.Now()
	for i := range jobs {
		// A stop is soft at first: handlers hear of it only when the drain is over.
		ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
		unread := d.q.codecs.readClaimed(&jobs[i])
		entries[i] = &entry{
			attempt: newAttempt(d.q, d.log, &jobs[i], unread), ctx: ctx, cancel: cancel, claimed: now,
			timeout: d.handlers[jobs[i].Type].timeout,
		}
	}
	for range d.running.add(entries) {
		go d.work()
	}
}

// work runs one job after the other in a slot of its own.
func (d *Dispatcher) work() {
	self := goroutineID()
	for e := d.running.next(self); e != nil; e = d.running.next(self) {
		if !d.runOne(e) {
			return
		}
	}
}

// runOne returns false when another goroutine has taken the slot: this one is being unwound by runtime.Goexit, which nothing
// can stop, or was given up.
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
		goesOn = returned && !e.replaced
		if !returned && !e.replaced {
			go d.work()
		}
	}()
	if cause := context.Cause(e.ctx); cause != nil {
		err = cause // while it waited
	} else {
		err = d.handlers[e.attempt.job.Type].run(d.q.begin(e), e.attempt)
	}
	returned = true
	return true
}

// ended hands the end of an attempt to the completer, unless its job is no longer ours to write about.
func (d *Dispatcher) ended(e *entry, err error) {
	a := e.attempt
	outcome := d.outcome(e, err)
	d.q.telemetry.end(e, &outcome)
	if verdict := a.verdictOf(err); verdict != err { //nolint:errorlint // the very same
		outcome = d.outcome(e, verdict)
	}
	if !d.running.leave(e) {
		d.log.InfoContext(e.ctx, "handler that was given up has returned",
			logJobID, a.job.ID, logJobType, a.job.Type, logAttempt, a.job.Attempt, logError, err)
		return
	}
	if a.completed.Load() {
		d.running.forget(a)
		if err != nil {
			d.log.WarnContext(e.ctx, "handler returned an error after it had completed its job",
				logJobID, a.job.ID, logJobType, a.job.Type, logAttempt, a.job.Attempt, logError, outcome.Error)
		}
		return
	}
	d.completer.add(newEnding(a, outcome))
}

// giveBack returns jobs that were claimed ahead before the given time, and not begun, as if they had not been claimed.
func (d *Dispatcher) giveBack(claimedBefore time.Time) {
	for _, a := range d.running.unclaim(claimedBefore) {
		d.completer.add(newEnding(a, driver.Outcome{Lease: driver.Lease(a.job.Lease()), State: StateQueued, Kind: KindReleased, At: time.Now()}))
	}
}

// outcome is here, on the handler's goroutine, because the handler's values run their own code: an error makes its text,
// a result its JSON, and either may panic.
func (d *Dispatcher) outcome(e *entry, err error) (out driver.Outcome) {
	a := e.attempt
	defer func() {
		if v := recover(); v != nil {
			out = d.judge(a, &PanicError{Value: v, Stack: string(debug.Stack())})
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
		return d.judge(a, err)
	}
	out = driver.Outcome{Lease: driver.Lease(a.job.Lease()), State: StateCompleted, Kind: KindCompleted, At: time.Now(), Plain: a.job.plain()}
	if result := a.resultValue(); result != nil && !a.completed.Load() {
		if out.Result, err = d.q.encodeAt(resultPlace(a.job.ID), result); err != nil {
			return d.judge(a, Fatal(fmt.Errorf("result: %w", err)))
		}
	}
	return out
}

func (d *Dispatcher) judge(a *Attempt, err error) driver.Outcome {
	return judge(a.job, err, time.Now(), d.handlers[a.job.Type].retry, d.q.budget)
}
