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

func (c *claimer) run(ctx context.Context) error {
	for ctx.Err() == nil {
		free, changed := c.d.running.free()
		if free == 0 {
			c.wait(ctx, changed, 0)
			continue
		}
		result, err := c.claim(ctx, free)
		if err != nil {
			if ctx.Err() != nil {
				break
			}
			c.d.log.ErrorContext(ctx, "claiming jobs failed; trying again", logError, err)
			c.wait(ctx, nil, c.d.cfg.PollInterval)
			continue
		}
		for i := range result.Jobs {
			c.d.start(ctx, result.Jobs[i])
		}
		if len(result.Jobs) == free {
			continue
		}
		if idle, err := c.idle(ctx, result); idle || err != nil {
			return err
		}
		// A slot that becomes free is no reason to look again: there was nothing more to claim.
		c.wait(ctx, c.finishing(changed), c.pause(result.NextDue))
	}
	return nil
}

// claim runs under a context that outlives a stop: jobs that were claimed must be known, to be run or given back.
func (c *claimer) claim(ctx context.Context, limit int) (ClaimResult, error) {
	return c.d.q.driver.Claim(context.WithoutCancel(ctx), ClaimRequest{WorkerID: c.d.identity.get(), Types: c.types, Limit: limit, Now: time.Now()})
}

func (c *claimer) idle(ctx context.Context, result ClaimResult) (bool, error) {
	if !c.untilIdle || len(result.Jobs) > 0 || !result.NextDue.IsZero() || !c.d.running.empty() {
		return false, nil
	}
	counts, err := c.d.q.Counts(ctx, Filter{States: []State{StateQueued, StateRunning}, Types: c.types})
	return err == nil && len(counts) == 0, err
}

// finishing: a dispatcher that runs until it is idle looks again when a job has ended.
func (c *claimer) finishing(changed <-chan struct{}) <-chan struct{} {
	if c.untilIdle {
		return changed
	}
	return nil
}

func (c *claimer) pause(nextDue time.Time) time.Duration {
	pause := c.d.cfg.PollInterval
	if !nextDue.IsZero() {
		// Due times are cut to the microsecond; the wait must not end before.
		pause = min(pause, max(time.Until(nextDue)+time.Microsecond, 0))
	}
	return pause
}

// wait returns when woken, when changed closes, or after the pause; a pause of 0 is none of the reasons.
func (c *claimer) wait(ctx context.Context, changed <-chan struct{}, pause time.Duration) {
	var elapsed <-chan time.Time
	if pause > 0 {
		timer := time.NewTimer(pause)
		defer timer.Stop()
		elapsed = timer.C
	}
	woken := c.woken
	if pause == 0 {
		woken = nil
	}
	select {
	case <-ctx.Done():
	case <-woken:
	case <-changed:
	case <-elapsed:
	}
}
