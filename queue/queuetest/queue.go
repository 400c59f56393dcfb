package queuetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// New opens an empty queue in memory, with its tables made, that goes with the test. Its [queue.Queue.DB] takes the
// tables of others too.
func New(t testing.TB) *queue.Queue {
	t.Helper()
	db, err := sqlite.OpenMemory(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	require.NoError(t, queue.Migrate(t.Context(), db))
	q, err := queue.New(db, nil)
	require.NoError(t, err)
	return q
}

// Work runs jobs until none of the types that register has given a handler is queued, scheduled or running. It waits for
// jobs that are not due yet and for retries; what its handlers enqueue is run as well. It fails the test when the
// dispatcher does, not when a job does: look at the job.
func Work(t testing.TB, q *queue.Queue, register func(d *queue.Dispatcher)) {
	t.Helper()
	// Nobody else works on this queue, so that it need not be looked at often.
	d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{PollInterval: time.Minute, Lease: time.Hour})
	require.NoError(t, err)
	register(d)
	require.NoError(t, d.RunUntilIdle(t.Context()))
}
