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

// New opens an empty queue in memory with its tables, for the duration of the test. Its [queue.Queue.DB] can have other
// tables too, and can be passed to [queue.New] for a queue with another Config.
func New(t testing.TB) *queue.Queue {
	t.Helper()
	db, err := sqlite.OpenMemory(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	flows, _ := driver.As[driver.FlowStore](db.Driver())
	q, err := queue.New(queue.NewDB(&database{Driver: db.Driver(), FlowStore: flows}), nil)
	require.NoError(t, err)
	require.NoError(t, queue.Migrate(t.Context(), q.DB()))
	return q
}

// Work runs jobs until no job is queued, scheduled or running whose type has a handler from register. It waits for jobs
// that are not due yet and for retries, and also runs jobs that its handlers enqueue. The test fails if the dispatcher
// fails, not if a job does: check the job.
func Work(t testing.TB, q *queue.Queue, register func(d *queue.Dispatcher)) {
	t.Helper()
	// Nobody else works on this queue, so frequent polling is unnecessary.
	d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{PollInterval: time.Minute, Lease: time.Hour})
	require.NoError(t, err)
	register(d)
	require.NoError(t, d.RunUntilIdle(t.Context()))
}

// WorkOne runs one attempt of the first due job whose type has a handler from register. It returns the job after it:
// completed, failed, or queued again with the error and the time of its next attempt. The test fails if no job is due.
// The queue must be one of [New], or on its database.
func WorkOne(t testing.TB, q *queue.Queue, register func(d *queue.Dispatcher)) *queue.Job {
	t.Helper()
	steered(t, q)
	p := newProcess()
	ran, err := p.workOne(t.Context(), q, register)
	require.NoError(t, err)
	if !ran {
		counts, err := q.Counts(t.Context(), queue.Filter{})
		require.NoError(t, err)
		t.Fatalf(
			"queuetest: WorkOne: no job with a handler is due; all jobs by state: %v (PromoteScheduled makes those due that wait)", counts)
	}
	job, err := q.Job(t.Context(), p.job.ID)
	require.NoError(t, err)
	return job
}

// PromoteScheduled makes due all queued jobs that wait for their time or for their next attempt, and returns their
// number. It moves no clock: handlers see the real time. If that matters use a testing/synctest bubble, in which time
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
		t.Fatalf("queuetest: the queue is on a %T; use one of queuetest.New, or make one with queue.New on its DB",
			q.DB())
	}
	return d
}
