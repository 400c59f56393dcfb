package queue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
)

// DispatcherConfig configures a dispatcher. The zero DispatcherConfig uses the defaults.
type DispatcherConfig struct {
	// Workers is how many jobs run at once in this process. Default 10; at least 1.
	Workers int
	// PollInterval is how long a dispatcher with nothing to do waits before it claims again unasked. Default 1 s; at
	// least 1 ms. On a database in memory that queuetest.New has made, it waits as long as nothing has happened, at
	// most 1 min.
	PollInterval time.Duration
	// Prefetch is how far ahead of its free slots the process claims: as many jobs as its handlers can run in that
	// time, at most 1000. If claims take more than a quarter of it, as with many machines on a busy server, it extends
	// to four times the duration of a claim, and at most ten times Prefetch. Jobs of higher priority that arrive then
	// wait as long, and so may an idle machine. Jobs that turn out to wait much longer are given back. Default 50 ms;
	// at most 1 min. Negative: no prefetch.
	Prefetch time.Duration
	// PrefetchBytes bounds the payloads of the jobs that the process has claimed ahead of its free slots, in bytes as
	// they are stored; one job may exceed it. Where limits are set, the first claim of larger jobs than before may take
	// more. Default 16 MiB; at least 1.
	PrefetchBytes int
	// Lease is how long a process may miss heartbeats before the others take its jobs. It sends one every third of
	// that. Default 30 s; at least 100 ms.
	Lease time.Duration
	// Drain is how long a stopping dispatcher waits for its handlers before it cancels their contexts, and then again
	// for them to return. Handlers that were given up before are waited for as well, once. Default 30 s. Negative: not
	// at all.
	Drain time.Duration
	// Grace is how long after its context was canceled a handler may continue before it is given up: the end of its
	// attempt is written as if it had returned then, another handler may take its slot, and its further writes are
	// refused. At a shutdown, Drain is that time. It is checked every quarter of it. Default 30 s; at least 1 ms.
	Grace time.Duration
	// OnStuck is called once for each handler that is given up. It must not block: other handlers are given up after it
	// returns. Default: one log line.
	OnStuck func(ctx context.Context, h StuckHandler)
	// Middleware wraps every handler that is registered, the first outermost.
	Middleware []Middleware
	// Exclusive says that no other dispatcher works on this database, so that the jobs of dead workers are taken over
	// at the start instead of a lease later. The host must guarantee it, for example with a lock.
	Exclusive bool
	// Logger is the logger of the dispatcher. Default: the queue's.
	Logger *slog.Logger
}

func (c *DispatcherConfig) withDefaults(q *Queue) (DispatcherConfig, error) {
	var cfg DispatcherConfig
	if c != nil {
		cfg = *c
	}
	if cfg.Workers == 0 {
		cfg.Workers = 10
	}
	if cfg.PollInterval == 0 {
		cfg.PollInterval = time.Second
	}
	if cfg.Prefetch == 0 {
		cfg.Prefetch = 50 * time.Millisecond
	}
	cfg.Prefetch = max(0, cfg.Prefetch)
	if cfg.PrefetchBytes == 0 {
		cfg.PrefetchBytes = 16 << 20
	}
	if cfg.Lease == 0 {
		cfg.Lease = 30 * time.Second
	}
	if cfg.Drain == 0 {
		cfg.Drain = 30 * time.Second
	}
	if cfg.Grace == 0 {
		cfg.Grace = 30 * time.Second
	}
	if cfg.Logger == nil {
		cfg.Logger = q.log
	}
	switch {
	case cfg.Workers < 1:
		return cfg, fmt.Errorf("queue: DispatcherConfig.Workers is %d; it must be at least 1", cfg.Workers)
	case cfg.PollInterval < time.Millisecond:
		return cfg, fmt.Errorf("queue: DispatcherConfig.PollInterval is %v; it must be at least 1ms", cfg.PollInterval)
	case cfg.Prefetch > time.Minute:
		return cfg, fmt.Errorf("queue: DispatcherConfig.Prefetch is %v; it must be at most 1m", cfg.Prefetch)
	case cfg.PrefetchBytes < 1:
		return cfg, fmt.Errorf("queue: DispatcherConfig.PrefetchBytes is %d; it must be at least 1", cfg.PrefetchBytes)
	case cfg.Lease < 100*time.Millisecond:
		return cfg, fmt.Errorf("queue: DispatcherConfig.Lease is %v; it must be at least 100ms", cfg.Lease)
	case cfg.Grace < time.Millisecond:
		return cfg, fmt.Errorf("queue: DispatcherConfig.Grace is %v; it must be at least 1ms", cfg.Grace)
	}
	return cfg, nil
}

