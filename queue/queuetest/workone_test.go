package queuetest_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
)

func counting(fn func(ctx context.Context, w *queue.Work[int]) error) func(d *queue.Dispatcher) {
	return func(d *queue.Dispatcher) { queue.Handle(d, count, fn) }
}

var errBusy = errors.New("busy")

func TestWorkOneRunsOneAttemptOfOneJob(t *testing.T) {
	q := queuetest.New(t)
	_, err := q.EnqueueMany(t.Context(), []queue.NewJob{
		count.New(1, nil), count.New(2, &queue.Options{Priority: 1}), order.New(3, &queue.Options{Priority: 2}),
	})
	require.NoError(t, err)
	var seen []int
	register := counting(func(_ context.Context, w *queue.Work[int]) error {
		seen = append(seen, w.Payload)
		if w.Payload == 2 {
			return errBusy
		}
		w.SetResult("counted")
		return nil
	})

	job := queuetest.WorkOne(t, q, register)
	require.Equal(t, []int{2}, seen, "the first by priority; nobody handles orders")
	require.Equal(t, queue.StateQueued, job.State)
	require.Equal(t, errBusy.Error(), job.LastError)
	require.Equal(t, 1, job.Attempt)
	require.Equal(t, 1, job.Failures)
	require.Greater(t, time.Until(job.NotBefore), time.Second)

	job = queuetest.WorkOne(t, q, register)
	require.Equal(t, []int{2, 1}, seen)
	require.Equal(t, queue.StateCompleted, job.State)
	require.JSONEq(t, `"counted"`, string(job.Result))

	got := observe(t, func(t testing.TB) { queuetest.WorkOne(t, q, register) })
	require.Equal(t,
		[]string{"queuetest: WorkOne: no job with a handler is due; all jobs by state: map[completed:1 queued:2] " +
			"(PromoteScheduled makes those due that wait)"}, got)
}

func TestWorkOneLeavesWhatFollows(t *testing.T) {
	q := queuetest.New(t)
	_, err := q.Enqueue(t.Context(), count.New(1, nil))
	require.NoError(t, err)
	register := counting(func(ctx context.Context, w *queue.Work[int]) error {
		counts, err := w.Queue().Counts(ctx, queue.Filter{})
		if err == nil {
			w.SetResult(counts)
			_, err = w.Queue().Enqueue(ctx, count.New(w.Payload+1, nil))
		}
		return err
	})
	for range 3 {
		job := queuetest.WorkOne(t, q, register)
		require.Contains(t, string(job.Result), `"running":1`, "a handler counts what there is")
	}
	counts, err := q.Counts(t.Context(), queue.Filter{})
	require.NoError(t, err)
	require.Equal(t, map[queue.State]int{queue.StateCompleted: 3, queue.StateQueued: 1}, counts)
}

func TestWorkOneKeepsTheConfigOfAQueue(t *testing.T) {
	q, err := queue.New(queuetest.New(t).DB(), &queue.Config{Retry: queue.SlowRetry})
	require.NoError(t, err)
	_, err = q.Enqueue(t.Context(), count.New(1, nil))
	require.NoError(t, err)
	job := queuetest.WorkOne(t, q, counting(func(context.Context, *queue.Work[int]) error { return errBusy }))
	require.Greater(t, time.Until(job.NotBefore), 20*time.Second)

	other, err := queue.New(dbtest.SQLite(t), nil)
	require.NoError(t, err)
	got := observe(t, func(t testing.TB) { queuetest.WorkOne(t, other, counting(nil)) })
	require.Len(t, got, 1)
	require.Contains(t, got[0], "the queue is on a *sqlite.DB; use one of queuetest.New")
}

func TestPromoteScheduledEndsAllWaiting(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		q, err := queue.New(db, nil)
		require.NoError(t, err)
		_, err = q.EnqueueMany(t.Context(), []queue.NewJob{
			count.New(1, &queue.Options{NotBefore: time.Now().Add(7 * 24 * time.Hour)}), count.New(2, nil),
		})
		require.NoError(t, err)
		canceled, err := q.EnqueueScheduled(t.Context(), count.New(3, nil), time.Now().Add(time.Hour))
		require.NoError(t, err)
		require.NoError(t, q.Cancel(t.Context(), canceled.ID))

		require.Equal(t, 1, queuetest.PromoteScheduled(t, q))
		require.Zero(t, queuetest.PromoteScheduled(t, q))
		queuetest.Work(t, q, counting(func(context.Context, *queue.Work[int]) error { return nil }))
		counts, err := q.Counts(t.Context(), queue.Filter{})
		require.NoError(t, err)
		require.Equal(t, map[queue.State]int{queue.StateCompleted: 2, queue.StateCanceled: 1}, counts)
	})
}

func TestPromoteScheduledEndsTheWaitForARetry(t *testing.T) {
	q := queuetest.New(t)
	_, err := q.Enqueue(t.Context(), count.New(1, nil))
	require.NoError(t, err)
	register := counting(func(_ context.Context, w *queue.Work[int]) error {
		if w.Job.Failures < 2 {
			return queue.RetryAfter(errBusy, time.Hour)
		}
		return nil
	})
	for range 2 {
		require.Equal(t, queue.StateQueued, queuetest.WorkOne(t, q, register).State)
		require.Equal(t, 1, queuetest.PromoteScheduled(t, q))
	}
	require.Equal(t, queue.StateCompleted, queuetest.WorkOne(t, q, register).State)
}

// In a bubble time moves by itself: sleep until the job is due.
func TestWorkOneInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queuetest.New(t)
		_, err := q.EnqueueScheduled(t.Context(), count.New(1, nil), time.Now().Add(7*24*time.Hour))
		require.NoError(t, err)
		register := counting(func(context.Context, *queue.Work[int]) error { return errBusy })
		time.Sleep(7 * 24 * time.Hour)
		job := queuetest.WorkOne(t, q, register)
		require.Equal(t, queue.StateQueued, job.State)
		time.Sleep(time.Until(job.NotBefore))
		require.Equal(t, 2, queuetest.WorkOne(t, q, register).Failures)
	})
}
