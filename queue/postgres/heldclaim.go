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
}

type heldJob struct{ id, jobType, holder string }

// heldColumns are the jobs to ask for, as the columns of one statement.
type heldColumns struct{ ids, holders []string }

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

func scanHeld(row jobsql.Scanner) (h heldJob, err error) {
	err = row.Scan(&h.id, &h.jobType, &h.holder)
	return h, err
}

// Of so many claims of a process one also asks for the jobs that only look held, so that none is passed over for long
// where each claim finds others.
const asksOnceIn = 16

func (db *engine) asksForHeld() bool { return db.claims.Add(1)%asksOnceIn == 0 }

// lookForHeld returns the jobs of the request that have looked held for long, of each type as many as may be claimed of
// it: those of types that are closed, or that others hold, must not take the place of those of other types.
func (db *engine) lookForHeld(ctx context.Context, req driver.ClaimRequest) (long heldColumns, err error) {
	names, capacities := columns(req.Types)
	var looked []heldJob
	err = db.write(ctx, func(ctx context.Context, tx *driver.WriteTx) error {
		return laterInto(ctx, tx, &looked, scanHeld, selectHeld, names)
	})
	if err != nil {
		return long, err
	}
	left := make(map[string]int, len(names))
	for i, name := range names {
		left[name] = min(capacities[i], req.Limit)
	}
	for _, job := range db.held.seen(names, looked, time.Now()) {
		if left[job.jobType] > 0 {
			left[job.jobType]--
			long.ids, long.holders = append(long.ids, job.id), append(long.holders, job.holder)
		}
	}
	return long, nil
}

// claimHeld claims jobs without limits that have looked held for long, and are not.
func (db *engine) claimHeld(ctx context.Context, req driver.ClaimRequest) ([]driver.Job, error) {
	long, err := db.lookForHeld(ctx, req)
	if err != nil || len(long.ids) == 0 {
		return nil, err
	}
	return db.takeHeld(ctx, req, long)
}

// takeHeld claims those of the jobs that are still queued with the same holder, if nobody holds their locks.
func (db *engine) takeHeld(
	ctx context.Context, req driver.ClaimRequest, long heldColumns,
) (jobs []driver.Job, err error) {
	err = db.write(ctx, func(ctx context.Context, tx *driver.WriteTx) error {
		if err := later(ctx, tx, shareClaims); err != nil {
			return err
		}
		if err := later(ctx, tx, jobsql.EnsureWorker, req.WorkerID, req.Now); err != nil {
			return err
		}
		return laterJobs(ctx, tx, &jobs, claimHeldJobs, req.WorkerID, req.Now, long.ids, long.holders, req.Bytes,
			req.Limit)
	})
	order(jobs)
	return jobs, err
}
