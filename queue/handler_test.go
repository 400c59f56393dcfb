package queue_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queueadmin"
	"github.com/postroom-go/postroom/queue/queuetest"
)

const pong queue.Type[int] = "pong"

func TestTimeoutIsAFailureThatSaysHowLongItRan(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		id := enqueue(t, q, &queue.Options{MaxAttempts: 1})
		queuetest.Work(t, q, func(d *queue.Dispatcher) {
			queue.Handle(d, ping, func(ctx context.Context, _ *queue.Work[int]) error {
				deadline, ok := ctx.Deadline()
				require.True(t, ok)
				require.Equal(t, time.Minute, time.Until(deadline))
				require.ErrorIs(t, untilCanceled(ctx), queue.ErrTimeout)
				time.Sleep(5 * time.Second)
				return ctx.Err()
			}, queue.WithTimeout(time.Minute))
		})
		got := job(t, q, id)
		require.Equal(t, queue.StateFailed, got.State)
		require.Equal(t, 1, got.Failures)
		require.Equal(t, "handler timed out: it ran 1m5s, 1m0s are allowed: context deadline exceeded", got.LastError)
	})
}

// The time begins with each attempt, and what a handler says in time about its job stands.
func TestTimeoutLeavesTheHandlersVerdictAlone(t *testing.T) {
	for name, c := range map[string]struct {
		returns       func(ctx context.Context) error
		state         queue.State
		interruptions int
	}{
		"it succeeds all the same": {func(context.Context) error { return nil }, queue.StateCompleted, 0},
		"it gives up for good": {func(ctx context.Context) error { return queue.Fatal(ctx.Err()) },
			queue.StateFailed, 0},
		"it goes on later": {func(ctx context.Context) error { return queue.Defer(ctx.Err(), time.Hour) },
			queue.StateCompleted, 1},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, q *queue.Queue) {
				id := enqueue(t, q, nil)
				queuetest.Work(t, q, func(d *queue.Dispatcher) {
					queue.Handle(d, ping, func(ctx context.Context, w *queue.Work[int]) error {
						if w.Job.Attempt > 1 {
							return nil
						}
						<-ctx.Done()
						return c.returns(ctx)
					}, queue.WithTimeout(time.Minute))
				})
				got := job(t, q, id)
				require.Equal(t, c.state, got.State)
				require.Equal(t, c.interruptions, got.Interruptions)
			})
		})
	}
}

func TestRetryPolicyOfATypeIsItsOwn(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		exact := on(t, q.DB().Driver(), &queue.Config{Retry: exactRetry})
		enqueue(t, q, nil)
		_, err := q.Enqueue(t.Context(), pong.New(1, nil))
		require.NoError(t, err)
		waits := map[string]time.Duration{}
		began := time.Now()
		var mu sync.Mutex
		failOnce := func(_ context.Context, w *queue.Work[int]) error {
			mu.Lock()
			defer mu.Unlock()
			if w.Job.Attempt == 1 {
				return errBroken
			}
			waits[w.Job.Type] = time.Since(began).Round(time.Second)
			return nil
		}
		queuetest.Work(t, exact, func(d *queue.Dispatcher) {
			queue.Handle(d, ping, failOnce)
			queue.Handle(d, pong, failOnce, queue.WithRetry(queue.SlowRetry))
		})
		require.Equal(t, map[string]time.Duration{"ping": 2 * time.Second, "pong": 30 * time.Second}, waits)
	})
}

func TestConcurrencyOfATypeLeavesTheOtherSlotsToOthers(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		for range 20 {
			enqueue(t, q, &queue.Options{Priority: 1})
			_, err := q.Enqueue(t.Context(), pong.New(1, nil))
			require.NoError(t, err)
		}
		var pings, mostPings, mostPongs, pongs atomic.Int64
		count := func(now, most *atomic.Int64) pingHandler {
			return func(context.Context, *queue.Work[int]) error {
				most.Store(max(most.Load(), now.Add(1)))
				time.Sleep(time.Second)
				now.Add(-1)
				return nil
			}
		}
		d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{Workers: 6})
		require.NoError(t, err)
		queue.Handle(d, ping, count(&pings, &mostPings), queue.WithConcurrency(2))
		queue.Handle(d, pong, count(&pongs, &mostPongs))
		began := time.Now()
		require.NoError(t, d.RunUntilIdle(t.Context()))
		require.EqualValues(t, 2, mostPings.Load())
		require.GreaterOrEqual(t, mostPongs.Load(), int64(4))
		require.Less(t, time.Since(began), 12*time.Second, "20 jobs by two, and the others beside them")
	})
}

