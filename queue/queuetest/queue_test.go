package queuetest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const count queue.Type[int] = "count"

func TestWorkRunsUntilNothingIsLeft(t *testing.T) {
	q := queuetest.New(t)
	_, err := q.Enqueue(t.Context(), count.New(3, nil))
	require.NoError(t, err)
	var seen []int
	queuetest.Work(t, q, func(d *queue.Dispatcher) {
		queue.Handle(d, count, func(ctx context.Context, w *queue.Work[int]) error {
			seen = append(seen, w.Payload)
			return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
				if w.Payload == 0 {
					return nil
				}
				_, err := w.Queue().EnqueueTx(ctx, tx, count.New(w.Payload-1, nil))
				return err
			})
		})
	})
	require.Equal(t, []int{3, 2, 1, 0}, seen)
}

func TestWaitsTakeNoTimeInABubble(t *testing.T) {
	outside := time.Now()
	synctest.Test(t, func(t *testing.T) {
		q := queuetest.New(t)
		began := time.Now()
		_, err := q.EnqueueScheduled(t.Context(), count.New(1, nil), began.Add(2*24*time.Hour))
		require.NoError(t, err)
		var ran time.Time
		queuetest.Work(t, q, func(d *queue.Dispatcher) {
			queue.Handle(d, count, func(context.Context, *queue.Work[int]) error {
				ran = time.Now()
				return nil
			})
		})
		require.WithinDuration(t, began.Add(2*24*time.Hour), ran, time.Second)
	})
	require.Less(t, time.Since(outside), time.Hour)
}

func TestQueuesAreApart(t *testing.T) {
	first, second := queuetest.New(t), queuetest.New(t)
	_, err := first.Enqueue(t.Context(), count.New(1, nil))
	require.NoError(t, err)
	counts, err := second.Counts(t.Context(), queue.Filter{})
	require.NoError(t, err)
	require.Empty(t, counts)
}
