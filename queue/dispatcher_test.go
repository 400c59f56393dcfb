package queue_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

type greeting struct{ Name string }

const greet queue.Type[greeting] = "greet"

func newQueue(t *testing.T) *queue.Queue {
	t.Helper()
	db := dbtest.SQLite(t)
	require.NoError(t, queue.Migrate(t.Context(), db))
	q, err := queue.New(db, nil)
	require.NoError(t, err)
	return q
}

func TestRunUntilIdleRunsEveryJobOnce(t *testing.T) {
	q := newQueue(t)
	d, err := queue.NewDispatcher(q, nil)
	require.NoError(t, err)
	var ran atomic.Int64
	queue.Handle(d, greet, func(ctx context.Context, w *queue.Work[greeting]) error {
		ran.Add(1)
		return w.Complete(ctx, func(ctx context.Context, tx *queue.Tx) error { return nil })
	})
	for range 500 {
		_, err := q.Enqueue(t.Context(), greet.New(greeting{"Ada"}, nil))
		require.NoError(t, err)
	}
	require.NoError(t, d.RunUntilIdle(t.Context()))
	require.EqualValues(t, 500, ran.Load())
	counts, err := q.Counts(t.Context(), queue.Filter{})
	require.NoError(t, err)
	require.Equal(t, map[queue.State]int{queue.StateCompleted: 500}, counts)
}
