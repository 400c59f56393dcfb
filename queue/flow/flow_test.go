package flow_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/flow"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

const (
	number queue.Type[int]    = "number" // has its payload as result
	broken queue.Type[int]    = "broken" // fails for good
	sum    queue.Type[string] = "sum"    // of the results of the node that the payload names
	add    queue.Type[string] = "add"    // adds 3 numbers to the node that the payload names
)

func newQueue(t testing.TB, db queue.DB) *queue.Queue {
	t.Helper()
	q, err := queue.New(db, &queue.Config{Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	return q
}

func register(d *queue.Dispatcher) {
	queue.Handle(d, number, func(_ context.Context, w *queue.Work[int]) error {
		w.SetResult(w.Payload)
		return nil
	})
	queue.Handle(d, broken, func(context.Context, *queue.Work[int]) error { return queue.Fatal(errors.New("broken")) })
	queue.Handle(d, sum, func(ctx context.Context, w *queue.Work[string]) error {
		total := 0
		for n, err := range flow.Results[int](ctx, w.Attempt, w.Payload) {
			if err != nil {
				return err
			}
			total += n
		}
		w.SetResult(total)
		return nil
	})
	queue.Handle(d, add, func(ctx context.Context, w *queue.Work[string]) error {
		return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
			_, err := flow.AddTx(ctx, tx, w.Attempt, w.Payload, slices.Values(numbers(3)))
			return err
		})
	})
}

func numbers(n int) []queue.NewJob {
	jobs := make([]queue.NewJob, n)
	for i := range jobs {
		jobs[i] = number.New(i+1, nil)
	}
	return jobs
}

// work runs jobs until none is left that can run.
func work(t testing.TB, q *queue.Queue, handlers func(d *queue.Dispatcher)) {
	t.Helper()
	d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{Workers: 8, PollInterval: time.Minute})
	require.NoError(t, err)
	handlers(d)
	require.NoError(t, d.RunUntilIdle(t.Context()))
	found, err := queueadmin.Verify(t.Context(), q)
	require.NoError(t, err)
	require.Empty(t, found)
}

func enqueue(t testing.TB, q *queue.Queue, f *flow.Flow) string {
	t.Helper()
	id, err := flow.Enqueue(t.Context(), q, f)
	require.NoError(t, err)
	return id
}

// shape describes a flow and its nodes.
func shape(t testing.TB, q *queue.Queue, id string) string {
	t.Helper()
	f, err := flow.Get(t.Context(), q, id)
	require.NoError(t, err)
	nodes, err := flow.Nodes(t.Context(), q, id)
	require.NoError(t, err)
	words := []string{string(f.State)}
	for _, n := range nodes {
		words = append(words, fmt.Sprintf("%s %s %d/%d", n.Name, n.State, n.Total-n.Left(), n.Total))
	}
	return strings.Join(words, ", ")
}

// result returns the result of the first job of a node, as it is stored.
func result(t testing.TB, q *queue.Queue, id, node string) string {
	t.Helper()
	for job, err := range flow.Jobs(t.Context(), q, id, node) {
		require.NoError(t, err)
		return string(job.Result)
	}
	return ""
}

func TestFanOutAndIn(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := newQueue(t, db)
		f := flow.New("sums", nil)
		f.Add("first", number.New(1, nil))
		f.AddMany("many", slices.Values(numbers(600)), flow.After("first"))
		f.Add("sum", sum.New("many", nil), flow.After("many"))
		id := enqueue(t, q, f)
		require.Equal(t, "running, first running 0/1, many waiting 0/600, sum waiting 0/1", shape(t, q, id))
		work(t, q, register)
		require.Equal(t, "completed, first completed 1/1, many completed 600/600, sum completed 1/1", shape(t, q, id))
		require.Equal(t, "180300", result(t, q, id, "sum"))
	})
}

