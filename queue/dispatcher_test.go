package queue_test

import (
	"context"
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/postgres"
	"github.com/postroom-go/postroom/queue/queuetest"
	"github.com/postroom-go/postroom/queue/sqlite"
)

func TestRunUntilIdleRunsEveryJobOnce(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		for range 500 {
			enqueue(t, q, nil)
		}
		var ran atomic.Int64
		work(t, q, func(ctx context.Context, w *queue.Work[int]) error {
			ran.Add(1)
			return w.Complete(ctx, func(context.Context, queue.Tx) error { return nil })
		})
		require.EqualValues(t, 500, ran.Load())
		counts, err := q.Counts(t.Context(), queue.Filter{})
		require.NoError(t, err)
		require.Equal(t, map[queue.State]int{queue.StateCompleted: 500}, counts)
	})
}

func TestRunUntilIdleRunsWhatHandlersEnqueueAndWaitsForSchedules(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		began := time.Now()
		enqueue(t, q, nil)
		var ran atomic.Int64
		work(t, q, func(ctx context.Context, w *queue.Work[int]) error {
			if ran.Add(1) == 3 {
				return nil
			}
			_, err := w.Queue().EnqueueScheduled(ctx, ping.New(1, nil), time.Now().Add(time.Hour))
			return err
		})
		require.EqualValues(t, 3, ran.Load())
		require.WithinDuration(t, began.Add(2*time.Hour), time.Now(), time.Second)
	})
}

func TestRunUntilIdleDoesNotWaitForJobsOfOthers(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		began := time.Now()
		require.NoError(t, q.SetLimit(t.Context(), queue.ForKey("k"), queue.Limit{Rate: 1, Per: 24 * time.Hour}))
		for range 2 {
			_, err := q.Enqueue(t.Context(), queue.NewJob{Type: "other", Options: queue.Options{LimitKey: "k"}})
			require.NoError(t, err)
		}
		_, err := q.Claim(t.Context(), "w", []string{"other"}, 2)
		require.NoError(t, err)
		enqueue(t, q, nil)
		work(t, q, func(context.Context, *queue.Work[int]) error { return nil })
		require.WithinDuration(t, began, time.Now(), time.Minute)
	})
}

func TestDispatcherRunsAtMostWorkersAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		for range 20 {
			enqueue(t, q, nil)
		}
		var now, most atomic.Int64
		stop := start(t, q, &queue.DispatcherConfig{Workers: 3}, func(context.Context, *queue.Work[int]) error {
			most.Store(max(most.Load(), now.Add(1)))
			time.Sleep(time.Second)
			now.Add(-1)
			return nil
		})
		time.Sleep(time.Minute)
		require.NoError(t, stop())
		require.EqualValues(t, 3, most.Load())
		counts, err := q.Counts(t.Context(), queue.Filter{})
		require.NoError(t, err)
		require.Equal(t, map[queue.State]int{queue.StateCompleted: 20}, counts)
	})
}

func TestDispatcherIsWokenByNewJobs(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		ran := make(chan time.Time, 1)
		stop := start(t, q, &queue.DispatcherConfig{PollInterval: time.Hour},
			func(context.Context, *queue.Work[int]) error {
				ran <- time.Now()
				return nil
			})
		synctest.Wait()
		enqueued := time.Now()
		enqueue(t, q, nil)
		require.Equal(t, enqueued, <-ran)
		require.NoError(t, stop())
	})
}

func TestDispatcherPollsForWhatNobodyTellsItOf(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		deaf := on(t, &faulty{Driver: q.DB().Driver(), deaf: true}, nil)
		ran := make(chan time.Time, 1)
		stop := start(t, deaf, &queue.DispatcherConfig{PollInterval: 3 * time.Second},
			func(context.Context, *queue.Work[int]) error {
				ran <- time.Now()
				return nil
			})
		synctest.Wait()
		enqueued := time.Now()
		enqueue(t, q, nil)
		require.WithinRange(t, <-ran, enqueued, enqueued.Add(3*time.Second))
		require.NoError(t, stop())
	})
}

