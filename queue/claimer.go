package queue

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
)

// The claimer keeps the slots busy. It claims when a job may have come, when one becomes due, when a slot becomes free, and in
// any case after the poll interval. It claims ahead as many jobs as the slots can run in [DispatcherConfig].Prefetch, or until
// the next claim is answered, so that short jobs do not wait for one claim each, and long jobs are left to other processes with
// free slots.
type claimer struct {
	driver    driver.Claimer
	turns     driver.FinishClaimer // nil where the engine has none
	log       *slog.Logger
	now       func() time.Time
	telemetry *telemetry
	identity  *identity
	running   *runningSet
	runner    *runner
	leases    *leaseChecker
	handlers  handlers
	prefetch  time.Duration
	poll      time.Duration
	private   bool // see [driver.Private]
	// idle reports whether there is nothing to wait for, once nothing runs; nil: claim until ctx is done.
	idle func(ctx context.Context, nextDue time.Time) bool

	woken chan struct{}
	quiet time.Time // since when nothing has come; zero: something just has

	// mu is held during a claim: two concurrent claims would both use the capacity of the process.
	mu      sync.Mutex
	asking  atomic.Bool // the database
	pace    pace
	due     time.Time // when the latest claim said that there may be more
	stopped bool      // and no claim may be made
}

func (c *claimer) wake() { tell(c.woken) }

// claimAgain is how soon a claim that has failed is tried again, also with a longer PollInterval: the wake-up that led to it
// is not repeated.
const claimAgain = time.Second

func (c *claimer) run(ctx context.Context) {
	defer c.stop()
	for ctx.Err() == nil {
		changed := c.changed() // before the look, so that no end is missed meanwhile
		d, result, err := c.claim(ctx)
		switch {
		case len(d.capacities) == 0:
			c.waitForCapacity(ctx, changed, nil)
			continue
		case d.limit == 0:
			c.waitForCapacity(ctx, changed, c.running.hungryBelow(d.ahead/2))
			continue
		case err != nil:
			c.log.ErrorContext(ctx, "claiming jobs failed; trying again", logError, err)
			sleep(ctx, min(c.poll, claimAgain))
			continue
		case result.More:
			continue
		}
		if len(result.Jobs) == 0 && c.idle != nil && c.running.empty() && c.idle(ctx, result.NextDue) {
			return
		}
		// A slot that becomes free is no reason to look again: there was nothing more to claim.
		c.wait(ctx, changed, c.pause(result.NextDue))
	}
}

// stop returns when no claim is under way, and none will be.
func (c *claimer) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = true
}

// A demand is what a process claims now. It claims nothing without capacities, or with a limit of 0.
type demand struct {
	capacities []driver.TypeCapacity
	limit      int
	ahead      int // how many are to be claimed ahead
}

func (c *claimer) demand() demand {
	load := c.running.load()
	d := demand{ahead: c.pace.ahead(load, c.running.slots, c.pace.reach(c.prefetch)), capacities: c.capacities()}
	if load.idle > 0 || load.backlog <= d.ahead/2 {
		d.limit = load.idle + max(0, d.ahead-load.backlog)
	}
	return d
}

// claim claims jobs and starts them. It runs under a context that outlives a stop: claimed jobs must be known, to be run or given
// back.
func (c *claimer) claim(ctx context.Context) (d demand, result driver.ClaimResult, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d = c.demand()
	if len(d.capacities) == 0 || d.limit == 0 {
		return d, result, nil
	}
	req, began := c.request(d), time.Now()
	answered, cancel := answered(ctx)
	defer cancel()
	c.asking.Store(true)
	result, err = c.driver.Claim(driver.Begun(answered), req)
	c.asking.Store(false)
	c.pace.waited(time.Since(began))
	if err != nil {
		return d, result, err
	}
	c.due = result.NextDue
	c.start(ctx, req.WorkerID, result.Jobs)
	if len(result.Jobs) > 0 {
		c.quiet = time.Time{}
	}
	return d, result, nil
}

// request is of a claim that begins now.
func (c *claimer) request(d demand) driver.ClaimRequest {
	worker := c.identity.get()
	c.running.expect()
	return driver.ClaimRequest{WorkerID: worker, Types: d.capacities, Limit: d.limit, Now: c.now()}
}

// start starts the claimed jobs under the worker's name.
func (c *claimer) start(ctx context.Context, worker string, jobs []driver.Job) {
	if c.telemetry.claimed.Enabled(ctx) {
		c.telemetry.countClaimed(ctx, jobsOf(jobs))
	}
	c.runner.start(ctx, jobs)
	answered, cancel := answered(ctx)
	defer cancel()
	c.leases.verify(driver.Begun(answered), c.running.missed(jobs))
	if c.identity.get() != worker {
		// The process was declared dead meanwhile, and the leases under the old name are no longer renewed.
		c.running.cancelAll(ErrLeaseLost)
	}
}

// capacities are the types that this process may take more jobs of.
func (c *claimer) capacities() []driver.TypeCapacity {
	capacities := make([]driver.TypeCapacity, 0, len(c.handlers))
	for name, h := range c.handlers {
		capacity := maxCapacity
		if h.concurrency > 0 {
			capacity = h.concurrency - c.running.activeOf(name)
		}
		if capacity > 0 {
			capacities = append(capacities, driver.TypeCapacity{Type: name, Capacity: capacity})
		}
	}
	return capacities
}

// maxCapacity is the capacity of a type without a bound in this process.
const maxCapacity = 1 << 20

func (c *claimer) pause(nextDue time.Time) time.Duration {
	poll := c.poll
	if c.private {
		poll = max(poll, min(c.quietFor(), maxQuietPoll))
	}
	if nextDue.IsZero() {
		return poll
	}
	// Due times are cut to the microsecond; the wait must not end before.
	return min(poll, nextDue.Sub(c.now())+time.Microsecond)
}

// maxQuietPoll bounds how rarely a dispatcher looks where no other process can enqueue.
const maxQuietPoll = time.Minute

// quietFor is how long nothing has come.
func (c *claimer) quietFor() time.Duration {
	if c.quiet.IsZero() {
		c.quiet = time.Now()
	}
	return time.Since(c.quiet)
}

// changed closes when a job has ended and that is a reason to look again: a type that was full has capacity, or a dispatcher that
// runs until it is idle has become idle.
func (c *claimer) changed() <-chan struct{} {
	if c.idle != nil || c.handlers.bounded() {
		return c.running.watch()
	}
	return nil
}

// wait returns when woken, when a job has ended and that matters, or after the pause.
func (c *claimer) wait(ctx context.Context, changed <-chan struct{}, pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-c.woken:
		c.quiet = time.Time{}
	case <-changed:
		c.quiet = time.Time{}
	case <-timer.C:
	}
}

// waitForCapacity returns when hungry reports that a slot is idle or the backlog short, or when a type has capacity again. When
// neither happens for long, the jobs that were claimed ahead are given back, so that other processes can run them.
func (c *claimer) waitForCapacity(ctx context.Context, changed, hungry <-chan struct{}) {
	if !c.handlers.bounded() {
		changed = nil // an end that leaves no slot idle changes nothing
	}
	patience := max(10*c.prefetch, 4*c.pace.reach(c.prefetch), 100*time.Millisecond)
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-hungry:
	case <-changed:
	case <-timer.C:
		c.runner.giveBack(time.Now().Add(-patience))
	}
}
