package queue

import (
	"context"
	"errors"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
)

// The heartbeater keeps all leases of the process alive with one write, and cancels the handlers of those that were lost.
type heartbeater struct {
	d *Dispatcher
	// overdue fires when no beat has been written for a lease, also while one hangs.
	overdue *time.Timer
	// stray are the leases that the last look found under the worker's name and not running here.
	stray map[Lease]bool
}

func newHeartbeater(d *Dispatcher) *heartbeater { return &heartbeater{d: d} }

func (h *heartbeater) run(ctx context.Context) {
	h.overdue = time.AfterFunc(h.d.cfg.Lease, func() {
		h.d.log.ErrorContext(ctx, "no heartbeat was written for a lease: nobody can know that this process lives, and its jobs may run elsewhere")
		h.d.running.cancelAll(ErrLeaseLost)
	})
	defer h.overdue.Stop()
	ticker := time.NewTicker(h.d.cfg.Lease / 3)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			h.beat(ctx)
		}
	}
}

func (h *heartbeater) beat(ctx context.Context) {
	alive, err := h.d.q.driver.Heartbeat(ctx, driver.HeartbeatRequest{WorkerID: h.d.identity.get(), Types: h.d.types(), Now: time.Now()})
	switch {
	case err != nil && ctx.Err() != nil:
		return
	case err != nil:
		h.d.log.ErrorContext(ctx, "heartbeat failed", logError, err)
		return
	case !alive:
		h.revive(ctx)
		return
	}
	h.overdue.Reset(h.d.cfg.Lease)
	h.d.verify(ctx, h.d.running.leases())
	h.collect(ctx)
}

// revive gives a process that was declared dead a new identity; what it ran before is lost.
func (h *heartbeater) revive(ctx context.Context) {
	was := h.d.identity.get()
	// In this order: what a claim under the old name adds from here on, the claimer itself cancels.
	now := h.d.identity.renew()
	h.d.running.cancelAll(ErrLeaseLost)
	h.d.log.ErrorContext(ctx, "this process was taken for dead, its jobs are lost; it goes on under a new name", "was", was, logWorkerID, now)
	if _, err := h.d.q.driver.Heartbeat(ctx, driver.HeartbeatRequest{WorkerID: now, First: true, Types: h.d.types(), Now: time.Now()}); err != nil {
		h.d.log.ErrorContext(ctx, "heartbeat failed", logError, err)
		return
	}
	h.overdue.Reset(h.d.cfg.Lease)
}

// verify cancels the handlers of those leases that are held no more.
func (d *Dispatcher) verify(ctx context.Context, leases []Lease) {
	if len(leases) == 0 {
		return
	}
	answers, err := d.q.driver.CheckLeases(ctx, mapped(leases, Lease.lookup))
	if err != nil {
		if ctx.Err() == nil {
			d.log.WarnContext(ctx, "checking leases failed", logError, err)
		}
		return
	}
	for i, answer := range answers {
		if answer == nil {
			continue
		}
		if cause := d.whyNotHeld(ctx, leases[i], answer); cause != nil {
			d.running.cancel(leases[i], cause)
		}
	}
}

// whyNotHeld tells a job that was canceled from one that others have taken and given back. It is nil for one that this very
// attempt has completed.
func (d *Dispatcher) whyNotHeld(ctx context.Context, lease Lease, answer error) error {
	if !errors.Is(answer, ErrNotRunning) {
		return ErrLeaseLost
	}
	switch job, err := d.q.driver.Job(ctx, lease.JobID); {
	case err != nil:
		return ErrLeaseLost
	case job.State == StateCanceled:
		return ErrCanceled
	case job.State == StateCompleted && job.Attempt == lease.Attempt:
		return nil
	}
	return ErrLeaseLost
}

// collect gives back what runs under the worker's name and not here: jobs whose claim has committed while its answer was
// lost. They would stay running for ever, since the worker lives. A job that is just being started, or has just ended, is
// not here either, but never for two looks on end.
func (h *heartbeater) collect(ctx context.Context) {
	held, err := h.d.q.driver.WorkerJobs(ctx, h.d.identity.get())
	if err != nil {
		if ctx.Err() == nil {
			h.d.log.WarnContext(ctx, "looking for stray jobs failed", logError, err)
		}
		return
	}
	stray := make(map[Lease]bool)
	for i := range held {
		lease := Lease(held[i].Lease())
		switch {
		case h.d.running.has(lease):
		case !h.stray[lease]:
			stray[lease] = true
		default:
			job := Job(held[i])
			h.giveBack(ctx, &job)
		}
	}
	h.stray = stray
}

func (h *heartbeater) giveBack(ctx context.Context, job *Job) {
	err := h.d.q.Fail(ctx, job, Defer(errStray, 0))
	h.d.log.WarnContext(ctx, "a job that was claimed and never begun is given back",
		logJobID, job.ID, logJobType, job.Type, logAttempt, job.Attempt, logError, err)
}

var errStray = errors.New("claimed, but the answer was lost")
