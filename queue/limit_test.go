package queue_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
)

func TestBadLimitsAreRefusedByName(t *testing.T) {
	q := queuetest.New(t)
	for _, c := range []struct {
		target queue.Target
		limit  queue.Limit
		want   string
	}{
		{queue.Target{}, queue.Limit{MaxRunning: 1}, "Target.Kind"},
		{queue.ForKey(""), queue.Limit{MaxRunning: 1}, "Target.Name"},
		{queue.ForKey("a\x00"), queue.Limit{MaxRunning: 1}, "Target.Name"},
		{queue.ForType(strings.Repeat("t", 201)), queue.Limit{MaxRunning: 1}, "Target.Name"},
		{queue.ForKey("coalesce:x"), queue.Limit{MaxRunning: 1}, "Target.Name"},
		{queue.ForAll(), queue.Limit{MaxRunning: 1}, "limit their types"},
		{queue.ForType(ping), queue.Limit{}, "RemoveLimit"},
		{queue.ForType(ping), queue.Limit{MaxRunning: -1}, "Limit.MaxRunning"},
		{queue.ForType(ping), queue.Limit{Rate: -1}, "Limit.Rate"},
		{queue.ForType(ping), queue.Limit{MaxRunning: 1, Per: time.Second}, "Limit.Rate is 0"},
		{queue.ForType(ping), queue.Limit{Rate: 1}, "Limit.Per"},
		{queue.ForType(ping), queue.Limit{Rate: 1, Per: 367 * 24 * time.Hour}, "Limit.Per"},
		{queue.ForType(ping), queue.Limit{Rate: 1001, Per: time.Millisecond}, "Limit.Rate"},
		{queue.ForType(ping), queue.Limit{Rate: 1_000_000_001, Per: 24 * time.Hour}, "Limit.Rate"},
		{queue.ForType(ping), queue.Limit{Rate: 2, Per: time.Second, Burst: 3}, "Limit.Burst"},
	} {
		err := q.SetLimit(t.Context(), c.target, c.limit)
		require.ErrorIs(t, err, queue.ErrInvalidLimit)
		require.ErrorContains(t, err, c.want)
		require.ErrorContains(t, err, "queue: set limit: ")
	}
	require.ErrorIs(t, q.Pause(t.Context(), queue.Target{}), queue.ErrInvalidLimit)
	require.ErrorIs(t, q.Resume(t.Context(), queue.Target{}), queue.ErrInvalidLimit)
	require.ErrorIs(t, q.RemoveLimit(t.Context(), queue.Target{}), queue.ErrInvalidLimit)
	limits, err := q.Limits(t.Context())
	require.NoError(t, err)
	require.Empty(t, limits)
}

func TestTheWidestLimitsAreStored(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := queueOn(t, db)
		want := queue.Limit{MaxRunning: 1_000_000, Rate: 1_000_000_000, Per: 366 * 24 * time.Hour, Burst: 1_000_000_000}
		require.NoError(t, q.SetLimit(t.Context(), queue.ForType(ping), want))
		limits, err := q.Limits(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, limits[0].Limit)
		enqueue(t, q, nil)
		jobs, err := q.Claim(t.Context(), "w", []string{string(ping)}, 1)
		require.NoError(t, err)
		require.Len(t, jobs, 1)
	})
}

// A limit is part of the transaction that sets it, like all else.
func TestALimitThatIsRolledBackIsNone(t *testing.T) {
	q := queuetest.New(t)
	require.ErrorIs(t, q.DB().Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		require.NoError(t, q.SetLimitTx(ctx, tx, queue.ForType(ping), queue.Limit{Rate: 1, Per: time.Hour}))
		require.NoError(t, q.PauseTx(ctx, tx, queue.ForAll()))
		return errDatabase
	}), errDatabase)
	limits, err := q.Limits(t.Context())
	require.NoError(t, err)
	require.Empty(t, limits)
	require.NoError(t, q.SetLimit(t.Context(), queue.ForType(ping), queue.Limit{Rate: 2, Per: time.Hour}))
	limits, err = q.Limits(t.Context())
	require.NoError(t, err)
	require.Equal(t, []queue.LimitStatus{{Target: queue.ForType(ping), Limit: queue.Limit{Rate: 2, Per: time.Hour,
		Burst: 1}}}, limits)
}

