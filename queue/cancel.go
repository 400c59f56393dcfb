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
// transactions of 1,000; on an error the result counts those whose transactions have committed. A log line
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
	err := q.eachBatch(ctx, filter, cancelBatch, func(ctx context.Context, tx *driver.WriteTx, ids []string) error {
		// One may have begun, or ended, since it was listed.
		canceled, err := q.driver.CancelJobs(ctx, tx, ids, filter.stored().States)
		if err != nil {
			return err
		}
		if err := q.recordCanceled(ctx, tx, canceled); err != nil {
			return err
		}
		tx.OnCommit(func() {
			done += len(canceled)
			for _, id := range canceled {
				q.local.cancel(id)
			}
		})
		return nil
	})
	return done, wrap("cancel all", "", err)
}

func (q *Queue) recordCanceled(ctx context.Context, tx *driver.WriteTx, ids []string) error {
	if len(ids) == 0 || !q.observed(ctx) {
		return nil
	}
	events := make([]Event, 0, len(ids))
	for some := range slices.Chunk(ids, readBatch) {
		jobs, err := q.driver.ReadJobs(ctx, tx, some)
		if err != nil {
			return err
		}
		for i := range jobs {
			events = append(events, Event{
				Kind: EventCanceled, JobID: jobs[i].ID, JobType: jobs[i].Type, Attempt: jobs[i].Attempt,
			})
		}
	}
	return q.record(ctx, tx, events...)
}

// passedBy reports whether the job has changed since it was listed, so that it is skipped.
func passedBy(err error) bool {
	return errors.Is(err, ErrFinished) || errors.Is(err, ErrNotFinished) || errors.Is(err, ErrJobNotFound)
}

const (
	// cancelBatch is how many jobs one transaction cancels.
	cancelBatch = 1000
	// readBatch is how many of them are in memory at a time: each may have a payload of a megabyte.
	readBatch = 20
	// listedBatch is how many ids are listed at a time. A listing reads all jobs of a state, since no index has them in
	// the order of their ids.
	listedBatch = 200_000
	// progressInterval is how often a change of many jobs is logged.
	progressInterval = 10 * time.Second
)

// eachBatch calls fn with the ids of all matching jobs, newest first, at most size at a time and each time in a
// transaction. Some may not match any more.
func (q *Queue) eachBatch(
	ctx context.Context, filter Filter, size int, fn func(ctx context.Context, tx *driver.WriteTx, ids []string) error,
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
		for batch := range slices.Chunk(ids, size) {
			if err := q.writeAgain(ctx, func(ctx context.Context, tx *driver.WriteTx) error {
				return fn(ctx, tx, batch)
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
