package queue

import (
	"context"
	"errors"
	"log/slog"

	"github.com/postroom-go/postroom/queue/driver"
)

// A leaseChecker asks the database which leases are still held.
type leaseChecker struct {
	driver  driver.Driver
	log     *slog.Logger
	running *runningSet
}

// verify cancels the handlers of those leases that are held no more.
func (c *leaseChecker) verify(ctx context.Context, leases []driver.Lease) {
	if len(leases) == 0 {
		return
	}
	answers, err := c.driver.CheckLeases(ctx, leases)
	if err != nil {
		if ctx.Err() == nil {
			c.log.WarnContext(ctx, "checking leases failed", logError, err)
		}
		return
	}
	for i, answer := range answers {
		if answer == nil {
			continue
		}
		if cause := c.whyNotHeld(ctx, leases[i], answer); cause != nil {
			c.running.cancel(leases[i], cause)
		}
	}
}

// whyNotHeld distinguishes a job that was canceled from one that others have taken and given back. It returns nil for a job that
// this attempt has completed.
func (c *leaseChecker) whyNotHeld(ctx context.Context, lease driver.Lease, answer error) error {
	if !errors.Is(answer, ErrNotRunning) {
		return ErrLeaseLost
	}
	switch job, err := c.driver.Job(ctx, lease.JobID); {
	case err != nil:
		return ErrLeaseLost
	case job.State == StateCanceled:
		return ErrCanceled
	case job.State == StateCompleted && job.Attempt == lease.Attempt:
		return nil
	}
	return ErrLeaseLost
}
