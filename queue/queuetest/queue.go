package queuetest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// New opens an empty queue in memory, with its tables made, that goes with the test. Its [queue.Queue.DB] takes the
// tables of others too, and can be given to [queue.New] for a queue with a Config of its own.
func New(t testing.TB) *queue.Queue {
	t.Helper()
	db, err := sqlite.OpenMemory(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	q, err := queue.New(queue.NewDB(&database{Driver: db.Driver()}), nil)
	require.NoError(t, err)
	require.NoError(t, queue.Migrate(t.Context(), q.DB()))
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

// WorkOne runs the one due job that comes first among the types that register has given a handler: one attempt of it. It
// returns the job as it then stands: completed, failed, or queued again with the error and the time of its next attempt.
// It fails the test when no job is due. The queue must be one of [New], or on its database.
func WorkOne(t testing.TB, q *queue.Queue, register func(d *queue.Dispatcher)) *queue.Job {
	t.Helper()
	steered(t, q)
	p := newProcess()
	ran, err := p.workOne(t.Context(), q, register)
	require.NoError(t, err)
	if !ran {
		counts, err := q.Counts(t.Context(), queue.Filter{})
		require.NoError(t, err)
		t.Fatalf("queuetest: WorkOne: no job with a handler is due; all jobs by state: %v (PromoteScheduled makes those due that wait)", counts)
	}
	job, err := q.Job(t.Context(), p.job.ID)
	require.NoError(t, err)
	return job
}

// PromoteScheduled makes the queued jobs due now that wait for their time or for their next attempt, and returns how many
// those were. Nothing else moves: handlers see the real time. Where that matters use a testing/synctest bubble, in which time
// itself moves. It works on any database.
func PromoteScheduled(t testing.TB, q *queue.Queue) int {
	t.Helper()
	promoter, ok := driver.As[driver.Promoter](q.DB().Driver())
	if !ok {
		t.Fatalf("queuetest: PromoteScheduled: a %T does not implement driver.Promoter", q.DB().Driver())
	}
	var promoted int
	require.NoError(t, driver.Write(t.Context(), q.DB(), func(ctx context.Context, tx *driver.WriteTx) (err error) {
		promoted, err = promoter.PromoteScheduled(ctx, tx)
		return err
	}))
	return promoted
}

func steered(t testing.TB, q *queue.Queue) *database {
	t.Helper()
	d, ok := q.DB().Driver().(*database)
	if !ok {
		t.Fatalf("queuetest: the queue is on a %T; use one of queuetest.New, or make one with queue.New on its DB", q.DB())
	}
	return d
}
