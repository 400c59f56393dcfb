package flow_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/flow"
)

// A tasker does tasks of flows as claims do, each in its own transaction.
type tasker struct {
	*testing.T
	q     *queue.Queue
	store driver.FlowStore
}

func newTasker(t *testing.T, q *queue.Queue) *tasker {
	t.Helper()
	store, ok := driver.As[driver.FlowStore](q.DB().Driver())
	require.True(t, ok)
	return &tasker{T: t, q: q, store: store}
}

type taskFunc = func(store driver.FlowStore, ctx context.Context, tx *driver.WriteTx) error

func (k *tasker) write(fn taskFunc) error {
	return driver.Write(k.Context(), k.q.DB(), func(ctx context.Context, tx *driver.WriteTx) error {
		return fn(k.store, ctx, tx)
	})
}

// do does a portion, calls meanwhile in another goroutine before it commits, and reports whether more is left.
func (k *tasker) do(meanwhile func() error) (more bool, err error) {
	err = k.write(func(store driver.FlowStore, ctx context.Context, tx *driver.WriteTx) (err error) {
		if more, err = store.DoTasks(ctx, tx); err == nil && meanwhile != nil {
			err = <-apart(meanwhile)
		}
		return err
	})
	return more, err
}

func (k *tasker) all() (err error) {
	for more := true; more && err == nil; {
		more, err = k.do(nil)
	}
	return err
}

func apart(fn func() error) <-chan error {
	done := make(chan error, 1)
	go func() { done <- fn() }()
	return done
}

// A flow is canceled while another dispatcher is retrying a large node of it: the jobs that are retried after that are
// canceled, too. On PostgreSQL the tasks of a node could be done beside each other.
func TestCancelWhileANodeIsRetried(t *testing.T) {
	q := newQueue(t, dbtest.Postgres(t))
	k := newTasker(t, q)
	f := flow.New("f", nil)
	f.Add("first", broken.New(1, nil))
	f.AddMany("many", slices.Values(numbers(2500)), flow.After("first"))
	id := enqueue(t, q, f)
	work(t, q, register)
	require.Equal(t, "failed, first failed 1/1, many canceled 2500/2500", shape(t, q, id))
	require.NoError(t, k.write(func(store driver.FlowStore, ctx context.Context, tx *driver.WriteTx) error {
		return store.RetryFlow(ctx, tx, id)
	}))
	more, err := k.do(nil)
	require.NoError(t, err)
	require.True(t, more, "the first and some of the many")
	more, err = k.do(func() error {
		err := k.write(func(store driver.FlowStore, ctx context.Context, tx *driver.WriteTx) error {
			return store.CancelFlow(ctx, tx, id)
		})
		return errors.Join(err, k.all())
	})
	require.NoError(t, err)
	require.True(t, more)
	require.NoError(t, k.all())
	work(t, q, register)
	require.Equal(t, "canceled, first canceled 1/1, many canceled 2500/2500", shape(t, q, id))
}

// What is left of a flow completes before its cancellation reaches it: the flow is canceled if something of it was,
// also before, and else it has ended as it would have.
func TestAFlowCompletesWhileItIsCanceled(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := newQueue(t, db)
		k := newTasker(t, q)
		first := func(t *testing.T, end func(a *queue.Attempt) error) {
			t.Helper()
			require.NoError(t, end(claimOne(t, q, string(broken))))
		}
		for want, begin := range map[string]func(t *testing.T){
			"completed, batch completed 1/1, finally completed 1/1": func(t *testing.T) {
				t.Helper()
				first(t, func(a *queue.Attempt) error { return a.Complete(t.Context(), nil) })
			},
			"completed, batch failed 1/1, finally completed 1/1": func(t *testing.T) {
				t.Helper()
				first(t, func(a *queue.Attempt) error { return a.Fail(t.Context(), queue.Fatal(errors.New("broken"))) })
			},
			"canceled, batch canceled 1/1, finally completed 1/1": func(t *testing.T) {
				t.Helper()
				first(t, func(a *queue.Attempt) error { return q.Cancel(t.Context(), a.Job.ID) })
			},
		} {
			id := enqueue(t, q, flow.Batch(broken.New(1, nil)).Finally(number.New(1, nil)))
			begin(t)
			last := claimOne(t, q, string(number))
			require.NoError(t, k.write(func(store driver.FlowStore, ctx context.Context, tx *driver.WriteTx) error {
				return store.CancelFlow(ctx, tx, id)
			}))
			require.NoError(t, last.Complete(t.Context(), nil))
			require.NoError(t, k.all())
			require.Equal(t, want, shape(t, q, id))
			work(t, q, register)
		}
	})
}

