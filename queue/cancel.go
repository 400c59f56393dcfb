package queue

import (
	"context"
	"errors"
	"fmt"
	"iter"
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
	err := q.eachBatch(ctx, filter, q.jobIDs(ctx, filter, cancelBatch), func(ids []string) error {
		// One may have begun, or ended, since it was listed.
		canceled, err := q.cancelJobs(ctx, driver.CancelRequest{JobIDs: ids, States: filter.States})
		done += len(canceled)
		return err
	})
	return done, wrap("cancel all", "", err)
}

// CancelJobs cancels those of the jobs that are in one of the states, which are queued and running if there are none,
// as [Queue.Cancel] does each. It returns their ids, in any order. All is one transaction, so that at most some
// thousand jobs should be given. A reason becomes the error of the jobs and of the attempts that run; it may be empty.
func (q *Queue) CancelJobs(ctx context.Context, jobIDs []string, reason string, states ...State) ([]string, error) {
	req := driver.CancelRequest{JobIDs: mapped(jobIDs, lookup), States: states}
	if len(states) == 0 {
		req.States = []State{StateQueued, StateRunning}
	}
	if reason = storable(reason); reason != "" {
		req.Reason = func(id string) string { return q.codecs.encodeText(reason, errorPlace(id)) }
	}
	canceled, err := q.cancelJobs(ctx, req)
	return canceled, wrap("cancel jobs", "", err)
}

// cancelJobs cancels jobs in one transaction.
func (q *Queue) cancelJobs(ctx context.Context, req driver.CancelRequest) (canceled []string, err error) {
	err = q.writeAgain(ctx, func(ctx context.Context, tx *driver.WriteTx) (err error) {
		if canceled, err = q.driver.CancelJobs(ctx, tx, req); err != nil {
			return err
		}
		return q.recordCanceled(ctx, tx, canceled)
	})
	if err != nil {
		return nil, err
	}
	for _, id := range canceled {
		q.local.cancel(id)
	}
	return canceled, nil
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

// eachBatch calls fn with the ids of the jobs that match, batch by batch, and logs how far it is.
func (q *Queue) eachBatch(
	ctx context.Context, filter Filter, batches iter.Seq2[[]string, error], fn func(ids []string) error,
) error {
	if err := filter.validate(); err != nil {
		return err
	}
	if !filter.All && !filter.selects() {
		return fmt.Errorf("%w: nothing in it chooses among the jobs; set Filter.All if all are meant", ErrInvalidFilter)
	}
	done, logged := 0, time.Now()
	for ids, err := range batches {
		if err == nil {
			err = fn(ids)
		}
		if err != nil {
			return err
		}
		if done += len(ids); time.Since(logged) >= progressInterval {
			q.log.InfoContext(ctx, "changing many jobs", "done", done)
			logged = time.Now()
		}
	}
	return nil
}

// JobIDs iterates over the ids of all jobs that match, newest first, at most size at a time, without reading the jobs.
// A Filter.Limit of 0 means all. Jobs may have changed by the time their ids are seen: up to 200,000 are read at once.
// An error is the last that is iterated over.
func (q *Queue) JobIDs(ctx context.Context, filter Filter, size int) iter.Seq2[[]string, error] {
	return func(yield func([]string, error) bool) {
		for ids, err := range q.jobIDs(ctx, filter, size) {
			if !yield(ids, wrap("job ids", "", err)) {
				return
			}
		}
	}
}

func (q *Queue) jobIDs(ctx context.Context, filter Filter, size int) iter.Seq2[[]string, error] {
	return func(yield func([]string, error) bool) {
		err := filter.validate()
		left := filter.Limit
		switch {
		case err != nil:
		case left < 0: // a slip in reckoning must not mean all
			err = fmt.Errorf("%w: Limit is %d; it must be at least 0, which means all", ErrInvalidFilter, left)
		case size < 1:
			err = fmt.Errorf("%w: the size is %d; it must be at least 1", ErrInvalidFilter, size)
		}
		for err == nil {
			if filter.Limit = listedBatch; left > 0 {
				filter.Limit = min(left, listedBatch)
			}
			var ids []string
			if ids, err = q.driver.JobIDs(ctx, filter.stored()); err != nil || len(ids) == 0 {
				break
			}
			for batch := range slices.Chunk(ids, size) {
				if !yield(batch, nil) {
					return
				}
			}
			if left -= len(ids); left == 0 { // below 0 without a limit
				return
			}
			filter.Before = slices.Min(ids)
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// ErrorText returns an error of a job as the handler gave it, from the form in which a driver has stored it. It is for
// programs that read the errors of many jobs from the driver: see [Config].Codec.
func (q *Queue) ErrorText(jobID, stored string) string {
	return q.codecs.decodeText(stored, errorPlace(jobID))
}
