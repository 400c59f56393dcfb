package queue

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
)

// The heartbeater keeps all leases of the process alive with one write, and cancels the handlers of those that were lost.
type heartbeater struct {
	q        *Queue
	log      *slog.Logger
	now      func() time.Time
	identity *identity
	running  *runningSet
	leases   *leaseChecker
	types    []string
	lease    time.Duration

	// overdue fires when no beat has been written for a lease, also while one hangs.
	overdue *time.Timer
	// stray are the leases that the last look found under the worker's name and not running here.
	stray map[driver.Lease]bool
}

func (h *heartbeater) run(ctx context.Context) {
	h.overdue = time.AfterFunc(h.lease, func() {
		h.log.ErrorContext(ctx, "no heartbeat was written for a lease: nobody can know that this process lives, and its jobs may run elsewhere")
		h.running.cancelAll(ErrLeaseLost)
	})
	defer h.overdue.Stop()
	ticker := time.NewTicker(h.lease / 3)
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

// beat does not wait for an answer longer than leaves time for another try within the lease.
func (h *heartbeater) beat(ctx context.Context) {
	ctx, cancel := answeredIn(ctx, min(patience, max(h.lease/2, stopPatience)))
	defer cancel()
	alive, err := h.q.driver.Heartbeat(ctx, driver.HeartbeatRequest{WorkerID: h.identity.get(), Types: h.types, Now: h.now()})
	switch {
	case err != nil && ctx.Err() != nil:
		return
	case err != nil:
		h.log.ErrorContext(ctx, "heartbeat failed", logError, err)
		return
	case !alive:
		h.revive(ctx)
		return
	}
	h.overdue.Reset(h.lease)
	h.leases.verify(ctx, h.running.leases())
	h.collect(ctx)
}

// revive gives a process that was declared dead a new identity; its earlier jobs are lost.
func (h *heartbeater) revive(ctx context.Context) {
	was := h.identity.get()
	// In this order: the claimer itself cancels the jobs of a later claim under the old name.
	now := h.identity.renew()
	h.running.cancelAll(ErrLeaseLost)
	h.log.ErrorContext(ctx, "this process was taken for dead, its jobs are lost; it goes on under a new name", "was", was, logWorkerID, now)
	if _, err := h.q.driver.Heartbeat(ctx, driver.HeartbeatRequest{WorkerID: now, First: true, Types: h.types, Now: h.now()}); err != nil {
		h.log.ErrorContext(ctx, "heartbeat failed", logError, err)
		return
	}
	h.overdue.Reset(h.lease)
}

// collect gives back jobs that run under the worker's name and not in this process: their claim has committed and its answer was
// lost. They would stay running for ever, since the worker lives. A job that is being started, or has just ended, is also not
// here, but never for two looks in a row.
func (h *heartbeater) collect(ctx context.Context) {
	held, err := h.q.driver.WorkerJobs(ctx, h.identity.get())
	if err != nil {
		if ctx.Err() == nil {
			h.log.WarnContext(ctx, "looking for stray jobs failed", logError, err)
		}
		return
	}
	stray := make(map[driver.Lease]bool)
	for i := range held {
		lease := held[i].Lease()
		switch {
		case h.running.has(lease):
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
	err := h.q.fail(ctx, job, Defer(errStray, 0))
	h.log.WarnContext(ctx, "a job that was claimed and never begun is given back",
		logJobID, job.ID, logJobType, job.Type, logAttempt, job.Attempt, logError, err)
}

var errStray = errors.New("claimed, but the answer was lost")