func TestScheduledJobRunsAtItsTimeBetweenPolls(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		due := time.Now().Add(1234567 * time.Microsecond)
		enqueue(t, q, &queue.Options{NotBefore: due})
		ran := make(chan time.Time, 1)
		stop := start(t, q, &queue.DispatcherConfig{PollInterval: time.Hour},
			func(context.Context, *queue.Work[int]) error {
				ran <- time.Now()
				return nil
			})
		require.WithinRange(t, <-ran, due, due.Add(time.Millisecond))
		require.NoError(t, stop())
	})
}

// The job was not due when the claim looked, and is when the claimer asks how long to wait.
func TestScheduledJobThatBecomesDueDuringTheClaim(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		slow := on(t, &faulty{Driver: q.DB().Driver(), deaf: true, slow: 10 * time.Millisecond}, nil)
		enqueue(t, q, &queue.Options{NotBefore: time.Now().Add(5 * time.Millisecond)})
		ran := make(chan struct{})
		stop := start(t, slow, &queue.DispatcherConfig{PollInterval: time.Minute},
			func(context.Context, *queue.Work[int]) error {
				close(ran)
				return nil
			})
		began := time.Now()
		<-ran
		require.Less(t, time.Since(began), time.Second)
		require.NoError(t, stop())
	})
}

func TestNothingIsMadeOfNil(t *testing.T) {
	for _, db := range []queue.DB{nil, (*sqlite.DB)(nil), (*postgres.DB)(nil), &sqlite.DB{}, &postgres.DB{},
		queue.NewDB(nil)} {
		_, err := queue.New(db, nil)
		require.ErrorContains(t, err, "New needs a DB: open a database with queue/sqlite or queue/postgres")
		require.ErrorContains(t, queue.Migrate(t.Context(), db),
			"Migrate needs a DB: open a database with queue/sqlite or queue/postgres")
	}
	_, err := queue.NewDispatcher(nil, nil)
	require.ErrorContains(t, err, "NewDispatcher needs a Queue")
}

func TestRunRefuses(t *testing.T) {
	nothing := func(context.Context, *queue.Work[int]) error { return nil }
	for name, c := range map[string]struct {
		prepare func(d *queue.Dispatcher)
		err     string
	}{
		"no handlers": {func(*queue.Dispatcher) {}, "no handlers"},
		"a type registered twice": {func(d *queue.Dispatcher) {
			queue.Handle(d, ping, nothing)
			queue.Handle(d, ping, nothing)
		}, `handler "ping": it is registered twice`},
		"a type without a name": {func(d *queue.Dispatcher) { queue.Handle(d, queue.Type[int](""), nothing) },
			`handler "": its Type is empty`},
		"a handler that is nil": {func(d *queue.Dispatcher) { queue.Handle[int](d, ping, nil) },
			`handler "ping": its function is nil`},
		"a second run": {func(d *queue.Dispatcher) {
			queue.Handle(d, ping, nothing)
			require.NoError(t, d.RunUntilIdle(t.Context()))
		}, "queue: the dispatcher has been run before; make a new one"},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := queue.NewDispatcher(queuetest.New(t), nil)
			require.NoError(t, err)
			c.prepare(d)
			require.ErrorContains(t, d.Run(t.Context()), c.err)
		})
	}
}