func TestBatchesAndChains(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := newQueue(t, db)
		well := enqueue(t, q, flow.Batch(numbers(3)...).Then(sum.New(flow.BatchNode, nil)))
		badly := enqueue(t, q, flow.Batch(append(numbers(2), broken.New(1, nil))...).Then(sum.New(flow.BatchNode, nil)).
			Finally(sum.New(flow.BatchNode, nil)))
		chain := enqueue(t, q, flow.Chain(number.New(5, nil), sum.New("1", nil), sum.New("2", nil)))
		work(t, q, register)
		require.Equal(t, "completed, batch completed 3/3, then completed 1/1", shape(t, q, well))
		require.Equal(t, "6", result(t, q, well, flow.ThenNode))
		require.Equal(t, "canceled, batch failed 3/3, finally completed 1/1, then canceled 1/1", shape(t, q, badly))
		require.Equal(t, "3", result(t, q, badly, flow.FinallyNode))
		require.Equal(t, "completed, 1 completed 1/1, 2 completed 1/1, 3 completed 1/1", shape(t, q, chain))
		require.Equal(t, "5", result(t, q, chain, "3"))
	})
}

func TestHandlersGrowTheirFlow(t *testing.T) {
	const grow queue.Type[int] = "grow"
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := newQueue(t, db)
		f := flow.New("grows", nil)
		f.Add("add", add.New("numbers", nil))
		f.AddMany("numbers", nil, flow.After("add"))
		f.Add("sum", sum.New("numbers", nil), flow.After("numbers"))
		f.Add("grow", grow.New(0, nil), flow.After("sum"))
		id := enqueue(t, q, f)
		work(t, q, func(d *queue.Dispatcher) {
			register(d)
			queue.Handle(d, grow, func(ctx context.Context, w *queue.Work[int]) error {
				return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
					more := flow.New("", nil)
					more.Add("again", sum.New("sum", nil), flow.After("grow", "sum"))
					return flow.GrowTx(ctx, tx, w.Attempt, more)
				})
			})
		})
		require.Equal(t,
			"completed, add completed 1/1, again completed 1/1, grow completed 1/1, numbers completed 3/3, sum completed 1/1",
			shape(t, q, id))
		require.Equal(t, "6", result(t, q, id, "again"))
	})
}

// A job of a tree adds those below it to its own node, once however often it is tried.
func TestANodeGrowsByItsOwnJobs(t *testing.T) {
	const visit queue.Type[int] = "visit"
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := newQueue(t, db)
		f := flow.New("tree", nil)
		f.Add("visit", visit.New(3, nil))
		f.Add("end", sum.New("visit", nil), flow.After("visit"))
		id := enqueue(t, q, f)
		work(t, q, func(d *queue.Dispatcher) {
			register(d)
			queue.Handle(d, visit, func(ctx context.Context, w *queue.Work[int]) error {
				children := make([]queue.NewJob, w.Payload)
				for i := range children {
					children[i] = visit.New(w.Payload-1, nil)
				}
				_, err := queue.StepTx(ctx, w.Attempt, "children", func(ctx context.Context, tx queue.Tx) (int, error) {
					return flow.AddTx(ctx, tx, w.Attempt, "visit", slices.Values(children))
				})
				if err == nil && w.Payload == 2 && w.Job.Attempt == 1 {
					return queue.RetryAfter(errors.New("once more"), time.Nanosecond)
				}
				if err == nil {
					err = w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
						_, err := flow.AddTx(ctx, tx, w.Attempt, "visit", slices.Values(children))
						require.ErrorIs(t, err, flow.ErrEnded)
						return nil
					})
				}
				return err
			})
		})
		require.Equal(t, "completed, end completed 1/1, visit completed 16/16", shape(t, q, id))
	})
}

