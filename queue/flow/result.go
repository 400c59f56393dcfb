package flow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

// Result returns the result of the one job of a node of the attempt's flow, as [queue.Attempt.SetResult] has stored it.
// The error is [ErrNoResult] if the job has not completed, has no result, or is not the only one of its node, and
// [ErrNoNode] if the flow has no such node.
func Result[T any](ctx context.Context, a *queue.Attempt, name string) (result T, err error) {
	id, err := flowOf(a)
	if err != nil {
		return result, wrap("result", "", err)
	}
	q := a.Queue()
	store, err := storeOf(q)
	if err != nil {
		return result, wrap("result", id, err)
	}
	jobs, err := store.NodeJobs(ctx, driver.NodeID(id, name), "", 2)
	switch {
	case err != nil:
	case len(jobs) == 0:
		err = missing(ctx, store, id, name)
	case len(jobs) > 1:
		err = fmt.Errorf("%w: node %q has several jobs: use Results", ErrNoResult, name)
	default:
		result, err = decode[T](q.JobOf(jobs[0]))
	}
	return result, wrap("result", id, err)
}

// missing returns why a node has no jobs.
func missing(ctx context.Context, store driver.FlowStore, id, name string) error {
	switch n, err := nodeOf(ctx, store, id, name); {
	case err != nil:
		return err
	case n.Total > 0:
		return fmt.Errorf("%w: the jobs of node %q have been deleted", ErrNoResult, name)
	}
	return fmt.Errorf("%w: node %q has no jobs", ErrNoResult, name)
}

// moveDelay is how long a handler waits for what is being moved to another database.
const moveDelay = 5 * time.Second

// nodeOf returns a node of which this database has all jobs and ends. Else its error defers the attempt.
func nodeOf(ctx context.Context, store driver.FlowStore, id, name string) (*driver.Node, error) {
	n, err := store.Node(ctx, driver.NodeID(id, name))
	switch {
	case errors.Is(err, driver.ErrFlowNotFound):
		return nil, fmt.Errorf("%w: %q", ErrNoNode, name)
	case err == nil && n.Moving:
		return nil, queue.Defer(fmt.Errorf("node %q: %w", name, driver.ErrJobMoves), moveDelay)
	}
	return n, err
}

func decode[T any](job *queue.Job) (result T, err error) {
	switch {
	case job.State != queue.StateCompleted:
		return result, fmt.Errorf("%w: job %s of %s is %s", ErrNoResult, job.ID, job.Type, job.State)
	case job.Result == nil:
		return result, fmt.Errorf("%w: job %s of %s has completed without one; its handler calls SetResult", ErrNoResult,
			job.ID, job.Type)
	case driver.IsEncoded(job.Result):
		return result, fmt.Errorf("%w: that of job %s cannot be decoded: give the queue its codec", ErrNoResult, job.ID)
	}
	if err := json.Unmarshal(job.Result, &result); err != nil {
		return result, fmt.Errorf("the result of job %s of %s: %w", job.ID, job.Type, err)
	}
	return result, nil
}

// Results iterates over the results of the jobs of a node of the attempt's flow that have completed with one, in the
// order in which they were enqueued. It reads 500 at a time. After an error it ends. If jobs that have completed are no
// longer there, since they were deleted, or pruned before the flow was retried, the last error is [ErrNoResult].
//
// While queueadmin.Move moves the flow, the error is a [queue.Defer] of [driver.ErrJobMoves]: the handler that returns
// it runs again when all is in one database.
func Results[T any](ctx context.Context, a *queue.Attempt, name string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		id, left, err := completedOf(ctx, a, name)
		if err != nil {
			yield(none, wrap("results", id, err))
			return
		}
		for job, err := range Jobs(ctx, a.Queue(), id, name) {
			if err == nil && job.State == queue.StateCompleted {
				left--
			}
			if err == nil && (job.State != queue.StateCompleted || job.Result == nil) {
				continue
			}
			result := none
			if err == nil {
				result, err = decode[T](job)
			}
			if !yield(result, wrap("results", id, err)) || err != nil {
				return
			}
		}
		if left > 0 {
			yield(none, wrap("results", id, fmt.Errorf("%w: %d completed jobs of node %q have been deleted", ErrNoResult, left,
				name)))
		}
	}
}

// completedOf returns the id of the attempt's flow, and how many jobs of a node have completed.
func completedOf(ctx context.Context, a *queue.Attempt, name string) (id string, n int, err error) {
	if id, err = flowOf(a); err != nil {
		return "", 0, err
	}
	store, err := storeOf(a.Queue())
	if err != nil {
		return id, 0, err
	}
	node, err := nodeOf(ctx, store, id, name)
	if err != nil {
		return id, 0, err
	}
	return id, node.Completed, nil
}

// readPortion is the number of jobs that are read at a time.
const readPortion = 500

// Jobs iterates over the jobs of a node, in the order in which they were enqueued. After an error it ends.
func Jobs(ctx context.Context, q *queue.Queue, flowID, name string) iter.Seq2[*queue.Job, error] {
	return func(yield func(*queue.Job, error) bool) {
		store, err := storeOf(q)
		if err != nil {
			yield(nil, wrap("jobs", flowID, err))
			return
		}
		for last := ""; ; {
			jobs, err := store.NodeJobs(ctx, driver.NodeID(flowID, name), last, readPortion)
			if err == nil && len(jobs) == 0 && last == "" {
				if err = missing(ctx, store, flowID, name); isNoResult(err) || errors.Is(err, driver.ErrJobMoves) {
					return
				}
			}
			if err != nil {
				yield(nil, wrap("jobs", flowID, err))
				return
			}
			for i := range jobs {
				if !yield(q.JobOf(jobs[i]), nil) {
					return
				}
				last = jobs[i].ID
			}
			if len(jobs) < readPortion {
				return
			}
		}
	}
}
