package queue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/built"
	"github.com/postroom-go/postroom/queue/internal/idle"
)

// DispatcherConfig configures a dispatcher. The zero DispatcherConfig uses the defaults.
type DispatcherConfig struct {
	// Workers is how many jobs run at once in this process, beside those of Pools. Default 10; at least 1.
	Workers int
	// Pools are further slots by the names of pools: those of "mail" run only jobs of the types whose handlers are
	// registered [WithPool]("mail"), and no other jobs keep them waiting. At least 1 each. Default: none.
	Pools map[string]int
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
	// Version is the version of the program, which is shown with its workers. At most 80 bytes. Default: that of its
	// build information: of the main module, or the beginning of the commit.
	Version string
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
	if cfg.Version == "" {
		cfg.Version = built.Version()
	}
	if err := validPools(cfg.Pools); err != nil {
		return cfg, err
	}
	cfg.Pools = maps.Clone(cfg.Pools)
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
	case !isText(cfg.Version) || len(cfg.Version) > built.MaxVersion:
		return cfg, fmt.Errorf("queue: DispatcherConfig.Version is %q; it must be text of at most %d bytes",
			cutID(cfg.Version), built.MaxVersion)
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
// types it handles runs, in any process, and none is queued except those that cannot start: they are paused (see
// [Queue.Pause]), wait for signals without a bound (see [Await]), or come after such jobs, or after failed ones, in
// their [Options].Sequence or their flow.
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
		c.claimer.idle = (&idle.Check{Driver: d.q.driver, Log: d.cfg.Logger, Types: d.handlers.types(),
			Ended: func() int { return c.running.load().ended }}).Idle
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
