package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/postroom-go/postroom/queue/driver"
)

// RedriveResult counts the outcomes of the jobs that [Queue.Redrive] found.
type RedriveResult struct {
	// Queued jobs are due again.
	Queued int
	// KeyTaken is how many were left as they are because other jobs have taken their keys since.
	KeyTaken int
}

// redriveBatch is how many jobs one transaction retries.
const redriveBatch = 100

// Redrive retries all jobs that match, as [Queue.Retry] does each: the failed ones, or those of the filter's States, which may be
// failed and canceled. A Limit of 0 means all; it has no upper bound. Jobs are retried newest first, in transactions of 100. On
// an error the result counts those whose transactions have committed. A job that is no longer finished when its turn comes is
// skipped.
func (q *Queue) Redrive(ctx context.Context, filter Filter) (RedriveResult, error) {
	if len(filter.States) == 0 {
		filter.States = []State{StateFailed}
	}
	for _, state := range filter.States {
		if state != StateFailed && state != StateCanceled {
			return RedriveResult{}, fmt.Errorf("queue: redrive: Filter.States has %s; only failed and canceled jobs can be retried", state)
		}
	}
	var done RedriveResult
	err := q.eachBatch(ctx, filter, func(ctx context.Context, tx *driver.WriteTx, ids []string) error {
		var batch RedriveResult
		ids, err := q.byKey(ctx, tx, ids)
		if err != nil {
			return err
		}
		for _, id := range ids {
			err := q.retryOne(ctx, tx, id)
			switch {
			case errors.Is(err, ErrKeyConflict):
				batch.KeyTaken++
			case err == nil:
				batch.Queued++
			case !passedBy(err):
				return wrap("redrive", id, err)
			}
		}
		tx.OnCommit(func() {
			done.Queued += batch.Queued
			done.KeyTaken += batch.KeyTaken
		})
		return q.driver.Notify(ctx, tx)
	})
	return done, wrap("redrive", "", err)
}

// byKey returns the ids in the order in which enqueues lock the keys of jobs, so that transactions do not deadlock. Those of one
// key stay newest first.
func (q *Queue) byKey(ctx context.Context, tx *driver.WriteTx, ids []string) ([]string, error) {
	jobs, err := q.driver.ReadJobs(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	keys := make(map[string]string, len(jobs))
	for i := range jobs {
		keys[jobs[i].ID] = jobs[i].Key.Name
	}
	ordered := slices.Clone(ids)
	slices.SortStableFunc(ordered, func(a, b string) int { return cmp.Compare(keys[a], keys[b]) })
	return ordered, nil
}

// CancelAll cancels all jobs that match, as [Queue.Cancel] does each, and returns their number: queued and running ones, or those
// of the filter's States among them. A Limit of 0 means all. Jobs are canceled newest first, in transactions of 100; on an error
// the result counts those whose transactions have committed.
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

// eachBatch calls fn with the ids of all matching jobs, newest first, some at a time and each time in a transaction.
func (q *Queue) eachBatch(ctx context.Context, filter Filter, fn func(ctx context.Context, tx *driver.WriteTx, ids []string) error) error {
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
	for {
		filter.Limit = redriveBatch
		if left > 0 {
			filter.Limit = min(left, redriveBatch)
		}
		ids, err := q.driver.JobIDs(ctx, filter.stored())
		if err != nil || len(ids) == 0 {
			return err
		}
		if err := q.writeAgain(ctx, func(ctx context.Context, tx *driver.WriteTx) error { return fn(ctx, tx, ids) }); err != nil {
			return err
		}
		if left > 0 {
			if left -= len(ids); left == 0 {
				return nil
			}
		}
		filter.Before = slices.Min(ids)
	}
}
