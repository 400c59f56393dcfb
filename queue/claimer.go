package queue

import (
	"context"
	"time"
)

// The claimer fills free slots: when a job may have come, when one becomes due, when a slot becomes free, and in any case
// after the poll interval.
type claimer struct {
	d         *Dispatcher
	types     []string
	untilIdle bool
	woken     chan struct{}
}

func newClaimer(d *Dispatcher, untilIdle bool) *claimer {
	return &claimer{d: d, types: d.types(), untilIdle: untilIdle, woken: make(chan struct{}, 1)}
}

// wake never blocks; wakes that come while one is pending are one.
func (c *claimer) wake() {
	select {
	case c.woken <- struct{}{}:
	default:
	}
}

func (c *claimer) run(ctx context.Context) {
	for ctx.Err() == nil {
		free, changed := c.d.running.free()
		if free == 0 {
			select {
			case <-ctx.Done():
			case <-changed:
			}
			continue
		}
		result, err := c.claim(ctx, free)
		if err != nil {
			c.d.log.ErrorContext(ctx, "claiming jobs failed; trying again", logError, err)
			sleep(ctx, c.d.cfg.PollInterval)
			continue
		}
		if len(result.Jobs) == free {
			continue
		}
		if c.idle(ctx, result) {
			return
		}
		// A slot that becomes free is no reason to look again: there was nothing more to claim.
		c.wait(ctx, c.finishing(changed), c.pause(result.NextDue))
	}
}

// claim starts what it gets. It runs under a context that outlives a stop: jobs that were claimed must be known, to be
// run or given back.
func (c *claimer) claim(ctx context.Context, limit int) (ClaimResult, error) {
	worker := c.d.identity.get()
	result, err := c.d.q.driver.Claim(context.WithoutCancel(ctx), ClaimRequest{WorkerID: worker, Types: c.types, Limit: limit, Now: time.Now()})
	if err != nil {
		return result, err
	}
	for i := range result.Jobs {
		c.d.start(ctx, result.Jobs[i])
	}
	if c.d.identity.get() != worker {
		// Declared dead meanwhile; nobody keeps leases alive under the old name.
		c.d.running.cancelAll(ErrLeaseLost)
	}
	return result, nil
}

func (c *claimer) idle(ctx context.Context, result ClaimResult) bool {
	if !c.untilIdle || len(result.Jobs) > 0 || !result.NextDue.IsZero() || !c.d.running.empty() {
		return false
	}
	counts, err := c.d.q.Counts(ctx, Filter{States: []State{StateQueued, StateRunning}, Types: c.types})
	if err != nil && ctx.Err() == nil {
		c.d.log.ErrorContext(ctx, "counting jobs failed; trying again", logError, err)
	}
	return err == nil && len(counts) == 0
}

// finishing: a dispatcher that runs until it is idle looks again when a job has ended.
func (c *claimer) finishing(changed <-chan struct{}) <-chan struct{} {
	if c.untilIdle {
		return changed
	}
	return nil
}

func (c *claimer) pause(nextDue time.Time) time.Duration {
	if nextDue.IsZero() {
		return c.d.cfg.PollInterval
	}
	// Due times are cut to the microsecond; the wait must not end before.
	return min(c.d.cfg.PollInterval, time.Until(nextDue)+time.Microsecond)
}

// wait returns when woken, when changed closes, or after the pause; at once when that is over already.
func (c *claimer) wait(ctx context.Context, changed <-chan struct{}, pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-c.woken:
	case <-changed:
	case <-timer.C:
	}
}
