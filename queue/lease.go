package queue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/postroom-go/postroom/queue/driver"
)

// identity is the worker's name in the database. It changes when the worker has been declared dead.
type identity struct {
	mu sync.Mutex
	id string
}

func newIdentity() *identity {
	i := &identity{}
	i.renew()
	return i
}

func (i *identity) get() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.id
}

func (i *identity) renew() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.id = fmt.Sprintf("%s-%d-%s", host, os.Getpid(), uuid.NewString()[:8])
	return i.id
}

// The heartbeater keeps all leases of the process alive with one write, and cancels the handlers of those that were
// lost.
type heartbeater struct {
	q        *Queue
	log      *slog.Logger
	now      func() time.Time
	identity *identity
	running  *runningSet
	leases   *leaseChecker
	types    []string
	version  string
	lease    time.Duration

	// overdue fires when no beat has been written for a lease, also while one hangs.
	overdue *time.Timer
	// stray are the leases that the last check found under the worker's name and not running here.
	stray map[driver.Lease]bool
}

func (h *heartbeater) run(ctx context.Context) {
	h.overdue = time.AfterFunc(h.lease, func() {
		h.log.ErrorContext(ctx,
			"no heartbeat was written for a lease: nobody can know that this process lives, and its jobs may run elsewhere")
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
	ctx, cancel := answeredIn(ctx, min(answerTimeout, max(h.lease/2, stopTimeout)))
	defer cancel()
	alive, err := h.q.driver.Heartbeat(ctx, driver.HeartbeatRequest{WorkerID: h.identity.get(), Types: h.types,
		Version: h.version, Now: h.now()})
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
	h.log.ErrorContext(ctx, "this process was taken for dead, its jobs are lost; it goes on under a new name", "was",
		was, logWorkerID, now)
	if _, err := h.q.driver.Heartbeat(ctx, driver.HeartbeatRequest{WorkerID: now, First: true, Types: h.types,
		Version: h.version, Now: h.now()}); err != nil {
		h.log.ErrorContext(ctx, "heartbeat failed", logError, err)
		return
	}
	h.overdue.Reset(h.lease)
}

// collect gives back jobs that run under the worker's name and not in this process: their claim has committed and its
// answer was lost. They would stay running for ever, since the worker lives. A job that is being started, or has just
// ended, is also not here, but never for two checks in a row.
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

// whyNotHeld distinguishes a job that was canceled from one that others have taken and given back. It returns nil for a
// job that this attempt has completed.
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

// The rescuer looks for workers whose heartbeat has not changed for a lease, on its own monotonic clock: no two
// machines' clocks are ever compared. It removes them and gives their jobs back.
type rescuer struct {
	q        *Queue
	log      *slog.Logger
	identity *identity
	lease    time.Duration

	seen    map[string]sighting
	checked time.Time
}

type sighting struct {
	beat  int64
	since time.Time
}

func (r *rescuer) run(ctx context.Context) {
	ticker := time.NewTicker(r.lease / 4)
	defer ticker.Stop()
	for {
		if err := r.check(ctx, r.lease); err != nil && ctx.Err() == nil {
			r.log.ErrorContext(ctx, "looking for dead workers failed", logError, err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// takeAll removes every worker there is, for a dispatcher that knows it is alone.
func (r *rescuer) takeAll(ctx context.Context) error { return r.check(ctx, 0) }

func (r *rescuer) check(ctx context.Context, lease time.Duration) error {
	ctx, cancel := answered(ctx)
	defer cancel()
	workers, err := r.q.driver.Workers(ctx)
	if err != nil {
		return err
	}
	now := time.Now()
	if now.Sub(r.checked) > lease/2 {
		// This process, and perhaps the whole machine, stood still: that time says nothing about the others.
		clear(r.seen)
	}
	r.checked = now
	still := make(map[string]sighting, len(workers))
	for _, w := range workers {
		if w.ID == r.identity.get() {
			continue
		}
		s, known := r.seen[w.ID]
		if !known || s.beat != w.Beat {
			s = sighting{beat: w.Beat, since: now}
		}
		still[w.ID] = s
		if now.Sub(s.since) >= lease {
			if err := r.takeOver(ctx, w); err != nil {
				return err
			}
		}
	}
	r.seen = still
	return nil
}

func (r *rescuer) takeOver(ctx context.Context, w driver.Worker) error {
	jobs, failed, err := r.q.takeOver(ctx, w)
	if err == nil && jobs > 0 {
		r.log.WarnContext(ctx, "worker is dead; its jobs are taken over", logWorkerID, w.ID, "jobs", jobs)
		for _, job := range failed {
			sayStopped(ctx, r.log, job)
		}
	}
	return err
}

// takeOver gives back the jobs of a worker whose beat has not changed since it was seen. It returns their number, and
// those that have failed.
func (q *Queue) takeOver(ctx context.Context, w driver.Worker) (taken int, failed []*Job, err error) {
	var jobs []Job
	err = q.writeSoon(ctx, func(ctx context.Context, tx *driver.WriteTx) error {
		held, err := q.driver.RemoveDeadWorker(ctx, tx, w)
		if jobs = jobsOf(held); err != nil || len(jobs) == 0 {
			return err
		}
		// A worker without handlers has called Claim, and was given all its jobs to run.
		byHand := w.Beat >= 0 && w.Types == nil
		outcomes := make([]driver.Outcome, len(jobs))
		for i := range jobs {
			begun := byHand || len(jobs) == 1 || held[i].Begun()
			outcomes[i] = judgeCrash(&jobs[i], tx.Now(), q.budget, begun)
		}
		answers, err := q.driver.Finish(ctx, tx, outcomes)
		if err != nil {
			return err
		}
		failed = nil
		for i := range outcomes {
			if outcomes[i].State == StateFailed && answers[i] == nil {
				failed = append(failed, &jobs[i])
			}
		}
		if err := q.recordCrashes(ctx, tx, jobs, outcomes, answers); err != nil {
			return err
		}
		return q.driver.Notify(ctx, tx)
	})
	return len(jobs), failed, err
}

// ReleaseWorker declares a worker dead that a person knows to be, and gives its jobs back, as a [Dispatcher] that runs
// does within two leases. It returns their number, 0 for a worker that is unknown or has shown a sign of life
// meanwhile. The worker, if it lives after all, loses the leases of its jobs: see [ErrLeaseLost].
func (q *Queue) ReleaseWorker(ctx context.Context, workerID string) (jobs int, err error) {
	workers, err := q.driver.Workers(ctx)
	for _, w := range workers {
		if w.ID == workerID && err == nil {
			jobs, _, err = q.takeOver(ctx, w)
		}
	}
	return jobs, wrap("release worker", "", err)
}
