package queue_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

func TestWaitNoticesAnEndInTheSameProcessAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		id := enqueue(t, q, nil)
		stop := start(t, q, nil, func(_ context.Context, w *queue.Work[int]) error {
			time.Sleep(time.Hour + time.Second/3)
			w.SetResult("done")
			return nil
		})
		began := time.Now()
		j, err := q.Wait(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, queue.StateCompleted, j.State)
		require.Equal(t, time.Hour+time.Second/3, time.Since(began))
		require.NoError(t, stop())
	})
}

func TestWaitNoticesAnEndInAnotherProcess(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		counting := &countingReads{Driver: q.DB().Driver()}
		waiter := on(t, counting, nil)
		for _, takes := range []time.Duration{time.Millisecond, time.Second, time.Hour} {
			counting.reads.Store(0)
			id := enqueue(t, q, nil)
			began := time.Now()
			time.AfterFunc(takes, func() {
				if err := q.Cancel(context.Background(), id); err != nil {
					t.Error(err)
				}
			})
			j, err := waiter.Wait(t.Context(), id)
			require.NoError(t, err)
			require.Equal(t, queue.StateCanceled, j.State)
			late := time.Since(began) - takes
			require.LessOrEqual(t, late, min(2*time.Second, takes+20*time.Millisecond))
			require.LessOrEqual(t, counting.reads.Load(), int64(10+takes/(2*time.Second)), "reads after %v", takes)
		}
	})
}

type countingReads struct {
	driver.Driver
	reads atomic.Int64
}

func (d *countingReads) Job(ctx context.Context, id string) (*driver.Job, error) {
	d.reads.Add(1)
	return d.Driver.Job(ctx, id)
}

func TestWaitAcrossProcesses(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		here, there := queueOn(t, db), queueOn(t, db)
		id := enqueue(t, here, nil)
		stop := start(t, there, nil, func(_ context.Context, w *queue.Work[int]) error {
			w.SetResult(w.Payload + 41)
			return nil
		})
		j, err := here.Wait(t.Context(), id)
		require.NoError(t, err)
		n, err := queue.Result[int](j)
		require.NoError(t, err)
		require.Equal(t, 42, n)
		require.NoError(t, stop())

		again, err := there.Wait(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, j, again, "also after the fact")
	})
}

func TestWaitFails(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		_, err := q.Wait(t.Context(), "nobody")
		require.ErrorIs(t, err, queue.ErrJobNotFound)

		id := enqueue(t, q, nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err = q.Wait(ctx, id)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "wait "+id)
		_, err = q.Wait(ctx, id)
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

func TestSeveralWaitForOneJob(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		id := enqueue(t, q, nil)
		ended := make(chan error)
		for range 3 {
			go func() {
				_, err := q.Wait(t.Context(), id)
				ended <- err
			}()
		}
		synctest.Wait()
		began := time.Now()
		require.NoError(t, q.Cancel(t.Context(), id))
		for range 3 {
			require.NoError(t, <-ended)
		}
		require.Equal(t, began, time.Now())
	})
}

func TestResult(t *testing.T) {
	completed := queue.Job{ID: "1", Type: "ping", State: queue.StateCompleted, Result: []byte(`7`)}
	n, err := queue.Result[int](&completed)
	require.NoError(t, err)
	require.Equal(t, 7, n)

	_, err = queue.Result[string](&completed)
	require.ErrorContains(t, err, "queue: result 1: it does not fit string")

	n, err = queue.Result[int](&queue.Job{State: queue.StateCompleted})
	require.NoError(t, err)
	require.Zero(t, n)

	_, err = queue.Result[int](&queue.Job{State: queue.StateRunning})
	require.ErrorIs(t, err, queue.ErrNotFinished)

	_, err = queue.Result[int](&queue.Job{ID: "2", Type: "ping", State: queue.StateFailed, LastError: "no"})
	var failed *queue.JobError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, queue.JobError{JobID: "2", JobType: "ping", State: queue.StateFailed, LastError: "no"}, *failed)
	require.EqualError(t, err, "queue: job 2 (ping) is failed: no")
	require.NotErrorIs(t, err, queue.ErrCanceled)

	_, err = queue.Result[int](&queue.Job{ID: "3", Type: "ping", State: queue.StateCanceled})
	require.ErrorIs(t, err, queue.ErrCanceled)
	require.EqualError(t, err, "queue: job 3 (ping) is canceled")
}

func ExampleQueue_Wait() {
	const Add queue.Type[[]int] = "add"
	ctx := context.Background()
	q, closeDB := exampleQueue(ctx)
	defer closeDB()

	ctx, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	d, err := queue.NewDispatcher(q, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	queue.Handle(d, Add, func(_ context.Context, w *queue.Work[[]int]) error {
		if len(w.Payload) == 0 {
			return queue.Fatal(errors.New("nothing to add"))
		}
		sum := 0
		for _, n := range w.Payload {
			sum += n
		}
		w.SetResult(sum)
		return nil
	})
	running, stopRunning := context.WithCancel(ctx)
	defer stopRunning()
	stopped := make(chan error)
	go func() { stopped <- d.Run(running) }()

	for _, numbers := range [][]int{{1, 2, 39}, {}} {
		enqueued, err := q.Enqueue(ctx, Add.New(numbers, nil))
		if err != nil {
			fmt.Println(err)
			return
		}
		job, err := q.Wait(ctx, enqueued.ID)
		if err != nil {
			fmt.Println(err) // no answer in time
			return
		}
		sum, err := queue.Result[int](job)
		if failed, ok := errors.AsType[*queue.JobError](err); ok {
			fmt.Println(failed.State, failed.LastError)
			continue
		}
		fmt.Println(sum, err)
	}
	stopRunning()
	fmt.Println(<-stopped)
	// Output:
	// 42 <nil>
	// failed nothing to add
	// <nil>
}