func TestNestedFlows(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := newQueue(t, db)
		inner := flow.New("inner", nil)
		inner.AddMany("numbers", slices.Values(numbers(3)))
		inner.Add("sum", sum.New("inner/numbers", nil), flow.After("numbers"))
		f := flow.New("outer", nil)
		f.Add("first", number.New(1, nil))
		f.AddFlow("inner", inner, flow.After("first"))
		f.Add("last", sum.New("inner/sum", nil), flow.After("inner"))
		id := enqueue(t, q, f)
		work(t, q, register)
		require.Equal(t, "completed, first completed 1/1, inner completed 0/0, inner/numbers completed 3/3, "+
			"inner/sum completed 1/1, last completed 1/1", shape(t, q, id))
		require.Equal(t, "6", result(t, q, id, "last"))
	})
}

func TestCancelAndRetry(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := newQueue(t, db)
		f := flow.New("f", nil)
		f.Add("first", number.New(1, nil))
		f.AddMany("many", slices.Values(numbers(1200)), flow.After("first"))
		f.Add("sum", sum.New("many", nil), flow.After("many"))
		id := enqueue(t, q, f)
		require.ErrorIs(t, flow.Retry(t.Context(), q, id), queue.ErrNotFinished)
		require.NoError(t, flow.Cancel(t.Context(), q, id))
		require.Equal(t, "canceled, first canceled 1/1, many canceled 1200/1200, sum canceled 1/1", shape(t, q, id))
		require.ErrorIs(t, flow.Cancel(t.Context(), q, id), queue.ErrFinished)
		require.NoError(t, flow.Retry(t.Context(), q, id))
		require.Equal(t, "running, first running 0/1, many waiting 0/1200, sum waiting 0/1", shape(t, q, id))
		work(t, q, register)
		require.Equal(t, "completed, first completed 1/1, many completed 1200/1200, sum completed 1/1", shape(t, q, id))
		require.ErrorIs(t, flow.Retry(t.Context(), q, id), queue.ErrFinished)
		require.ErrorIs(t, flow.Retry(t.Context(), q, "none"), flow.ErrNotFound)
	})
}

func TestDeadline(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := newQueue(t, db)
		f := flow.New("late", &flow.Options{Deadline: time.Now().Add(-time.Second)})
		f.Add("first", number.New(1, nil))
		f.Add("second", number.New(1, nil), flow.After("first"))
		id := enqueue(t, q, f)
		work(t, q, register)
		require.Equal(t, "canceled, first canceled 1/1, second canceled 1/1", shape(t, q, id))
	})
}

func TestResults(t *testing.T) {
	const look queue.Type[string] = "look"
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := newQueue(t, db)
		f := flow.New("results", nil)
		f.Add("one", number.New(7, nil))
		f.AddMany("many", slices.Values(numbers(2)))
		f.Add("broken", broken.New(1, nil))
		f.AddMany("none", nil)
		f.Add("look", look.New("", nil), flow.AfterEnd("one", "many", "broken", "none"))
		enqueue(t, q, f)
		seen := false
		work(t, q, func(d *queue.Dispatcher) {
			register(d)
			queue.Handle(d, look, func(ctx context.Context, w *queue.Work[string]) error {
				one, err := flow.Result[int](ctx, w.Attempt, "one")
				require.NoError(t, err)
				require.Equal(t, 7, one)
				for _, name := range []string{"many", "broken", "none"} {
					_, err = flow.Result[int](ctx, w.Attempt, name)
					require.ErrorIs(t, err, flow.ErrNoResult, name)
				}
				_, err = flow.Result[int](ctx, w.Attempt, "other")
				require.ErrorIs(t, err, flow.ErrNoNode)
				for _, err := range flow.Results[int](ctx, w.Attempt, "other") {
					require.ErrorIs(t, err, flow.ErrNoNode)
				}
				counts, err := flow.CountsOf(ctx, w.Attempt, "broken")
				require.NoError(t, err)
				require.Equal(t, flow.Counts{Total: 1, Failed: 1}, counts)
				id, node := flow.Of(w.Attempt)
				require.NotEmpty(t, id)
				require.Equal(t, "look", node)
				seen = true
				return nil
			})
		})
		require.True(t, seen)
	})
}

