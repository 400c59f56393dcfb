package postgres

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// heldJobs are ready jobs that looked held at the last look. Most are being claimed by others. One that is still queued
// with the same holder much later only looks so, or belongs to a transaction that claims nothing. Its lock may be asked
// for then. To ask for the lock of a job that another claim has just taken would lock the row as it is now, so that
// the job's completion waits for the claim that asked.
type heldJobs struct {
	mu   sync.Mutex
	jobs map[heldJob]time.Time // since when it has been seen
	// since is when a claim within limits first found all ready jobs held, and no later one has found another.
	since time.Time
}

type heldJob struct{ id, jobType, holder string }

// heldLong is how long a job looks held before its lock is asked for: longer than claims take.
const heldLong = heldUp / 2

// seen replaces the jobs of the types in the list, and returns those that have been in it for long. Claims of other
// types, such as those of another dispatcher, keep theirs.
func (h *heldJobs) seen(types []string, jobs []heldJob, now time.Time) (long []heldJob) {
	h.mu.Lock()
	defer h.mu.Unlock()
	before := h.jobs
	h.jobs = make(map[heldJob]time.Time, len(jobs))
	for job, since := range before {
		if !slices.Contains(types, job.jobType) {
			h.jobs[job] = since
		}
	}
	for _, job := range jobs {
		since, ok := before[job]
		if !ok {
			since = now
		}
		h.jobs[job] = since
		if now.Sub(since) >= heldLong {
			long = append(long, job)
		}
	}
	return long
}

// fruitless notes whether a claim within limits has found all ready jobs held, and reports whether that lasts long.
func (h *heldJobs) fruitless(yes bool, now time.Time) (long bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !yes {
		h.since = time.Time{}
		return false
	}
	if h.since.IsZero() {
		h.since = now
	}
	return now.Sub(h.since) >= heldLong
}

func scanHeld(row jobsql.Scanner) (h heldJob, err error) {
	err = row.Scan(&h.id, &h.jobType, &h.holder)
	return h, err
}

// claimHeld claims jobs without limits that have looked held for long, and are not.
func (db *engine) claimHeld(ctx context.Context, req driver.ClaimRequest) (jobs []driver.Job, err error) {
	names, capacities := columns(req.Types)
	var looked []heldJob
	err = db.write(ctx, func(ctx context.Context, tx *driver.WriteTx) error {
		return laterInto(ctx, tx, &looked, scanHeld, selectHeld, names)
	})
	if err != nil {
		return nil, err
	}
	left := make(map[string]int, len(names))
	for i, name := range names {
		left[name] = capacities[i]
	}
	var ids, holders []string
	for _, job := range db.held.seen(names, looked, time.Now()) {
		if left[job.jobType] > 0 && len(ids) < req.Limit {
			left[job.jobType]--
			ids, holders = append(ids, job.id), append(holders, job.holder)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return db.takeHeld(ctx, req, ids, holders)
}

// takeHeld claims those of the jobs that are still queued with the same holder, if nobody holds their locks.
func (db *engine) takeHeld(
	ctx context.Context, req driver.ClaimRequest, ids, holders []string,
) (jobs []driver.Job, err error) {
	err = db.write(ctx, func(ctx context.Context, tx *driver.WriteTx) error {
		if err := later(ctx, tx, shareClaims); err != nil {
			return err
		}
		if err := later(ctx, tx, jobsql.EnsureWorker, req.WorkerID, req.Now); err != nil {
			return err
		}
		return laterJobs(ctx, tx, &jobs, claimHeldJobs, req.WorkerID, req.Now, ids, holders)
	})
	order(jobs)
	return jobs, err
}