// A Dispatcher claims jobs and runs their handlers. Register those with [Handle], then call [Dispatcher.Run].
type Dispatcher struct {
	q   *Queue
	cfg DispatcherConfig

	registration sync.Mutex // guards the fields below, until started
	started      bool
	handlers     handlers
	faults       []error // Run returns them
}

// NewDispatcher makes a dispatcher; cfg may be nil.
func NewDispatcher(q *Queue, cfg *DispatcherConfig) (*Dispatcher, error) {
	if q == nil || q.driver == nil {
		return nil, errors.New("queue: NewDispatcher needs a Queue: make one with queue.New")
	}
	c, err := cfg.withDefaults(q)
	if err != nil {
		return nil, err
	}
	return &Dispatcher{q: q, cfg: c, handlers: make(handlers)}, nil
}

var errStarted = errors.New("queue: the dispatcher has been run before; make a new one")

// Run claims and runs jobs until ctx is done, then stops in order: it claims no more, waits for running handlers (see
// [DispatcherConfig.Drain]), and gives back, without spending an attempt, the jobs that did not end in time. It returns
// nil after a clean stop, also when ctx is done before it has started. Otherwise it returns an error that names the
// jobs whose handlers did not return although their contexts were canceled, or that says that the database did not
// accept the ends of some for a whole lease.
//
// It returns at most 2·Drain + Lease + 10 s after ctx is done, also when the database does not answer: 5 s for a
// running claim, Drain for the handlers to end and once more for canceled ones to return, Lease for the ends of their
// jobs to be written, and 5 s for the rest. Running writes are interrupted then, those of handlers if they use the
// context they were given; other processes take over the remaining jobs a lease later.
func (d *Dispatcher) Run(ctx context.Context) error { return d.run(ctx, false) }

// RunUntilIdle is Run that also returns once it is idle, for command lines and tests. It is idle when no job of the
// types it handles runs, in any process, and none is queued except paused ones (see [Queue.Pause]), which cannot start.
// It waits for jobs that are not due yet, however late, for jobs that wait for their next attempt or for a limit, and
// for jobs that run in other processes. Once it has waited for 5 s, one log line (Info) says for how many, and when the
// next one is due. It fires the schedules that are due as it begins, and waits for no others.
func (d *Dispatcher) RunUntilIdle(ctx context.Context) error { return d.run(ctx, true) }

func (d *Dispatcher) run(ctx context.Context, untilIdle bool) error {
	if err := validContext(ctx); err != nil {
		return wrap("start dispatcher", "", err)
	}
	if err := d.start(); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return nil
	}
	if d.q.inWrite(ctx) { // which would wait for its jobs, and they for it
		return wrap("start dispatcher", "", ErrNestedWrite)
	}
	c := newServices(d.q, &d.cfg, d.handlers)
	if untilIdle {
		check := &idleCheck{driver: d.q.driver, log: d.cfg.Logger, running: c.running, types: d.handlers.types()}
		c.claimer.idle = check.idle
	}
	working, interrupt := driver.WithInterrupt(ctx)
	defer interrupt()
	// The services outlive ctx: a stopping dispatcher still completes jobs and keeps its leases.
	background := driver.Begun(working)
	if err := c.begin(working, d.cfg.Exclusive); err != nil {
		if ctx.Err() == nil {
			return wrap("start dispatcher", "", err)
		}
		defer time.AfterFunc(stopTimeout, interrupt).Stop()
		return c.retire(background) // it may be registered for all that
	}
	remove := d.q.local.add(c)
	defer remove()

	keepers := startServices(background, c.heartbeater, c.rescuer, c.pruner, c.watchdog, c.clockwatch, c.isolator)
	completer := startServices(background, c.completer)

	claiming, stopClaiming := context.WithCancel(working)
	c.scheduler.fireDue(claiming) // before the claimer may find nothing to do
	listener := startServices(claiming, c.scheduler, c.listener)
	c.claimer.run(claiming)
	stopClaiming()
	listener.stop()

	c.runner.drain(background, d.cfg.Drain)
	var unwritten error
	if !c.running.waitWritten(d.cfg.Lease) {
		unwritten = errors.New("queue: the ends of some jobs could not be written; they will run again")
	}
	leaked := c.runner.leaked() // before they are interrupted
	defer time.AfterFunc(stopTimeout, interrupt).Stop()
	completer.stop()
	keepers.stop()
	return errors.Join(c.retire(background), leaked, unwritten)
}

