package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
)

// Cancel ends a queued or running job. The context of a running handler is canceled with the cause [ErrCanceled], and
// its result is ignored. In another process that takes until its next heartbeat. The error is [ErrFinished] or
// [ErrJobNotFound] if there is nothing to cancel.
func (q *Queue) Cancel(ctx context.Context, jobID string) error {
	return q.writeAgain(ctx, func(ctx context.Context, tx *driver.WriteTx) error { return q.CancelTx(ctx, tx, jobID) })
}

// CancelTx is Cancel as part of a transaction.
func (q *Queue) CancelTx(ctx context.Context, tx Tx, jobID string) error {
	w, leave, err := q.adopt(ctx, tx)
	if err != nil {
		return wrap("cancel", jobID, err)
	}
	defer leave()
	if err := q.driver.Cancel(ctx, w, lookup(jobID)); err != nil {
		return wrap("cancel", jobID, err)
	}
	if q.observed(ctx) {
		if err := q.record(ctx, w, Event{Kind: EventCanceled, JobID: jobID}); err != nil {
			return wrap("cancel", jobID, err)
		}
	}
	w.OnCommit(func() { q.local.cancel(jobID) })
	return nil
}

// CancelAll cancels all jobs that match, as [Queue.Cancel] does each, and returns their number: queued and running
// ones, or those of the filter's States among them. A Limit of 0 means all. Jobs are canceled newest first, in
// transactions of 100; on an error the result counts those whose transactions have committed. A log line
// every 10 s says how far it is.
func (q *Queue) CancelAll(ctx context.Context, filter Filter) (int, error) {
	if len(filter.States) == 0 {
		filter.States = []State{StateQueued, StateRunning}
	}
	for _, state := range filter.States {
		if state.Finished() {
			return 0, fmt.Errorf("queue: cancel all: Filter.States has %s; only queued and running jobs can be canceled", state)
		}
	}
	done := 0
	err := q.eachBatch(ctx, filter, func(ctx context.Context, tx *driver.WriteTx, ids []string) error {
		// The ends of jobs are written in this order, so that transactions do not deadlock.
		slices.Sort(ids)
		canceled := 0
		for _, id := range ids {
			err := q.CancelTx(ctx, tx, id)
			if err == nil {
				canceled++
			} else if !passedBy(err) {
				return err
			}
		}
		tx.OnCommit(func() { done += canceled })
		return nil
	})
	return done, wrap("cancel all", "", err)
}

// passedBy reports whether the job has changed since it was listed, so that it is skipped.
func passedBy(err error) bool {
	return errors.Is(err, ErrFinished) || errors.Is(err, ErrNotFinished) || errors.Is(err, ErrJobNotFound)
}

const (
	// listedBatch is how many ids are listed at a time. A listing reads all jobs of a state, since no index has them in
	// the order of their ids.
	listedBatch = 200_000
	// progressInterval is how often a change of many jobs is logged.
	progressInterval = 10 * time.Second
)

// stillIn returns those of the listed jobs that are still in one of the states, in the same order: one may have begun
// since.
func (q *Queue) stillIn(ctx context.Context, tx *driver.WriteTx, states []State, listed []string) ([]string, error) {
	jobs, err := q.driver.ReadJobs(ctx, tx, listed)
	if err != nil {
		return nil, err
	}
	now := make(map[string]State, len(jobs))
	for i := range jobs {
		now[jobs[i].ID] = jobs[i].State
	}
	ids := make([]string, 0, len(listed))
	for _, id := range listed {
		if slices.Contains(states, now[id]) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// eachBatch calls fn with the ids of all matching jobs, newest first, some at a time and each time in a transaction.
func (q *Queue) eachBatch(
	ctx context.Context, filter Filter, fn func(ctx context.Context, tx *driver.WriteTx, ids []string) error,
) error {
	if err := filter.validate(); err != nil {
		return err
	}
	if !filter.All && !filter.selects() {
		return fmt.Errorf("%w: nothing in it chooses among the jobs; set Filter.All if all are meant", errInvalidFilter)
	}
	left := filter.Limit
	if left < 0 { // a slip in reckoning must not mean all
		return fmt.Errorf("%w: Limit is %d; it must be at least 0, which means all", errInvalidFilter, left)
	}
	done, logged := 0, time.Now()
	for {
		filter.Limit = listedBatch
		if left > 0 {
			filter.Limit = min(left, listedBatch)
		}
		ids, err := q.driver.JobIDs(ctx, filter.stored())
		if err != nil || len(ids) == 0 {
			return err
		}
		for batch := range slices.Chunk(ids, redriveBatch) {
			if err := q.writeAgain(ctx, func(ctx context.Context, tx *driver.WriteTx) error {
				ids, err := q.stillIn(ctx, tx, filter.States, batch)
				if err != nil || len(ids) == 0 {
					return err
				}
				return fn(ctx, tx, ids)
			}); err != nil {
				return err
			}
			if done += len(batch); time.Since(logged) >= progressInterval {
				q.log.InfoContext(ctx, "changing many jobs", "done", done)
				logged = time.Now()
			}
		}
		if left > 0 {
			if left -= len(ids); left == 0 {
				return nil
			}
		}
		filter.Before = slices.Min(ids)
	}
}