// Idle slots are of no use to a type that is full: the dispatcher waits for an end, and goes on at once then.
func TestConcurrencyOfTheOnlyType(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		for range 20 {
			enqueue(t, q, nil)
		}
		d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{PollInterval: time.Hour})
		require.NoError(t, err)
		queue.Handle(d, ping, func(context.Context, *queue.Work[int]) error {
			time.Sleep(time.Second)
			return nil
		}, queue.WithConcurrency(2))
		began := time.Now()
		require.NoError(t, d.RunUntilIdle(t.Context()))
		require.Equal(t, 10*time.Second, time.Since(began))
	})
}

func TestHandlerOptionsAreChecked(t *testing.T) {
	nothing := func(context.Context, *queue.Work[int]) error { return nil }
	for name, c := range map[string]struct {
		cfg  queue.DispatcherConfig
		opt  queue.HandlerOption
		text string
	}{
		"timeout": {opt: queue.WithTimeout(0), text: `handler "ping": WithTimeout is 0s; it must be at least 1ms`},
		"retry":   {opt: queue.WithRetry(queue.RetryPolicy{}), text: `handler "ping": WithRetry: Retry.Base is 0s`},
		"concurrency": {opt: queue.WithConcurrency(0),
			text: `handler "ping": WithConcurrency is 0; it must be at least 1`},
		"middleware": {cfg: queue.DispatcherConfig{Middleware: []queue.Middleware{nil}}, opt: queue.WithConcurrency(1),
			text: "DispatcherConfig.Middleware[0] is nil"},
		"middleware that returns nothing": {opt: queue.WithConcurrency(1),
			cfg: queue.DispatcherConfig{Middleware: []queue.Middleware{func(queue.HandlerFunc) queue.HandlerFunc {
				return nil
			}}},
			text: "DispatcherConfig.Middleware[0] returned nil"},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := queue.NewDispatcher(queuetest.New(t), &c.cfg)
			require.NoError(t, err)
			queue.Handle(d, ping, nothing, c.opt)
			require.ErrorContains(t, d.Run(t.Context()), c.text)
		})
	}
	_, err := queue.NewDispatcher(queuetest.New(t), &queue.DispatcherConfig{Grace: -1})
	require.ErrorContains(t, err, "DispatcherConfig.Grace is -1ns; it must be at least 1ms")
}

func TestMiddlewareWrapsEveryHandlerOutermostFirst(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		var calls []string
		named := func(name string) queue.Middleware {
			return func(next queue.HandlerFunc) queue.HandlerFunc {
				return func(ctx context.Context, a *queue.Attempt) (err error) {
					calls = append(calls, name+" begins "+a.Job.Type)
					defer func() { calls = append(calls, fmt.Sprintf("%s ends: %v", name, err)) }()
					return next(ctx, a)
				}
			}
		}
		recovers := func(next queue.HandlerFunc) queue.HandlerFunc {
			return func(ctx context.Context, a *queue.Attempt) (err error) {
				defer func() {
					if v := recover(); v != nil {
						err = queue.Fatal(fmt.Errorf("recovered: %v", v))
					}
				}()
				return next(ctx, a)
			}
		}
		id := enqueue(t, q, nil)
		d, err := queue.NewDispatcher(q,
			&queue.DispatcherConfig{Middleware: []queue.Middleware{named("outer"), recovers, named("inner")}})
		require.NoError(t, err)
		queue.Handle(d, ping, func(context.Context, *queue.Work[int]) error { panic("at the disco") })
		require.NoError(t, d.RunUntilIdle(t.Context()))
		require.Equal(t, []string{"outer begins ping", "inner begins ping", "inner ends: <nil>",
			"outer ends: recovered: at the disco"}, calls)
		require.Equal(t, "recovered: at the disco", job(t, q, id).LastError)
	})
}

// A middleware that panics itself, or does not call the handler, is judged as the handler is.
func TestMiddlewareIsJudgedAsTheHandler(t *testing.T) {
	for name, c := range map[string]struct {
		wrap queue.HandlerFunc
		text string
	}{
		"panics":  {func(context.Context, *queue.Attempt) error { panic("no") }, "handler panicked: no"},
		"refuses": {func(context.Context, *queue.Attempt) error { return errBroken }, "broken"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, q *queue.Queue) {
				id := enqueue(t, q, &queue.Options{MaxAttempts: 1})
				d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{
					Middleware: []queue.Middleware{func(queue.HandlerFunc) queue.HandlerFunc { return c.wrap }},
				})
				require.NoError(t, err)
				queue.Handle(d, ping, func(context.Context, *queue.Work[int]) error { return errors.New("not called") })
				require.NoError(t, d.RunUntilIdle(t.Context()))
				require.Equal(t, c.text, job(t, q, id).LastError)
			})
		})
	}
}

