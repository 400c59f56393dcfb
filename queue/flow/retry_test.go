package flow_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/flow"
)

// A node that ran after others had ended, and has failed because they had, waits for them again when the flow is
// retried.
func TestRetryKeepsTheOrder(t *testing.T) {
	const check queue.Type[string] = "check"
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := newQueue(t, db)
		for _, name := range []string{"batch", "zatch"} { // before the other node, and after it, by name
			f := flow.New("f", nil)
			f.AddMany(name, slices.Values(append(numbers(2), broken.New(1, nil))))
			f.AddMany("join", nil, flow.AfterEnd(name))
			f.Add("check", check.New(name, nil), flow.AfterEnd(name), flow.After("join"))
			id := enqueue(t, q, f)
			var h healer
			var mu sync.Mutex
			var seen []string
			handlers := func(d *queue.Dispatcher) {
				queue.Handle(d, number, func(context.Context, *queue.Work[int]) error { return nil })
				queue.Handle(d, broken, func(context.Context, *queue.Work[int]) error {
					if h.healed.Load() {
						return nil
					}
					return queue.Fatal(errors.New("broken"))
				})
				queue.Handle(d, check, func(ctx context.Context, w *queue.Work[string]) error {
					counts, err := flow.CountsOf(ctx, w.Attempt, w.Payload)
					mu.Lock()
					defer mu.Unlock()
					seen = append(seen, counts.String())
					if err == nil && counts.Completed < counts.Total {
						err = queue.Fatal(errors.New("not all have completed"))
					}
					return err
				})
			}
			work(t, q, handlers)
			h.healed.Store(true)
			require.NoError(t, flow.Retry(t.Context(), q, id))
			work(t, q, handlers)
			require.Equal(t, []string{"2 of 3 completed, 1 failed, 0 canceled", "3 of 3 completed, 0 failed, 0 canceled"}, seen)
			f2, err := flow.Get(t.Context(), q, id)
			require.NoError(t, err)
			require.Equal(t, flow.Completed, f2.State)
		}
	})
}

// A flow without nodes in another is passed, but not before what it waits for.
func TestAnEmptyFlowWaits(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := newQueue(t, db)
		f := flow.New("f", nil)
		f.Add("first", number.New(1, nil))
		f.AddFlow("some", flow.New("none today", nil), flow.After("first"))
		f.Add("last", number.New(2, nil), flow.After("some"))
		id := enqueue(t, q, f)
		require.Equal(t, "running, first running 0/1, last waiting 0/1, some waiting 0/0", shape(t, q, id))
		work(t, q, register)
		require.Equal(t, "completed, first completed 1/1, last completed 1/1, some completed 0/0", shape(t, q, id))
	})
}

// Results that are gone, with jobs that were pruned before the flow was retried, are not passed over in silence.
func TestResultsThatAreGone(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := newQueue(t, db)
		f := flow.New("f", nil)
		f.AddMany("many", slices.Values(numbers(3)))
		f.Add("sum", sum.New("many", nil), flow.After("many"))
		id := enqueue(t, q, f)
		work(t, q, func(d *queue.Dispatcher) {
			queue.Handle(d, number, func(_ context.Context, w *queue.Work[int]) error { w.SetResult(1); return nil })
			queue.Handle(d, sum, func(context.Context, *queue.Work[string]) error { return queue.Fatal(errors.New("broken")) })
		})
		exec(t, q, "DELETE FROM jobs WHERE id = (SELECT MIN(id) FROM jobs)")
		require.NoError(t, flow.Retry(t.Context(), q, id))
		a := claimOne(t, q, string(sum))
		var errs []error
		for n, err := range flow.Results[int](t.Context(), a, "many") {
			if err == nil {
				require.Equal(t, 1, n)
			}
			errs = append(errs, err)
		}
		require.Len(t, errs, 3)
		require.NoError(t, errors.Join(errs[:2]...))
		require.ErrorIs(t, errs[2], flow.ErrNoResult)
		require.ErrorContains(t, errs[2], `1 completed jobs of node "many" have been deleted`)
		exec(t, q, "DELETE FROM jobs WHERE type = 'number'")
		_, err := flow.Result[int](t.Context(), a, "many")
		require.ErrorContains(t, err, `the jobs of node "many" have been deleted`)
	})
}

// A handler that reads results and counts while its flow is in two databases would read a part of them: it is deferred.
func TestResultsOfAFlowThatMoves(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := newQueue(t, db)
		id := enqueue(t, q, flow.Batch(numbers(3)...).Then(sum.New(flow.BatchNode, nil)))
		for range 3 {
			require.NoError(t, claimOne(t, q, string(number)).Complete(t.Context(), nil))
		}
		a := claimOne(t, q, string(sum))
		exec(t, q, "UPDATE job_nodes SET moving = 1")
		for _, err := range flow.Results[int](t.Context(), a, flow.BatchNode) {
			require.ErrorIs(t, err, driver.ErrJobMoves)
		}
		_, err := flow.CountsOf(t.Context(), a, flow.BatchNode)
		require.ErrorIs(t, err, driver.ErrJobMoves)
		require.NoError(t, a.Fail(t.Context(), err))
		job, err := q.Job(t.Context(), a.Job.ID)
		require.NoError(t, err)
		require.Equal(t, []int{0, 1}, []int{job.Failures, job.Interruptions})
		exec(t, q, "UPDATE job_nodes SET moving = 0")
		work(t, q, register)
		require.Equal(t, "completed, batch completed 3/3, then completed 1/1", shape(t, q, id))
	})
}

