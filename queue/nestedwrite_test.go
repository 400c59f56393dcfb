package queue_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
	"github.com/postroom-go/postroom/queue/sqlite"
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

// A dispatcher that is run inside a write would wait for the write that waits for it.
func TestDispatchersInsideAWriteAreRefused(t *testing.T) {
	run := func(t *testing.T, q *queue.Queue) {
		t.Helper()
		require.NoError(t, q.DB().Write(t.Context(), func(inner context.Context, _ queue.Tx) error {
			for _, ctx := range []context.Context{inner, context.Background()} {
				ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
				defer cancel()
				d, err := queue.NewDispatcher(q, nil)
				require.NoError(t, err)
				queue.Handle(d, ping, func(context.Context, *queue.Work[int]) error { return nil })
				require.ErrorIs(t, d.RunUntilIdle(ctx), queue.ErrNestedWrite)
			}
			return nil
		}))
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
		_, err = q.Limits(ctx)
		require.ErrorIs(t, err, queue.ErrNestedWrite)
		_, err = q.DB().Driver().Workers(ctx)
		require.ErrorIs(t, err, queue.ErrNestedWrite)
		_, err = q.DB().Driver().CheckLeases(context.Background(), nil)
		require.ErrorIs(t, err, queue.ErrNestedWrite)
		_, err = q.DB().Driver().Finished(ctx, queue.StateFailed)
		require.ErrorIs(t, err, queue.ErrNestedWrite)
		return nil
	}))
	_, err := q.Job(t.Context(), id)
	require.NoError(t, err)
}

// A goroutine that the function of a write starts and waits for, and that writes by itself, would wait for that write
// for ever.
func TestAWriteThatWaitsForItsOwnGoroutineEnds(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		began := time.Now()
		var inner error
		require.NoError(t, q.DB().Write(t.Context(), func(context.Context, queue.Tx) error {
			ended := make(chan error)
			go func() {
				_, err := q.Enqueue(t.Context(), ping.New(1, nil))
				ended <- err
			}()
			inner = <-ended
			return nil
		}))
		require.ErrorIs(t, inner, sqlite.ErrWriteBlocked)
		require.ErrorContains(t, inner, "EnqueueTx")
		require.InDelta(t, 30, time.Since(began).Seconds(), 1)
		enqueue(t, q, nil)
	})
}

// A write that takes long holds nobody up who comes to it late, and those that wait for their turns among many are not
// refused.
func TestAWriteIsRefusedOnlyWhenAnotherHasItsTurnForLong(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				assert.NoError(t, q.DB().Write(t.Context(), func(context.Context, queue.Tx) error {
					time.Sleep(20 * time.Second)
					return nil
				}))
			})
		}
		all.Wait()
	})
}
