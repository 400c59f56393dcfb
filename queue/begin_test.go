package queue_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
)

// A database that can be read and not written, as on a full disk, keeps a dispatcher waiting, and not from starting.
func TestADispatcherStartsWhileNothingCanBeWritten(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		id := enqueue(t, q, nil)
		full := &faulty{Driver: q.DB().Driver()}
		full.writes.Store(true)
		stop := start(t, on(t, full, nil), nil, func(context.Context, *queue.Work[int]) error { return nil })
		time.Sleep(time.Hour)
		require.Equal(t, queue.StateQueued, job(t, q, id).State)
		full.writes.Store(false)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.Equal(t, queue.StateCompleted, job(t, q, id).State)
		require.NoError(t, stop())
	})
}
