package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
)

// A handler runs the jobs of one type.
type handler struct {
	run         HandlerFunc
	timeout     time.Duration // 0: none
	retry       RetryPolicy
	concurrency int // 0: no bound but the dispatcher's slots

	fits  func(payload json.RawMessage) error
	steps []string // nil: not given
}

// handlers are the handlers of a dispatcher, by job type.
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

// Handle registers the handler of a job type. Call it before Run: afterwards, Handle logs an error and registers nothing. A type
// registered twice and a nil fn are errors that Run returns. Handle is safe for concurrent use.
//
// The handler's error determines the outcome of the job. Nil completes it (unless an [Attempt.Complete] has failed, whose error
// then counts). An error is a failure that is retried with backoff until MaxAttempts. [Fatal] ends it as failed, [Cancel] as
// canceled; [RetryAfter] and [Defer] choose the time. A panic is a failure, kept with its stack. The context is canceled with the
// cause [ErrTimeout], [ErrCanceled], [ErrLeaseLost] or [ErrShutdown]. If the job was canceled or its lease is lost, the handler's
// result is ignored. A handler that does not return then is given up, see [DispatcherConfig].Grace.
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
	h := &handler{run: run, retry: d.q.retry, fits: fits}
	err := d.complete(h, string(t), opts)
	if fn == nil {
		err = errors.Join(err, errors.New("its function is nil"))
	}
	if !d.register(string(t), h, err) {
		d.cfg.Logger.Error("handler is registered after Run and will not be called; call Handle before Run", logJobType, string(t))
	}
}

// complete applies the options and the dispatcher's middleware to a handler.
func (d *Dispatcher) complete(h *handler, name string, opts []HandlerOption) error {
	run, err := wrapHandler(h.run, d.cfg.Middleware)
	err = errors.Join(err, validText("Type", name, maxNameLength))
	switch name {
	case "":
		err = errors.Join(err, errors.New("its Type is empty"))
	case driver.AllTypes:
		err = errors.Join(err, fmt.Errorf("its Type is %q, which stands for all types", name))
	}
	h.run = decoded(run)
	for _, opt := range opts {
		if opt.apply != nil {
			err = errors.Join(err, opt.apply(h))
		}
	}
	return err
}

// register adds a handler and its error. It returns false once the dispatcher has been run.
func (d *Dispatcher) register(name string, h *handler, err error) bool {
	d.registration.Lock()
	defer d.registration.Unlock()
	if d.started {
		return false
	}
	if _, ok := d.handlers[name]; ok {
		err = errors.Join(err, errors.New("it is registered twice"))
	}
	if err != nil {
		d.faults = append(d.faults, fmt.Errorf("queue: handler %q: %w", name, err))
	}
	d.handlers[name] = h
	return true
}

// start ends registration. From then on the handlers do not change.
func (d *Dispatcher) start() error {
	d.registration.Lock()
	defer d.registration.Unlock()
	if d.started {
		return errStarted
	}
	d.started = true
	if err := errors.Join(d.faults...); err != nil {
		return err
	}
	if len(d.handlers) == 0 {
		return errors.New("queue: the dispatcher has no handlers; register them with queue.Handle")
	}
	return nil
}
