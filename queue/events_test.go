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

func subscribe(t *testing.T, q *queue.Queue, filter queue.EventFilter) *queue.Subscription {
	t.Helper()
	s, err := q.Subscribe(filter)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

// taken are the events that wait.
func taken(t *testing.T, s *queue.Subscription) (events []queue.Event) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for {
		e, err := s.Next(ctx)
		if err != nil {
			require.ErrorIs(t, err, context.Canceled)
			return events
		}
		events = append(events, e)
	}
}

func kinds(events []queue.Event) (words []string) {
	for _, e := range events {
		word := string(e.Kind)
		if e.Kind == queue.EventRetried {
			word += " " + e.Ended
		}
		words = append(words, word)
	}
	return words
}

func queueOn(t *testing.T, db queue.DB) *queue.Queue {
	t.Helper()
	require.NoError(t, queue.Migrate(t.Context(), db))
	q, err := queue.New(db, &queue.Config{Retry: exactRetry})
	require.NoError(t, err)
	return q
}

func TestEventsTellTheLifeOfAJob(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		q = on(t, q.DB().Driver(), &queue.Config{Retry: exactRetry})
		s := subscribe(t, q, queue.EventFilter{})
		began := time.Now()
		id := enqueue(t, q, nil)
		work(t, q, func(_ context.Context, w *queue.Work[int]) error {
			time.Sleep(time.Second)
			switch w.Job.Attempt {
			case 1:
				return errors.New("no")
			case 2:
				return queue.Defer(errors.New("not now"), time.Minute)
			}
			return nil
		})
		events := taken(t, s)
		require.Equal(t, []string{"enqueued", "started", "retried failed", "started", "retried interrupted", "started",
			"completed"}, kinds(events))
		for _, e := range events {
			require.Equal(t, id, e.JobID)
			require.Equal(t, string(ping), e.JobType)
			require.Zero(t, e.Missed)
		}
		require.Zero(t, events[0].Attempt)
		failed := events[2]
		require.Equal(t, 1, failed.Attempt)
		require.Equal(t, "no", failed.Error)
		require.Equal(t, time.Second, failed.Duration)
		require.WithinDuration(t, began.Add(time.Second), failed.At, time.Millisecond)
		require.WithinDuration(t, failed.At.Add(2*time.Second), failed.NotBefore, time.Millisecond)
		require.Equal(t, "not now", events[4].Error)
		require.Equal(t, 3, events[6].Attempt)
		require.Equal(t, time.Second, events[6].Duration)
	})
}

