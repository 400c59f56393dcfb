package queue_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
)

// nestedCalls are what must not be called inside a write, each with a context of its own.
func nestedCalls(ctx context.Context, t *testing.T, w *queue.Work[int]) {
	t.Helper()
	q := w.Queue()
	_, err := q.Enqueue(ctx, ping.New(1, nil))
	require.ErrorIs(t, err, queue.ErrNestedWrite)
	require.ErrorContains(t, err, "EnqueueTx")
	_, err = queue.Step(ctx, w, "step", func(context.Context) (int, error) {
		t.Error("the step was run")
		return 0, nil
	})
	require.ErrorIs(t, err, queue.ErrNestedWrite)
	require.ErrorIs(t, queue.SaveCursor(ctx, w, "cursor", 1), queue.ErrNestedWrite)
	_, err = q.Wait(ctx, w.Job.ID)
	require.ErrorIs(t, err, queue.ErrNestedWrite)
	require.ErrorIs(t, w.Complete(ctx, nil), queue.ErrNestedWrite)
	require.ErrorIs(t, q.Cancel(ctx, w.Job.ID), queue.ErrNestedWrite)
}

// A call that begins a write inside another one is refused at once, under whatever context, and nothing hangs.
func TestCallsInsideAWriteAreRefused(t *testing.T) {
	run := func(t *testing.T, q *queue.Queue) {
		t.Helper()
		ended, _ := runJob(t, q, func(outer context.Context, w *queue.Work[int]) error {
			return w.Complete(outer, func(inner context.Context, _ queue.Tx) error {
				for _, ctx := range []context.Context{outer, inner, context.Background()} {
					nestedCalls(ctx, t, w)
				}
				return nil
			})
		})
		require.Equal(t, queue.StateCompleted, ended.State)
		counts, err := q.Counts(t.Context(), queue.Filter{})
		require.NoError(t, err)
		require.Equal(t, map[queue.State]int{queue.StateCompleted: 1}, counts)
	}
	dbtest.Each(t, func(t *testing.T, db queue.DB) { run(t, queueOn(t, db)) })
	t.Run("memory", func(t *testing.T) { run(t, queuetest.New(t)) })
}

// In memory a read would wait for the write that waits for it.
func TestReadsInsideAWriteInMemoryAreRefused(t *testing.T) {
	q := queuetest.New(t)
	id := enqueue(t, q, nil)
	require.NoError(t, q.DB().Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := q.Job(context.Background(), id)
		require.ErrorIs(t, err, queue.ErrNestedWrite)
		_, err = q.Counts(ctx, queue.Filter{})
		require.ErrorIs(t, err, queue.ErrNestedWrite)
		return nil
	}))
	_, err := q.Job(t.Context(), id)
	require.NoError(t, err)
}