// What is done to all jobs of a flow would be done to those in one of two databases.
func TestAFlowThatMovesIsLeftAlone(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := newQueue(t, db)
		running := enqueue(t, q, flow.Batch(numbers(1)...))
		exec(t, q, "UPDATE job_nodes SET moving = 1")
		require.ErrorIs(t, flow.Cancel(t.Context(), q, running), driver.ErrJobMoves)
		exec(t, q, "UPDATE job_nodes SET moving = 0")
		require.NoError(t, flow.Cancel(t.Context(), q, running))
		exec(t, q, "UPDATE job_nodes SET moving = 1")
		require.ErrorIs(t, flow.Retry(t.Context(), q, running), driver.ErrJobMoves)
		exec(t, q, "UPDATE job_nodes SET moving = 0")
		require.NoError(t, flow.Retry(t.Context(), q, running))
		work(t, q, register)
		require.Equal(t, "completed, batch completed 1/1", shape(t, q, running))
	})
}

// A job of a canceled node is retried by itself, and waits for one that has failed: nothing else would go on with it.
func TestRetryOfAFlowThatStandsStill(t *testing.T) {
	const mends queue.Type[int] = "mends"
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := newQueue(t, db)
		f := flow.New("f", nil)
		f.Add("a", mends.New(1, nil))
		f.Add("b", number.New(1, nil), flow.After("a"))
		f.Add("c", number.New(1, nil), flow.After("b"))
		f.Add("d", broken.New(1, nil))
		id := enqueue(t, q, f)
		other := claimOne(t, q, string(broken))
		require.NoError(t, claimOne(t, q, string(mends)).Fail(t.Context(), queue.Fatal(errors.New("broken"))))
		require.ErrorIs(t, flow.Retry(t.Context(), q, id), queue.ErrNotFinished, "d runs")
		require.NoError(t, other.Complete(t.Context(), nil))
		require.Equal(t, "running, a failed 1/1, b waiting 0/1, c waiting 0/1, d completed 1/1", shape(t, q, id))
		require.ErrorIs(t, flow.Retry(t.Context(), q, id), queue.ErrNotFinished, "b will be canceled")
		require.NoError(t, newTasker(t, q).all())
		for job, err := range flow.Jobs(t.Context(), q, id, "b") {
			require.NoError(t, err)
			require.NoError(t, q.Retry(t.Context(), job.ID))
		}
		require.Equal(t, "running, a failed 1/1, b waiting 0/1, c canceled 1/1, d completed 1/1", shape(t, q, id))
		require.NoError(t, flow.Retry(t.Context(), q, id))
		require.Equal(t, "running, a running 0/1, b waiting 0/1, c waiting 0/1, d completed 1/1", shape(t, q, id))
		work(t, q, func(d *queue.Dispatcher) {
			register(d)
			queue.Handle(d, mends, func(context.Context, *queue.Work[int]) error { return nil })
		})
		require.Equal(t, "completed, a completed 1/1, b completed 1/1, c completed 1/1, d completed 1/1", shape(t, q, id))
	})
}

// There is nothing to retry where all jobs that have ended badly were deleted.
func TestRetryOfAFlowWithoutItsJobs(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := newQueue(t, db)
		f := flow.New("f", nil)
		f.Add("one", number.New(1, nil))
		f.AddMany("none", nil, flow.After("one"))
		id := enqueue(t, q, f)
		require.NoError(t, flow.Cancel(t.Context(), q, id))
		exec(t, q, "DELETE FROM jobs")
		require.NoError(t, flow.Retry(t.Context(), q, id), "a node without jobs runs again")
		require.Equal(t, "canceled, none canceled 0/0, one canceled 1/1", shape(t, q, id))

		id = enqueue(t, q, flow.Chain(number.New(1, nil), number.New(2, nil)))
		require.NoError(t, flow.Cancel(t.Context(), q, id))
		exec(t, q, "DELETE FROM jobs WHERE node LIKE '%/1'")
		require.NoError(t, flow.Retry(t.Context(), q, id), "one is left")
		work(t, q, register)
		exec(t, q, "DELETE FROM jobs")
		require.ErrorIs(t, flow.Retry(t.Context(), q, id), queue.ErrFinished)
		require.Equal(t, "canceled, 1 canceled 1/1, 2 canceled 1/1", shape(t, q, id))
	})
}

func exec(t *testing.T, q *queue.Queue, statement string) {
	t.Helper()
	require.NoError(t, q.DB().Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, statement)
		return err
	}))
}