func TestEventsOfOtherEnds(t *testing.T) {
	for name, c := range map[string]struct {
		run  func(t *testing.T, q *queue.Queue, id string)
		want []string
	}{
		"fails for good": {func(t *testing.T, q *queue.Queue, _ string) {
			work(t, q, func(context.Context, *queue.Work[int]) error { return queue.Fatal(errors.New("never")) })
		}, []string{"enqueued", "started", "failed"}},
		"completes in its handler's transaction": {func(t *testing.T, q *queue.Queue, _ string) {
			work(t, q, func(ctx context.Context, w *queue.Work[int]) error { return w.Complete(ctx, nil) })
		}, []string{"enqueued", "started", "completed"}},
		"is canceled": {func(t *testing.T, q *queue.Queue, id string) {
			require.NoError(t, q.Cancel(t.Context(), id))
		}, []string{"enqueued", "canceled"}},
		"is canceled while it runs": {func(t *testing.T, q *queue.Queue, id string) {
			work(t, q, func(ctx context.Context, _ *queue.Work[int]) error {
				if err := q.Cancel(ctx, id); err != nil {
					return err
				}
				return untilCanceled(ctx)
			})
		}, []string{"enqueued", "started", "canceled"}},
		"is retried by hand": {func(t *testing.T, q *queue.Queue, id string) {
			require.NoError(t, q.Cancel(t.Context(), id))
			require.NoError(t, q.Retry(t.Context(), id))
		}, []string{"enqueued", "canceled", "retried "}},
		"is among many": {func(t *testing.T, q *queue.Queue, _ string) {
			n, err := q.CancelAll(t.Context(), queue.Filter{All: true})
			require.NoError(t, err)
			require.Equal(t, 1, n)
			redriven, err := q.Redrive(t.Context(), queue.Filter{All: true, States: []queue.State{queue.StateCanceled}})
			require.NoError(t, err)
			require.Equal(t, 1, redriven.Queued)
		}, []string{"enqueued", "canceled", "retried "}},
		"is run by a worker of the program's own": {func(t *testing.T, q *queue.Queue, _ string) {
			jobs, err := q.Claim(t.Context(), "w", []string{string(ping)}, 1)
			require.NoError(t, err)
			require.NoError(t, jobs[0].Fail(t.Context(), queue.RetryAfter(errors.New("no"), time.Nanosecond)))
			jobs, err = q.Claim(t.Context(), "w", []string{string(ping)}, 1)
			require.NoError(t, err)
			require.NoError(t, jobs[0].Complete(t.Context(), nil))
		}, []string{"enqueued", "started", "retried failed", "started", "completed"}},
		"loses its worker": {func(t *testing.T, q *queue.Queue, _ string) {
			_, err := q.Claim(t.Context(), "dead", []string{string(ping)}, 1)
			require.NoError(t, err)
			work(t, q, func(context.Context, *queue.Work[int]) error { return nil })
		}, []string{"enqueued", "started", "retried crashed", "started", "completed"}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, q *queue.Queue) {
				s := subscribe(t, q, queue.EventFilter{})
				id := enqueue(t, q, nil)
				c.run(t, q, id)
				events := taken(t, s)
				require.Equal(t, c.want, kinds(events))
				for _, e := range events {
					require.Equal(t, id, e.JobID)
					require.Equal(t, string(ping), e.JobType)
					require.False(t, e.At.IsZero())
				}
			})
		})
	}
}

func TestEventsComeAfterTheCommitOnly(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := queueOn(t, db)
		s := subscribe(t, q, queue.EventFilter{})
		errNo := errors.New("no")
		roll := func(ctx context.Context, tx queue.Tx) error {
			_, err := q.EnqueueTx(ctx, tx, ping.New(1, nil))
			require.NoError(t, err)
			require.Empty(t, taken(t, s))
			return errNo
		}
		require.ErrorIs(t, db.Write(t.Context(), roll), errNo)
		require.Panics(t, func() {
			_ = db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error { panic(roll(ctx, tx)) })
		})
		require.Empty(t, taken(t, s))

		// What was undone is not told either when something else happens to the job later.
		enqueue(t, q, nil)
		jobs, err := q.Claim(t.Context(), "w", []string{string(ping)}, 1)
		require.NoError(t, err)
		require.ErrorIs(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			require.NoError(t, jobs[0].FailTx(ctx, tx, errors.New("undone")))
			return errNo
		}), errNo)
		require.NoError(t, jobs[0].Complete(t.Context(), nil))
		require.Equal(t, []string{"enqueued", "started", "completed"}, kinds(taken(t, s)))
	})
}

// One transaction may do several things to a job, and one commit may hold the transactions of several.
func TestEventsOfOneTransactionAreInOrder(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := queueOn(t, db)
		s := subscribe(t, q, queue.EventFilter{})
		require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			enqueued, err := q.EnqueueTx(ctx, tx, ping.New(1, nil))
			require.NoError(t, err)
			require.NoError(t, q.CancelTx(ctx, tx, enqueued.ID))
			return q.RetryTx(ctx, tx, enqueued.ID)
		}))
		require.Equal(t, []string{"enqueued", "canceled", "retried "}, kinds(taken(t, s)))
	})
}

// A late driver commits, and lets everyone see it, before it tells the one who wrote.
type lateDriver struct {
	driver.Driver
	late    atomic.Bool
	visible chan struct{}
	release chan struct{}
}

