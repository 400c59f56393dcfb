package queue

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
)

// Attribute keys of log lines.
const (
	logError    = "error"
	logJobID    = "job_id"
	logJobType  = "job_type"
	logAttempt  = "attempt"
	logWorkerID = "worker_id"
)

// A service is one background task of a dispatcher. It returns when ctx is done, or earlier if it has nothing left to
// do.
type service interface{ run(ctx context.Context) }

// serviceGroup are started and stopped together.
type serviceGroup struct {
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

func startServices(ctx context.Context, all ...service) *serviceGroup {
	ctx, cancel := context.WithCancel(ctx)
	r := &serviceGroup{cancel: cancel}
	for _, one := range all {
		r.wg.Go(func() { one.run(ctx) })
	}
	return r
}

func (r *serviceGroup) stop() {
	r.cancel()
	r.wg.Wait()
}

const (
	// answerTimeout is how long a running dispatcher waits for one answer of the database. A server that vanishes would
	// block it until TCP gives up, which takes a quarter of an hour, or for ever if a proxy between them still answers.
	answerTimeout = time.Minute
	// stopTimeout is the same for one that stops.
	stopTimeout = 5 * time.Second
)

// answered returns a copy of ctx for one call of the database, which is interrupted when patience is over, and
// stopPatience after ctx is done, also when it is a write that has begun.
func answered(ctx context.Context) (context.Context, context.CancelFunc) {
	return answeredIn(ctx, answerTimeout)
}

// answeredIn is answered with a patience of its own.
func answeredIn(ctx context.Context, patience time.Duration) (context.Context, context.CancelFunc) {
	out, interrupt := driver.WithPatience(ctx, patience)
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(stopTimeout, interrupt) })
	return out, func() {
		stop()
		interrupt()
	}
}

// answeredWithin is how long claims and ends of jobs may take under a lease: a connection that has gone silent is then
// replaced.
func answeredWithin(lease time.Duration) time.Duration {
	return min(answerTimeout, max(lease*3/2, 2*time.Second))
}

// tell sends to a channel with a buffer of one, and never blocks: several sends before a receive are one.
func tell(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// services are the parts of a running dispatcher.
type services struct {
	q        *Queue
	log      *slog.Logger
	identity *identity
	running  *runningSet

	runner      *runner
	completer   *completer
	heartbeater *heartbeater
	rescuer     *rescuer
	claimer     *claimer
	scheduler   *scheduler
	listener    *listener
	pruner      *pruner
	watchdog    *watchdog
	clockwatch  *clockwatch
	isolator    *isolator
}

func newServices(q *Queue, cfg *DispatcherConfig, h handlers) *services {
	c := &services{q: q, log: cfg.Logger, identity: newIdentity(), running: newRunningSet(poolsOf(cfg))}
	leases := &leaseChecker{driver: q.driver, log: cfg.Logger, running: c.running}
	c.completer = &completer{q: q, log: cfg.Logger, running: c.running, lease: cfg.Lease, woken: make(chan struct{}, 1)}
	c.runner = &runner{
		q: q, log: cfg.Logger, now: q.now, running: c.running, completer: c.completer, handlers: h,
		onStuck: cfg.OnStuck,
	}
	c.heartbeater = &heartbeater{
		q: q, log: cfg.Logger, now: q.now, identity: c.identity, running: c.running, leases: leases, types: h.types(),
		version: cfg.Version,
		lease:   cfg.Lease,
	}
	c.rescuer = &rescuer{q: q, log: cfg.Logger, identity: c.identity, lease: cfg.Lease}
	c.claimer = &claimer{
		driver: q.driver, finishClaimer: q.finishClaimer, log: cfg.Logger, now: q.now, telemetry: q.telemetry,
		identity: c.identity, running: c.running,
		runner: c.runner, leases: leases, handlers: h, prefetch: cfg.Prefetch, bytes: cfg.PrefetchBytes,
		poll: cfg.PollInterval, lease: cfg.Lease,
		private: driver.IsPrivate(q.driver), woken: make(chan struct{}, 1),
	}
	c.completer.claimer = c.claimer
	c.scheduler = &scheduler{
		q: q, log: cfg.Logger, now: q.now, poll: cfg.PollInterval,
		woken: make(chan struct{}, 1), hinted: make(chan struct{}, 1), faults: make(map[string]string),
	}
	c.listener = &listener{driver: q.driver, log: cfg.Logger, heard: c.heard}
	c.pruner = &pruner{q: q, log: cfg.Logger}
	c.isolator = &isolator{q: q, log: cfg.Logger, running: c.running, runner: c.runner}
	c.clockwatch = &clockwatch{q: q, log: cfg.Logger, now: q.now}
	c.watchdog = &watchdog{runner: c.runner, grace: cfg.Grace}
	return c
}

// begin registers the worker. If the database can be read and refuses the write, as on a full disk, the dispatcher
// continues as a running one does: claims are tried again, and register the worker.
func (c *services) begin(ctx context.Context, alone bool) error {
	err := c.register(ctx, alone)
	if err == nil || ctx.Err() != nil {
		return err
	}
	reading, cancel := answered(ctx)
	defer cancel()
	if _, readErr := c.q.driver.Workers(reading); readErr != nil {
		return err
	}
	c.log.ErrorContext(ctx, "registering this process failed; trying again with each claim", logError, err)
	return nil
}

func (c *services) register(ctx context.Context, alone bool) error {
	if alone {
		if err := c.rescuer.takeAll(ctx); err != nil {
			return err
		}
	}
	ctx, cancel := answered(ctx)
	defer cancel()
	_, err := c.q.driver.Heartbeat(ctx, driver.HeartbeatRequest{
		WorkerID: c.identity.get(), First: true, Types: c.heartbeater.types, Version: c.heartbeater.version,
		Now: c.q.now(),
	})
	return err
}

func (c *services) retire(ctx context.Context) error {
	err := c.q.driver.RemoveWorker(ctx, c.identity.get())
	switch {
	case err != nil && ctx.Err() != nil:
		return fmt.Errorf(
			"queue: stop dispatcher: the database has not answered for %v; the others take over what this process still has, a lease from now: %w", stopTimeout, err)
	case err != nil:
		return fmt.Errorf("queue: stop dispatcher: %w", err)
	}
	return nil
}

// heard is called when something may have changed in the database.
func (c *services) heard() {
	c.claimer.wake()
	c.scheduler.hint()
}

// dispatchers are the dispatchers of this process. They learn at once of changes to their jobs and schedules.
type dispatchers struct {
	mu  sync.Mutex
	all map[*services]struct{}
}

func (s *dispatchers) add(c *services) (remove func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = make(map[*services]struct{})
	}
	s.all[c] = struct{}{}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.all, c)
	}
}

func (s *dispatchers) cancel(jobID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.all {
		c.running.cancelJob(jobID, ErrCanceled)
	}
}

// reschedule makes all dispatchers check again for due schedules.
func (s *dispatchers) reschedule() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.all {
		c.scheduler.wake()
	}
}

// The listener learns from the database when there may be work. Where that fails, polling finds it.
type listener struct {
	driver driver.Notifier
	log    *slog.Logger
	heard  func()
}

func (l *listener) run(ctx context.Context) {
	if err := l.driver.Listen(ctx, l.heard); err != nil && ctx.Err() == nil {
		l.log.WarnContext(ctx, "listening for new jobs failed; polling goes on", logError, err)
	}
}