// stuckUntil ignores its context.
func stuckUntil(release <-chan struct{}) pingHandler {
	return func(context.Context, *queue.Work[int]) error {
		<-release
		return nil
	}
}

func TestHandlerThatIgnoresItsTimeoutIsGivenUp(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		exact := on(t, q.DB().Driver(), &queue.Config{Retry: exactRetry})
		id := enqueue(t, q, nil)
		release, wrote := make(chan struct{}), make(chan error, 1)
		var told []queue.StuckHandler
		d, err := queue.NewDispatcher(exact, &queue.DispatcherConfig{Workers: 1, Grace: 20 * time.Second,
			Drain: 5 * time.Second, OnStuck: func(_ context.Context, h queue.StuckHandler) { told = append(told, h) }})
		require.NoError(t, err)
		queue.Handle(d, ping, func(_ context.Context, w *queue.Work[int]) error {
			if w.Job.Attempt > 1 {
				return nil
			}
			<-release
			wrote <- w.Write(context.Background(), func(context.Context, queue.Tx) error {
				t.Error("a handler that was given up has written")
				return nil
			})
			return nil
		}, queue.WithTimeout(time.Minute))
		began := time.Now()
		err = d.RunUntilIdle(t.Context())
		require.ErrorContains(t, err, "handlers did not return after their contexts were canceled: ping "+id)
		require.Less(t, time.Since(began), 90*time.Second, "a handler that was given up is waited for no longer than Drain")

		got := job(t, q, id)
		require.Equal(t, queue.StateCompleted, got.State,
			"by the next attempt, in the slot that was taken from the first")
		require.Equal(t, 1, got.Failures)
		record := attempts(t, q, id)[0]
		require.Regexp(t, `^handler timed out: it ran 1m2[0-5]s, 1m0s are allowed: it has not returned$`, record.Error)
		require.Contains(t, record.Stack, "TestHandlerThatIgnoresItsTimeoutIsGivenUp")

		require.Len(t, told, 1)
		require.Equal(t, id, told[0].Job.ID)
		require.ErrorIs(t, told[0].Cause, queue.ErrTimeout)
		require.Equal(t, began.Add(time.Minute), told[0].Since)
		require.Equal(t, record.Stack, told[0].Stack)

		close(release)
		require.ErrorIs(t, <-wrote, queue.ErrNotRunning)
	})
}

func TestHandlerThatIgnoresItsCancelIsGivenUp(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		id := enqueue(t, q, nil)
		release, told := make(chan struct{}), make(chan queue.StuckHandler, 1)
		stop := start(t, q, &queue.DispatcherConfig{OnStuck: func(_ context.Context, h queue.StuckHandler) {
			told <- h
			panic("a hook that panics hurts nobody")
		}}, stuckUntil(release))
		synctest.Wait()
		canceled := time.Now()
		require.NoError(t, q.Cancel(t.Context(), id))
		h := <-told
		require.ErrorIs(t, h.Cause, queue.ErrCanceled)
		require.WithinDuration(t, canceled, h.Since, 100*time.Millisecond, "the wait for a lock takes time, too")
		require.WithinRange(t, time.Now(), canceled.Add(30*time.Second), canceled.Add(38*time.Second),
			"the default grace, looked at by quarters")
		close(release)
		synctest.Wait()
		require.NoError(t, stop(), "it has returned since")
		require.Equal(t, queue.StateCanceled, job(t, q, id).State)
	})
}

// Nobody has taken the job over, so that the process which thought it lost gives it back itself.
func TestHandlerThatIgnoresItsLostLeaseIsGivenUp(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		id := enqueue(t, q, nil)
		cut := &faulty{Driver: q.DB().Driver()}
		release, told := make(chan struct{}), make(chan queue.StuckHandler, 1)
		cfg := &queue.DispatcherConfig{Lease: lease,
			OnStuck: func(_ context.Context, h queue.StuckHandler) { told <- h }}
		stop := start(t, on(t, cut, nil), cfg, func(_ context.Context, w *queue.Work[int]) error {
			if w.Job.Attempt == 1 {
				<-release
			}
			return nil
		})
		synctest.Wait()
		cut.beats.Store(true)
		time.Sleep(lease)
		cut.beats.Store(false)
		require.ErrorIs(t, (<-told).Cause, queue.ErrLeaseLost)
		time.Sleep(lease)
		got := job(t, q, id)
		require.Equal(t, queue.StateCompleted, got.State)
		require.Equal(t, []int{2, 0, 1, 0}, []int{got.Attempt, got.Failures, got.Interruptions, got.Crashes})
		close(release)
		synctest.Wait()
		require.NoError(t, stop())
	})
}