func (d *lateDriver) Write(ctx context.Context, fn func(context.Context, driver.Tx) error) error {
	if !d.late.Swap(false) {
		return d.Driver.Write(ctx, fn)
	}
	var own *driver.WriteTx
	err := driver.Write(ctx, d.Driver, func(ctx context.Context, tx *driver.WriteTx) error {
		own = driver.NewWriteTx(tx, tx.Dialect(), tx.Now())
		return fn(ctx, own)
	})
	close(d.visible)
	<-d.release
	own.Committed()
	return err
}

func TestEventsOfOneJobAreInOrderWhoeverTellsFirst(t *testing.T) {
	for name, c := range map[string]struct {
		next func(t *testing.T, q *queue.Queue)
		want []string
	}{
		"then it is claimed": {func(t *testing.T, q *queue.Queue) {
			jobs, err := q.Claim(t.Context(), "w", []string{string(ping)}, 1)
			require.NoError(t, err)
			require.NoError(t, jobs[0].Complete(t.Context(), nil))
		}, []string{"enqueued", "started", "completed"}},
		"then it is canceled": {func(t *testing.T, q *queue.Queue) {
			jobs, err := q.Jobs(t.Context(), queue.Filter{})
			require.NoError(t, err)
			require.NoError(t, q.Cancel(t.Context(), jobs[0].ID))
		}, []string{"enqueued", "canceled"}},
	} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, db queue.DB) {
				require.NoError(t, queue.Migrate(t.Context(), db))
				late := &lateDriver{Driver: db.Driver(), visible: make(chan struct{}), release: make(chan struct{})}
				late.late.Store(true)
				q := on(t, late, nil)
				s := subscribe(t, q, queue.EventFilter{})
				enqueued := make(chan error)
				go func() {
					_, err := q.Enqueue(t.Context(), ping.New(1, nil))
					enqueued <- err
				}()
				<-late.visible
				c.next(t, q)
				require.Equal(t, c.want, kinds(taken(t, s)))
				close(late.release)
				require.NoError(t, <-enqueued)
				require.Empty(t, taken(t, s), "told once")
			})
		})
	}
}

// Many producers and a dispatcher, whose claims race with the commits they follow.
func TestEventsOfEachJobAreInOrderUnderLoad(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := queueOn(t, db)
		s := subscribe(t, q, queue.EventFilter{Buffer: 10_000})
		done := make(chan struct{})
		for range 4 {
			go func() {
				defer func() { done <- struct{}{} }()
				for range 50 {
					if _, err := q.Enqueue(t.Context(), ping.New(1, nil)); err != nil {
						t.Error(err)
					}
				}
			}()
		}
		stop := start(t, q, nil, func(_ context.Context, w *queue.Work[int]) error {
			if w.Job.Attempt == 1 {
				return queue.Defer(nil, 0)
			}
			return nil
		})
		of := make(map[string][]queue.Event)
		for completed := 0; completed < 200; {
			e, err := s.Next(t.Context())
			require.NoError(t, err)
			require.Zero(t, e.Missed)
			of[e.JobID] = append(of[e.JobID], e)
			if e.Kind == queue.EventCompleted {
				completed++
			}
		}
		for range 4 {
			<-done
		}
		require.NoError(t, stop())
		require.Empty(t, taken(t, s))
		for id, events := range of {
			require.Equal(t, []string{"enqueued", "started", "retried interrupted", "started", "completed"},
				kinds(events), id)
		}
	})
}

func TestSlowSubscriberLosesTheOldestAndIsTold(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		slow, quick := subscribe(t, q, queue.EventFilter{Buffer: 3}), subscribe(t, q, queue.EventFilter{})
		var ids []string
		for range 10 {
			ids = append(ids, enqueue(t, q, nil))
		}
		require.Len(t, taken(t, quick), 10)
		events := taken(t, slow)
		require.Len(t, events, 3)
		for i, e := range events {
			require.Equal(t, ids[7+i], e.JobID)
		}
		require.Equal(t, []int{7, 0, 0}, []int{events[0].Missed, events[1].Missed, events[2].Missed})
		enqueue(t, q, nil)
		require.Zero(t, taken(t, slow)[0].Missed)
	})
}