// A node is canceled because of a failure while another handler adds jobs to it, which has not committed: these are
// canceled, too. They waited for ever.
func TestCancelWhileANodeGrows(t *testing.T) {
	q := newQueue(t, dbtest.Postgres(t))
	k := newTasker(t, q)
	f := flow.New("f", nil)
	f.Add("broken", broken.New(1, nil))
	f.Add("add", add.New("many", nil))
	f.AddMany("many", nil, flow.After("broken", "add"))
	f.Add("sum", sum.New("many", nil), flow.After("many"))
	id := enqueue(t, q, f)
	adding := claimOne(t, q, string(add))
	failing := claimOne(t, q, string(broken))
	require.NoError(t, failing.Fail(t.Context(), queue.Fatal(errors.New("broken"))))
	var canceled <-chan error
	require.NoError(t, adding.Complete(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		if _, err := flow.AddTx(ctx, tx, adding, "many", slices.Values(numbers(3))); err != nil {
			return err
		}
		canceled = apart(k.all)
		return untilBlocks(ctx, q, tx)
	}))
	require.NoError(t, <-canceled)
	work(t, q, register)
	require.Equal(t, "failed, add completed 1/1, broken failed 1/1, many canceled 3/3, sum canceled 1/1", shape(t, q, id))
}

func claimOne(t *testing.T, q *queue.Queue, typeName string) *queue.Attempt {
	t.Helper()
	claimed, err := q.Claim(t.Context(), "w", []string{typeName}, 1)
	require.NoError(t, err)
	require.Len(t, claimed, 1)
	return claimed[0]
}

// A job is retried while the last job that its node waits for ends: it is released. On PostgreSQL it was stored as
// waiting for a node that had opened.
func TestRetryOfAJobWhileItsNodeOpens(t *testing.T) {
	q := newQueue(t, dbtest.Postgres(t))
	f := flow.New("f", nil)
	f.Add("first", number.New(1, nil))
	f.Add("second", number.New(2, nil), flow.After("first"))
	id := enqueue(t, q, f)
	var second string
	for job, err := range flow.Jobs(t.Context(), q, id, "second") {
		require.NoError(t, err)
		second = job.ID
	}
	require.NoError(t, q.Cancel(t.Context(), second))
	first := claimOne(t, q, string(number))
	var retried <-chan error
	require.NoError(t, q.DB().Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		if err := first.CompleteTx(ctx, tx); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "SET CONSTRAINTS ALL IMMEDIATE"); err != nil {
			return err
		}
		retried = apart(func() error { return q.Retry(t.Context(), second) })
		return untilBlocks(ctx, q, tx)
	}))
	require.NoError(t, <-retried)
	work(t, q, register)
	require.Equal(t, "completed, first completed 1/1, second completed 1/1", shape(t, q, id))
}

// untilBlocks returns when another session waits for the transaction.
func untilBlocks(ctx context.Context, q *queue.Queue, tx queue.Tx) error {
	pid := 0
	if err := scan(ctx, tx, &pid, "SELECT pg_backend_pid()"); err != nil {
		return err
	}
	return <-apart(func() error {
		for waits := false; !waits; {
			err := q.DB().Write(context.Background(), func(ctx context.Context, tx queue.Tx) error {
				return scan(ctx, tx, &waits, "SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE $1::int = ANY(pg_blocking_pids(pid)))",
					pid)
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func scan(ctx context.Context, tx queue.Tx, to any, query string, args ...any) error {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		err = errors.Join(err, rows.Scan(to))
	}
	return errors.Join(err, rows.Err())
}