func TestConfigBounds(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		for field, cfg := range map[string]queue.DispatcherConfig{
			"Workers":      {Workers: -1},
			"PollInterval": {PollInterval: time.Microsecond},
			"Lease":        {Lease: time.Millisecond},
		} {
			_, err := queue.NewDispatcher(q, &cfg)
			require.ErrorContains(t, err, "DispatcherConfig."+field)
		}
		for field, cfg := range map[string]queue.Config{
			"Retry.Base":          {Retry: queue.RetryPolicy{Factor: 2, Cap: time.Hour}},
			"Retry.Factor":        {Retry: queue.RetryPolicy{Base: time.Second, Factor: 0.5, Cap: time.Hour}},
			"Retry.Cap":           {Retry: queue.RetryPolicy{Base: time.Second, Factor: 2}},
			"Retry.Factor is NaN": {Retry: queue.RetryPolicy{Base: time.Second, Factor: math.NaN(), Cap: time.Hour}},
			"Retry.Jitter is NaN": {Retry: queue.RetryPolicy{Base: time.Second, Factor: 2, Cap: time.Hour,
				Jitter: math.NaN()}},
			"Retry.Jitter":         {Retry: queue.RetryPolicy{Base: time.Second, Factor: 2, Cap: time.Hour, Jitter: 2}},
			"Budget.Interruptions": {Budget: queue.Budget{Interruptions: -1}},
			"Budget.Crashes":       {Budget: queue.Budget{Crashes: -1}},
		} {
			_, err := queue.New(q.DB(), &cfg)
			require.ErrorContains(t, err, field)
		}
	})
}

// A claim that fails is tried again soon, also where nobody looks for jobs unasked: the one wake there was is used up.
func TestAClaimThatFailedIsTriedAgainWithoutAPoll(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		driver := &faulty{Driver: q.DB().Driver()}
		ran := make(chan time.Time, 1)
		stop := start(t, on(t, driver, nil), &queue.DispatcherConfig{PollInterval: time.Hour},
			func(context.Context, *queue.Work[int]) error {
				ran <- time.Now()
				return nil
			})
		synctest.Wait()
		driver.writes.Store(true)
		began := time.Now()
		enqueue(t, q, nil)
		synctest.Wait()
		driver.writes.Store(false)
		require.LessOrEqual(t, (<-ran).Sub(began), time.Second)
		require.NoError(t, stop())
	})
}

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

// A starting driver stops its dispatcher at its first call of a kind.
type starting struct {
	driver.Driver
	onBeat, onWorkers, afterBeat func()
}

func (s *starting) Heartbeat(ctx context.Context, req driver.HeartbeatRequest) (bool, error) {
	s.onBeat()
	alive, err := s.Driver.Heartbeat(ctx, req)
	s.afterBeat()
	return alive, err
}

func (s *starting) Workers(ctx context.Context) ([]driver.Worker, error) {
	s.onWorkers()
	return s.Driver.Workers(ctx)
}

// A dispatcher that is stopped while it starts has stopped as any other has.
func TestADispatcherThatIsStoppedWhileItStarts(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		for name, at := range map[string]func(s *starting, stop func()){
			"before it starts":            func(_ *starting, stop func()) { stop() },
			"before it registers":         func(s *starting, stop func()) { s.onBeat = stop },
			"once it has registered":      func(s *starting, stop func()) { s.afterBeat = stop },
			"while it looks for the dead": func(s *starting, stop func()) { s.onWorkers = stop },
		} {
			for _, untilIdle := range []bool{false, true} {
				t.Run(name, func(t *testing.T) {
					ctx, stop := context.WithCancel(t.Context())
					defer stop()
					nothing := func() {}
					s := &starting{Driver: db.Driver(), onBeat: nothing, onWorkers: nothing, afterBeat: nothing}
					at(s, stop)
					d, err := queue.NewDispatcher(on(t, s, nil), &queue.DispatcherConfig{Exclusive: true})
					require.NoError(t, err)
					queue.Handle(d, ping, func(context.Context, *queue.Work[int]) error { return nil })
					run := d.Run
					if untilIdle {
						run = d.RunUntilIdle
					}
					require.NoError(t, run(ctx))
					workers, err := s.Driver.Workers(t.Context())
					require.NoError(t, err)
					require.Empty(t, workers)
				})
			}
		}
	})
}