// An idleCheck decides when [Dispatcher.RunUntilIdle] returns, and logs what it waits for.
type idleCheck struct {
	driver  driver.Driver
	log     *slog.Logger
	running *runningSet
	types   []string

	ended int       // handlers that had returned when the wait began
	since time.Time // when it began; zero: it has not
	said  bool      // logged, for this wait
}

// sayAfter is how long a wait is when it is worth a line.
const sayAfter = 5 * time.Second

// The jobs that are left, of the types that are handled.
type jobsLeft struct{ queued, running, paused int }

// nothing reports whether no job can start any more without an intervention.
func (l jobsLeft) nothing() bool { return l.running == 0 && l.queued == l.paused }

// idle is asked when nothing runs here and nothing was claimed; nextDue is when a job becomes due, zero when that is
// not known.
func (i *idleCheck) idle(ctx context.Context, nextDue time.Time) bool {
	left, err := i.left(ctx)
	switch {
	case err != nil:
		if ctx.Err() == nil {
			i.log.ErrorContext(ctx, "counting jobs failed; trying again", logError, err)
		}
		return false
	case left.nothing():
		if left.paused > 0 {
			i.log.InfoContext(ctx, "idle: all jobs that are left are paused", "paused", left.paused)
		}
		return true
	}
	i.say(ctx, left, nextDue)
	return false
}

func (i *idleCheck) say(ctx context.Context, left jobsLeft, nextDue time.Time) {
	if ended := i.running.load().ended; i.since.IsZero() || ended != i.ended {
		i.since, i.ended, i.said = time.Now(), ended, false
		return
	}
	if i.said || time.Since(i.since) < sayAfter {
		return
	}
	i.said = true
	attrs := []any{"queued", left.queued, "running_elsewhere", left.running, "paused", left.paused}
	if !nextDue.IsZero() {
		attrs = append(attrs, "next_due", nextDue)
	}
	i.log.InfoContext(ctx, "not idle yet: waiting for jobs that are not due, limited, or running in other processes",
		attrs...)
}

func (i *idleCheck) left(ctx context.Context) (left jobsLeft, err error) {
	counts, err := i.driver.Counts(ctx, driver.Filter{States: []State{StateQueued, StateRunning}, Types: i.types})
	if err != nil || counts[StateQueued] == 0 {
		return jobsLeft{running: counts[StateRunning]}, err
	}
	left = jobsLeft{queued: counts[StateQueued], running: counts[StateRunning]}
	limits, err := i.driver.Limits(ctx)
	if err != nil || !slices.ContainsFunc(limits, func(l driver.LimitStatus) bool { return l.Paused }) {
		return left, err
	}
	free, err := i.free(ctx, limits)
	left.paused = max(0, left.queued-free)
	return left, err
}

// free counts queued jobs that are not paused. Where keys are paused it may stop at the first.
func (i *idleCheck) free(ctx context.Context, limits []driver.LimitStatus) (int, error) {
	var types []string
	for _, t := range i.types {
		if !pausedType(limits, t) {
			types = append(types, t)
		}
	}
	if len(types) == 0 {
		return 0, nil
	}
	filter := driver.Filter{States: []State{StateQueued}, Types: types}
	counts, err := i.driver.Counts(ctx, filter)
	if err != nil || counts[StateQueued] == 0 {
		return 0, err
	}
	if !slices.ContainsFunc(limits, func(l driver.LimitStatus) bool {
		return l.Paused &&
			l.Kind != driver.TargetType
	}) {
		return counts[StateQueued], nil
	}
	for filter.Limit = maxListing; ; {
		jobs, err := i.driver.Jobs(ctx, filter)
		free := slices.ContainsFunc(jobs, func(j driver.Job) bool { return !pausedKey(limits, j.LimitKey) })
		switch {
		case err != nil:
			return 0, err
		case free:
			return counts[StateQueued], nil
		case len(jobs) < filter.Limit:
			return 0, nil
		}
		filter.Before = jobs[len(jobs)-1].ID
	}
}

func pausedType(limits []driver.LimitStatus, jobType string) bool {
	return slices.ContainsFunc(limits, func(l driver.LimitStatus) bool {
		return l.Paused && l.Kind == driver.TargetType && (l.Name == jobType || l.Name == driver.AllTypes)
	})
}

// pausedKey reports whether the key or a beginning of it is paused.
func pausedKey(limits []driver.LimitStatus, key string) bool {
	return key != "" && slices.ContainsFunc(limits, func(l driver.LimitStatus) bool {
		return l.Paused && (l.Kind == driver.TargetKey && l.Name == key || l.Kind == driver.TargetKeyPrefix &&
			strings.HasPrefix(key, l.Name))
	})
}
