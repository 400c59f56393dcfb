package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
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

// handlers are those of a dispatcher, by the types of their jobs.
type handlers map[string]*handler

func (h handlers) types() []string { return slices.Collect(maps.Keys(h)) }

// bounded reports whether some handler has a bound of its own.
func (h handlers) bounded() bool {
	for _, one := range h {
		if one.concurrency > 0 {
			return true
		}
	}
	return false
}

// Handle registers the handler of a job type, before Run. A type registered twice is an error that Run returns.
//
// The handler's error decides what becomes of the job: nil completes it (unless an [Attempt.Complete] has failed, whose
// error then counts), an error is a failure that is retried with
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
	d.handlers[name] = h
}
