package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
)

// A handler runs the jobs of one type.
type handler struct {
	run         HandlerFunc
	timeout     time.Duration // 0: none
	retry       RetryPolicy
	wait        func(job *Job, err error) time.Duration // nil: retry
	concurrency int                                     // 0: no bound but the dispatcher's slots
	pool        string                                  // empty: none

	version int // of the payload's form
	fits    func(payload json.RawMessage, version int) error
	steps   []string // nil: not given
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

// Handle registers the handler of a job type. Call it before Run: afterwards, Handle logs an error and registers
// nothing. A type registered twice and a nil fn are errors that Run returns. Handle is safe for concurrent use.
//
// The handler's error determines the outcome of the job. Nil completes it (unless an [Attempt.Complete] has failed,
// whose error then counts). An error is a failure that is retried with backoff until MaxAttempts. [Fatal] ends it as
// failed, [Cancel] as canceled; [RetryAfter] and [Defer] choose the time. A panic is a failure, kept with its stack.
// The context is canceled with the cause [ErrTimeout], [ErrCanceled], [ErrLeaseLost] or [ErrShutdown]. If the job was
// canceled or its lease is lost, the handler's result is ignored. A handler that does not return then is given up, see
// [DispatcherConfig].Grace.
func Handle[P any](d *Dispatcher, t Type[P], fn func(ctx context.Context, w *Work[P]) error, opts ...HandlerOption) {
	decode := func(stored json.RawMessage, version int) (payload P, err error) {
		if stored, err = upcast(payload, stored, version); err != nil {
			return payload, fmt.Errorf("payload"+unfitText+"%T: %w", payload, err)
		}
		if err = unmarshal(stored, &payload); err != nil {
			err = fmt.Errorf("payload"+unfitText+"%T: %w", payload, err)
		}
		return payload, err
	}
	run := func(ctx context.Context, a *Attempt) error {
		payload, err := decode(a.job.Payload, a.job.PayloadVersion)
		if err != nil {
			return a.unfit(ctx, err)
		}
		return fn(ctx, &Work[P]{Attempt: a, Payload: payload})
	}
	fits := func(stored json.RawMessage, version int) error {
		_, err := decode(stored, version)
		return err
	}
	h := &handler{run: run, retry: d.q.retry, version: versionOf(*new(P)), fits: fits}
	err := d.complete(h, string(t), opts)
	if fn == nil {
		err = errors.Join(err, errors.New("its function is nil"))
	}
	if !d.register(string(t), h, err) {
		d.cfg.Logger.Error("handler is registered after Run and will not be called; call Handle before Run", logJobType,
			string(t))
	}
}

// unfitText is in the error of an attempt whose payload, or stored step, did not fit its handler.
const unfitText = " does not fit "

// While a program is replaced by a newer version of it, the old one is given jobs that only the new one can read.
const unfitPatience = 24 * time.Hour

var unfitRetry = RetryPolicy{Base: time.Second, Factor: 2, Cap: 5 * time.Minute, Jitter: 0.25}

// unfit is the verdict on an attempt whose payload, or stored step, does not fit the handler's type.
func (a *Attempt) unfit(ctx context.Context, cause error) error {
	if errors.Is(cause, ErrNoCodec) {
		return undecided(cause)
	}
	records, err := a.q.Attempts(ctx, a.job.ID)
	if err != nil {
		return Defer(cause, unfitRetry.Base)
	}
	records = slices.DeleteFunc(records, func(r AttemptRecord) bool { return !strings.Contains(r.Error, unfitText) })
	records = records[max(0, len(records)-a.job.Interruptions):] // not those before the job was retried by hand
	if len(records) == 0 || a.q.now().Sub(records[0].FinishedAt) < unfitPatience {
		return Defer(cause, unfitRetry.after(len(records)+1))
	}
	workers := []string{a.job.WorkerID}
	for _, r := range records {
		workers = append(workers, r.WorkerID)
	}
	slices.Sort(workers)
	return Fatal(fmt.Errorf("%w (refused since %s by the workers %s)", cause, records[0].FinishedAt.Format(time.RFC3339),
		strings.Join(slices.Compact(workers), ", ")))
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
	if err := d.unknownPools(); err != nil {
		return err
	}
	if len(d.handlers) == 0 {
		return errors.New("queue: the dispatcher has no handlers; register them with queue.Handle")
	}
	return nil
}

// A HandlerOption changes how [Handle] runs the jobs of one type. A value out of bounds is an error that Run returns.
// The zero HandlerOption changes nothing.
type HandlerOption struct {
	apply func(h *handler) error
}

// WithTimeout bounds how long one attempt may take. The handler's context then has a deadline, and is canceled at it
// with the cause [ErrTimeout]. An error that the handler returns after that is a failure whose text says how long it
// ran. A handler that still succeeds has succeeded. At least 1 ms; without the option there is no bound.
func WithTimeout(timeout time.Duration) HandlerOption {
	return HandlerOption{func(h *handler) error {
		if timeout < time.Millisecond {
			return fmt.Errorf("WithTimeout is %v; it must be at least 1ms", timeout)
		}
		h.timeout = timeout
		return nil
	}}
}

// WithRetry is how long failed jobs of the type wait for their next attempt, such as [SlowRetry], instead of
// [Config].Retry.
func WithRetry(policy RetryPolicy) HandlerOption {
	return HandlerOption{func(h *handler) error {
		if err := policy.validate(); err != nil {
			return fmt.Errorf("WithRetry: %w", err)
		}
		h.retry = policy
		return nil
	}}
}

// WithRetryFunc has fn say how long a failed job of the type waits for its next attempt, by the job and its error.
// Where it returns 0 or less, or panics, and for an error that says it itself ([RetryAfter], [Defer]), it does not
// count. fn must be safe for concurrent use, and must not change the job.
func WithRetryFunc(fn func(job *Job, err error) time.Duration) HandlerOption {
	return HandlerOption{func(h *handler) error {
		if fn == nil {
			return errors.New("WithRetryFunc is nil")
		}
		h.wait = fn
		return nil
	}}
}

// timed adds to a failure what WithRetryFunc says.
func (h *handler) timed(job *Job, err error) (timed error) {
	if h.wait == nil || errors.As(err, new(*verdict)) {
		return err
	}
	defer func() {
		if recover() != nil {
			timed = err
		}
	}()
	return RetryAfter(err, h.wait(job, err))
}

// WithConcurrency bounds how many handlers of the type run at once in this process, leaving the other slots to other
// types. At least 1; without the option, [DispatcherConfig].Workers is the bound.
func WithConcurrency(n int) HandlerOption {
	return HandlerOption{func(h *handler) error {
		if n < 1 {
			return fmt.Errorf("WithConcurrency is %d; it must be at least 1", n)
		}
		h.concurrency = n
		return nil
	}}
}

// WithSteps names all the steps of the handler, so that queueadmin.CheckProgram finds stored steps that it lacks: after
// a rename, a step would run again.
func WithSteps(names ...string) HandlerOption {
	return HandlerOption{func(h *handler) error {
		h.steps = names
		return nil
	}}
}

// A HandlerInfo describes a handler that is registered with a [Dispatcher], for tools that compare a program with
// stored jobs.
type HandlerInfo struct {
	// Steps are the names that [WithSteps] has given; nil without it.
	Steps []string

	fits func(payload json.RawMessage, version int) error
}

// Accepts reports why a payload, as [Queue.Job] shows it, of the version of the job's [Options], does not fit the
// handler's type; nil when it does.
func (h HandlerInfo) Accepts(payload json.RawMessage, version int) error {
	return h.fits(payload, version)
}

// Handlers returns the registered handlers by the types of their jobs.
func (d *Dispatcher) Handlers() map[string]HandlerInfo {
	d.registration.Lock()
	defer d.registration.Unlock()
	infos := make(map[string]HandlerInfo, len(d.handlers))
	for name, h := range d.handlers {
		infos[name] = HandlerInfo{Steps: h.steps, fits: h.fits}
	}
	return infos
}

// Queue returns the queue that the dispatcher works on.
func (d *Dispatcher) Queue() *Queue { return d.q }

// A HandlerFunc runs an attempt, as [Handle] describes.
type HandlerFunc func(ctx context.Context, a *Attempt) error

// A Middleware wraps the handlers of a dispatcher. The function that it returns runs instead of next, and may call it.
// A panic of the handler passes through it, so that it may recover; a panic that it does not recover is a failure. Its
// error determines the outcome of the job. It is called once for each type, at registration.
type Middleware func(next HandlerFunc) HandlerFunc

// wrapHandler puts the first middleware outermost.
func wrapHandler(run HandlerFunc, all []Middleware) (HandlerFunc, error) {
	for i, middleware := range slices.Backward(all) {
		if middleware == nil {
			return nil, fmt.Errorf("DispatcherConfig.Middleware[%d] is nil", i)
		}
		if run = middleware(run); run == nil {
			return nil, fmt.Errorf("DispatcherConfig.Middleware[%d] returned nil", i)
		}
	}
	return run, nil
}