// All slots and as many handlers again may hang; beyond that, slots stay taken.
func TestStuckHandlersDoNotStopThePool(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		const workers = 3
		release := make(chan struct{})
		var hung, ran atomic.Int64
		d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{Workers: workers, Grace: time.Second})
		require.NoError(t, err)
		queue.Handle(d, ping, func(context.Context, *queue.Work[int]) error {
			hung.Add(1)
			<-release
			return nil
		}, queue.WithTimeout(time.Second), queue.WithRetry(queue.SlowRetry))
		queue.Handle(d, pong, func(context.Context, *queue.Work[int]) error { ran.Add(1); return nil })
		ctx, cancel := context.WithCancel(context.Background())
		result := make(chan error, 1)
		go func() { result <- d.Run(ctx) }()
		pongIsRun := func() bool {
			before := ran.Load()
			_, err := q.Enqueue(t.Context(), pong.New(1, nil))
			require.NoError(t, err)
			time.Sleep(10 * time.Second)
			return ran.Load() > before
		}
		for range workers {
			enqueue(t, q, nil)
		}
		time.Sleep(5 * time.Second)
		require.EqualValues(t, workers, hung.Load())
		require.True(t, pongIsRun(), "every slot was taken by a handler that hangs, and passed on")
		time.Sleep(time.Hour)
		require.EqualValues(t, 2*workers, hung.Load(), "so many goroutines hang, and no more")
		require.False(t, pongIsRun())
		close(release)
		time.Sleep(time.Hour)
		require.EqualValues(t, 2, ran.Load(), "what waited goes on when they return")
		cancel()
		require.NoError(t, <-result)
	})
}

func TestShutdownNamesHandlersThatWereGivenUpBefore(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		ids := []string{enqueue(t, q, nil), enqueue(t, q, nil)}
		release := make(chan struct{})
		defer close(release)
		stop := start(t, q, &queue.DispatcherConfig{Grace: time.Second, Drain: time.Minute}, stuckUntil(release))
		synctest.Wait()
		require.NoError(t, q.Cancel(t.Context(), ids[0]))
		time.Sleep(10 * time.Second)
		began := time.Now()
		err := stop()
		require.Equal(t, 2*time.Minute, time.Since(began), "the grace of a shutdown is its drain")
		slices.Sort(ids)
		require.ErrorContains(t, err, "ping "+ids[0]+", ping "+ids[1])
	})
}

// A handler may do with its copy of the job what it likes: what its end frees is what the job holds.
func TestHandlerThatChangesItsJob(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		id := enqueue(t, q, &queue.Options{Key: queue.WhileUnfinished("k")})
		work(t, q, func(_ context.Context, w *queue.Work[int]) error {
			w.Job = queue.Job{}
			return nil
		})
		job, err := q.Job(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, queue.StateCompleted, job.State)
		violations, err := queueadmin.Verify(t.Context(), q)
		require.NoError(t, err)
		require.Empty(t, violations)
	})
}

// What is registered too late would wait for ever, and nobody would know why.
func TestHandleAfterRunIsSaid(t *testing.T) {
	var log bytes.Buffer
	q := queuetest.New(t)
	d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	require.NoError(t, err)
	nothing := func(context.Context, *queue.Work[int]) error { return nil }
	queue.Handle(d, ping, nothing)
	require.NoError(t, d.RunUntilIdle(t.Context()))
	require.Empty(t, log.String())
	queue.Handle(d, "late", nothing)
	require.Contains(t, log.String(), "level=ERROR")
	require.Contains(t, log.String(), "handler is registered after Run and will not be called; call Handle before Run")
	require.Contains(t, log.String(), "job_type=late")
	require.Len(t, d.Handlers(), 1)
}

// Handlers may be registered by several goroutines while Run begins in another: each is registered in time, or refused.
func TestHandleWhileRunBegins(t *testing.T) {
	var log bytes.Buffer
	d, err := queue.NewDispatcher(queuetest.New(t),
		&queue.DispatcherConfig{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	require.NoError(t, err)
	nothing := func(context.Context, *queue.Work[int]) error { return nil }
	queue.Handle(d, ping, nothing)
	var all sync.WaitGroup
	all.Go(func() { assert.NoError(t, d.RunUntilIdle(t.Context())) })
	for i := range 20 {
		all.Go(func() { queue.Handle(d, queue.Type[int](fmt.Sprintf("type%d", i)), nothing) })
		all.Go(func() { d.Handlers() })
	}
	all.Wait()
	require.Equal(t, 21, len(d.Handlers())+strings.Count(log.String(), "handler is registered after Run"))
}