func TestInvalidFlows(t *testing.T) {
	q := newQueue(t, dbtest.SQLite(t))
	job := number.New(1, nil)
	for want, build := range map[string]func(f *flow.Flow){
		"no nodes":                         func(*flow.Flow) {},
		"empty name":                       func(f *flow.Flow) { f.Add("", job) },
		"a slash":                          func(f *flow.Flow) { f.Add("a/b", job) },
		"cannot be seen":                   func(f *flow.Flow) { f.Add("a\tb", job) },
		"of 201 bytes":                     func(f *flow.Flow) { f.Add(strings.Repeat("x", 201), job) },
		"two nodes":                        func(f *flow.Flow) { f.Add("a", job); f.Add("a", job) },
		`waits for "b", and there is no`:   func(f *flow.Flow) { f.Add("a", job, flow.After("b")) },
		`waits for "a" twice`:              func(f *flow.Flow) { f.Add("a", job); f.Add("b", job, flow.After("a"), flow.AfterEnd("a")) },
		"circle: a waits for a":            func(f *flow.Flow) { f.Add("a", job, flow.After("a")) },
		"is nil":                           func(f *flow.Flow) { f.AddFlow("a", nil) },
		`node "a": node "x" waits for "y"`: func(f *flow.Flow) { g := flow.New("g", nil); g.Add("x", job, flow.After("y")); f.AddFlow("a", g) },
		"circle: b waits for c waits for b": func(f *flow.Flow) {
			f.Add("a", job)
			f.Add("b", job, flow.After("a", "c"))
			f.Add("c", job, flow.After("b"))
			f.Add("d", job, flow.After("c"))
		},
	} {
		f := flow.New("f", nil)
		build(f)
		_, err := flow.Enqueue(t.Context(), q, f)
		require.ErrorIs(t, err, flow.ErrInvalid, want)
		require.ErrorContains(t, err, want)
	}
	_, err := flow.Enqueue(t.Context(), q, nil)
	require.ErrorIs(t, err, flow.ErrInvalid)
	_, err = flow.Enqueue(t.Context(), nil, flow.Chain(job))
	require.Error(t, err)
	_, err = q.Enqueue(t.Context(), number.New(1, &queue.Options{Key: queue.Forever("k")}))
	require.NoError(t, err)
	_, err = flow.Enqueue(t.Context(), q, flow.Chain(number.New(1, &queue.Options{Key: queue.Forever("k")})))
	require.ErrorIs(t, err, flow.ErrDuplicate)
	flows, err := flow.List(t.Context(), q, "", 10)
	require.NoError(t, err)
	require.Empty(t, flows)
	_, err = flow.Get(t.Context(), q, "none")
	require.ErrorIs(t, err, flow.ErrNotFound)
	_, err = flow.Nodes(t.Context(), q, "none")
	require.ErrorIs(t, err, flow.ErrNotFound)
}

// What a hook enqueues by the context that it is given, in a transaction that it has, belongs to no flow.
func TestAHookIsGivenNoNodes(t *testing.T) {
	hooked := 0
	q, err := queue.New(dbtest.SQLite(t), &queue.Config{OnEnqueue: []queue.EnqueueHook{
		func(ctx context.Context, _ *queue.NewJob) error {
			hooked++
			require.Nil(t, driver.NodesOf(ctx))
			return nil
		},
	}})
	require.NoError(t, err)
	enqueue(t, q, flow.Chain(number.New(1, nil), number.New(2, nil)))
	require.Equal(t, 2, hooked)
}

// The order of the jobs of a flow is that of its nodes.
func TestAJobOfAFlowHasNoSequence(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := newQueue(t, db)
		f := flow.New("both", nil)
		f.Add("one", number.New(1, &queue.Options{Sequence: "s"}))
		_, err := flow.Enqueue(t.Context(), q, f)
		require.ErrorIs(t, err, queue.ErrInvalidJob)
		require.ErrorContains(t, err, "a job of a flow has no Sequence")
	})
}
