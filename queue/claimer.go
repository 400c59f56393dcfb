package queue

import (
	"context"
	"log/slog"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
)

// The claimer keeps the slots busy: it claims when a job may have come, when one becomes due, when a slot becomes free, and
// in any case after the poll interval. It claims ahead as many jobs as the slots can run in [DispatcherConfig].Prefetch, or until the
// next claim is answered, so that jobs that take no time do not wait for one claim each, and jobs that take long are left to
// whoever is free first.
type claimer struct {
	driver    driver.Claimer
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
	pace  pace
	quiet time.Time // since when nothing has come; zero: something just has
}

func (c *claimer) wake() { tell(c.woken) }

// claimAgain is how soon a claim that has failed is tried again, also where nobody polls as often: who woke the claimer, or
// a listener that is connected again, does not come back.
const claimAgain = time.Second

func (c *claimer) run(ctx context.Context) {
	for ctx.Err() == nil {
		changed := c.changed() // before it looks, so that what ends meanwhile is not missed
		load := c.running.load()
		ahead := c.pace.ahead(load, c.running.slots, c.pace.reach(c.prefetch))
		capacities := c.capacities()
		limit := load.idle + max(0, ahead-load.backlog)
		switch {
		case len(capacities) == 0:
			c.waitForCapacity(ctx, changed, nil)
			continue
		case limit == 0, load.idle == 0 && load.backlog > ahead/2:
			c.waitForCapacity(ctx, changed, c.running.hungryBelow(ahead/2))
			continue
		}
		result, err := c.claim(ctx, capacities, limit)
		if err != nil {
			c.log.ErrorContext(ctx, "claiming jobs failed; trying again", logError, err)
			sleep(ctx, min(c.poll, claimAgain))
			continue
		}
		if result.More {
			continue
		}
		if len(result.Jobs) == 0 && c.idle != nil && c.running.empty() && c.idle(ctx, result.NextDue) {
			return
		}
		// A slot that becomes free is no reason to look again: there was nothing more to claim.
		c.wait(ctx, changed, c.pause(result.NextDue))
	}
}

// claim starts what it gets. It runs under a context that outlives a stop: jobs that were claimed must be known, to be
// run or given back.
func (c *claimer) claim(ctx context.Context, capacities []driver.TypeCapacity, limit int) (driver.ClaimResult, error) {
	worker := c.identity.get()
	c.running.expect()
	began := time.Now()
	result, err := c.driver.Claim(context.WithoutCancel(ctx), driver.ClaimRequest{WorkerID: worker, Types: capacities, Limit: limit, Now: c.now()})
	c.pace.waited(time.Since(began))
	if err != nil {
		return result, err
	}
	if len(result.Jobs) > 0 {
		c.quiet = time.Time{}
	}
	if c.telemetry.claimed.Enabled(ctx) {
		c.telemetry.countClaimed(ctx, jobsOf(result.Jobs))
	}
	c.runner.start(ctx, result.Jobs)
	c.leases.verify(context.WithoutCancel(ctx), c.running.missed(result.Jobs))
	if c.identity.get() != worker {
		// Declared dead meanwhile; nobody keeps leases alive under the old name.
		c.running.cancelAll(ErrLeaseLost)
	}
	return result, nil
}

// capacities are the types of which this process may take more.
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

// maxCapacity is that of a type without a bound in this process.
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

// changed closes when a job has ended, where that is a reason to look again: a type that was full has room, or a dispatcher
// that runs until it is idle has become so.
func (c *claimer) changed() <-chan struct{} {
	if c.idle != nil || c.handlers.bounded() {
		return c.running.watch()
	}
	return nil
}

// wait returns when woken, when a job has ended and that matters, or after the pause; at once when that is over already.
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

// waitForCapacity returns when hungry tells that a slot is idle or the backlog short, or a type has room again. Where neither
// comes about, jobs that were claimed ahead turn out to take long: they are given back, for whoever is free.
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