func TestEventFilter(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		const pong queue.Type[int] = "pong"
		first := enqueue(t, q, &queue.Options{NotBefore: time.Now().Add(time.Hour)})
		byKind := subscribe(t, q, queue.EventFilter{Kinds: []queue.EventKind{queue.EventCanceled}})
		byType := subscribe(t, q, queue.EventFilter{Types: []string{"pong"}})
		byID := subscribe(t, q, queue.EventFilter{JobIDs: []string{first}})
		_, err := q.Enqueue(t.Context(), pong.New(1, nil))
		require.NoError(t, err)
		second := enqueue(t, q, nil)
		require.NoError(t, q.Cancel(t.Context(), first))
		require.NoError(t, q.Cancel(t.Context(), second))
		require.Equal(t, []string{"canceled", "canceled"}, kinds(taken(t, byKind)))
		require.Equal(t, []string{"enqueued"}, kinds(taken(t, byType)))
		require.Equal(t, []string{"canceled"}, kinds(taken(t, byID)))

		for field, filter := range map[string]queue.EventFilter{
			"EventFilter.Buffer": {Buffer: -1},
			"EventFilter.Kinds":  {Kinds: []queue.EventKind{"exploded"}},
		} {
			_, err := q.Subscribe(filter)
			require.ErrorContains(t, err, field)
		}
	})
}

func TestDuplicateIsNotTold(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		s := subscribe(t, q, queue.EventFilter{})
		for range 2 {
			enqueue(t, q, &queue.Options{Key: queue.Forever("once")})
		}
		require.Len(t, taken(t, s), 1)
	})
}

func TestClosedSubscription(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		s := subscribe(t, q, queue.EventFilter{})
		waiting := make(chan error)
		for range 2 {
			go func() {
				_, err := s.Next(t.Context())
				waiting <- err
			}()
		}
		synctest.Wait()
		s.Close()
		s.Close()
		for range 2 {
			require.ErrorIs(t, <-waiting, queue.ErrSubscriptionClosed)
		}
		enqueue(t, q, nil)
		_, err := s.Next(t.Context())
		require.ErrorIs(t, err, queue.ErrSubscriptionClosed)
	})
}

func TestSeveralMayTakeFromOneSubscription(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		s := subscribe(t, q, queue.EventFilter{})
		got := make(chan queue.Event)
		for range 3 {
			go func() {
				e, err := s.Next(t.Context())
				if err != nil {
					t.Error(err)
				}
				got <- e
			}()
		}
		synctest.Wait()
		_, err := q.EnqueueMany(t.Context(), []queue.NewJob{ping.New(1, nil), ping.New(2, nil), ping.New(3, nil)})
		require.NoError(t, err)
		ids := make(map[string]bool)
		for range 3 {
			ids[(<-got).JobID] = true
		}
		require.Len(t, ids, 3)
	})
}

func ExampleQueue_Subscribe() {
	ctx := context.Background()
	q, closeDB := exampleQueue(ctx)
	defer closeDB()

	events, err := q.Subscribe(queue.EventFilter{Types: []string{string(Greet)}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer events.Close()
	if _, err := q.Enqueue(ctx, Greet.New(Greeting{Name: "Ada"}, nil)); err != nil {
		fmt.Println(err)
		return
	}
	exampleRun(ctx, q, func(d *queue.Dispatcher) {
		queue.Handle(d, Greet, func(context.Context, *queue.Work[Greeting]) error { return nil })
	})
	for {
		e, err := events.Next(ctx)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(e.JobType, e.Kind)
		if e.Kind == queue.EventCompleted {
			return
		}
	}
	// Output:
	// greet enqueued
	// greet started
	// greet completed
}