// Dispatchers start jobs at the very instants that the rate allows, and look no more often than that.
func TestADispatcherKeepsTheRate(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		require.NoError(t, q.SetLimit(t.Context(), queue.ForKey("k"), queue.Limit{Rate: 60, Per: time.Hour}))
		for range 5 {
			enqueue(t, q, &queue.Options{LimitKey: "k"})
		}
		began := time.Now()
		var started []time.Duration
		work(t, q, func(context.Context, *queue.Work[int]) error {
			started = append(started, time.Since(began).Round(10*time.Microsecond))
			return nil
		})
		require.Equal(t, []time.Duration{0, time.Minute, 2 * time.Minute, 3 * time.Minute, 4 * time.Minute}, started)
	})
}

// A paused type waits, others run; whoever resumes it wakes the dispatchers, which would not look again for an hour.
func TestResumeWakesDispatchers(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		q := on(t, db.Driver(), nil)
		for _, target := range []queue.Target{queue.ForType(ping), queue.ForAll(), queue.ForKey("k")} {
			require.NoError(t, q.Pause(t.Context(), target))
			ran := make(chan string, 1)
			stop := start(t, q, &queue.DispatcherConfig{PollInterval: time.Hour},
				func(_ context.Context, w *queue.Work[int]) error {
					ran <- w.Job.ID
					return nil
				})
			id := enqueue(t, q, &queue.Options{LimitKey: "k"})
			require.Equal(t, queue.StateQueued, job(t, q, id).State)
			require.NoError(t, q.Resume(t.Context(), target))
			require.Equal(t, id, <-ran)
			require.NoError(t, stop())
		}
	})
}

// A job that ends and frees capacity wakes the dispatchers of all processes: many jobs that take no time pass a limit
// of five without a poll. It is told after each end anew, so that a wake-up which is lost once stops them.
func TestALimitCostsNoWaiting(t *testing.T) {
	for _, target := range []queue.Target{queue.ForType(ping), queue.ForKey("k")} {
		t.Run(string(target.Kind), func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, db queue.DB) { passLimit(t, db, target) })
		})
	}
}

func passLimit(t *testing.T, db queue.DB, target queue.Target) {
	const jobs, most = 500, 5
	require.NoError(t, queue.Migrate(t.Context(), db))
	q := on(t, db.Driver(), nil)
	require.NoError(t, q.SetLimit(t.Context(), target, queue.Limit{MaxRunning: most}))
	batch := make([]queue.NewJob, jobs)
	for i := range batch {
		batch[i] = ping.New(i, &queue.Options{LimitKey: "k"})
	}
	_, err := q.EnqueueMany(t.Context(), batch)
	require.NoError(t, err)

	var running, ran, above atomic.Int64
	done := make(chan struct{})
	began := time.Now()
	var stops []func() error
	for range 2 {
		stops = append(stops, start(t, q, &queue.DispatcherConfig{PollInterval: time.Hour},
			func(context.Context, *queue.Work[int]) error {
				if running.Add(1) > most {
					above.Add(1)
				}
				running.Add(-1)
				if ran.Add(1) == jobs {
					close(done)
				}
				return nil
			}))
	}
	<-done
	t.Logf("%d jobs in %v", jobs, time.Since(began))
	for _, stop := range stops {
		require.NoError(t, stop())
	}
	require.Zero(t, above.Load())
	require.EqualValues(t, jobs, ran.Load())
}

// A worker that dies counts until its jobs are taken back, and never after.
func TestADeadWorkerKeepsItsCapacityForALease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queuetest.New(t)
		require.NoError(t, q.SetLimit(t.Context(), queue.ForType(ping), queue.Limit{MaxRunning: 1}))
		enqueue(t, q, nil)
		enqueue(t, q, nil)
		dead, err := q.Claim(t.Context(), "dead", []string{string(ping)}, 5)
		require.NoError(t, err)
		require.Len(t, dead, 1)
		began := time.Now()
		var mu sync.Mutex
		var first time.Duration
		var n int
		queuetest.Work(t, q, func(d *queue.Dispatcher) {
			queue.Handle(d, ping, func(context.Context, *queue.Work[int]) error {
				mu.Lock()
				defer mu.Unlock()
				if n++; n == 1 {
					first = time.Since(began)
				}
				return nil
			})
		})
		require.Equal(t, 2, n)
		require.GreaterOrEqual(t, first, time.Hour, "the lease of queuetest.Work")
	})
}
