// Every trap of queues that we know of has a test that is named after it; those of SQLite itself are in queue/sqlite.
package queue_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

// "An idempotency key that stays unique for ever: a periodic job would run once and never again".
func TestTrapKeyThatStaysUniqueForEver(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		runs := map[string]int{}
		for range 3 {
			for name, key := range map[string]queue.Key{"sync": queue.WhileUnfinished("sync"),
				"welcome": queue.Forever("welcome")} {
				_, err := q.Enqueue(t.Context(), queue.Type[string]("periodic").New(name, &queue.Options{Key: key}))
				require.NoError(t, err)
			}
			d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{Workers: 1})
			require.NoError(t, err)
			queue.Handle(d, queue.Type[string]("periodic"), func(_ context.Context, w *queue.Work[string]) error {
				runs[w.Payload]++
				return nil
			})
			require.NoError(t, d.RunUntilIdle(t.Context()))
		}
		require.Equal(t, map[string]int{"sync": 3, "welcome": 1}, runs)
	})
}

// "A worker that was presumed dead comes back and completes a job that another has claimed since".
func TestTrapWorkerThatComesBackFromTheDead(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		id := enqueue(t, q, nil)
		paused := &faulty{Driver: q.DB().Driver()}
		entered, release, wrote := make(chan context.Context, 1), make(chan struct{}), make(chan error, 1)
		first := start(t, on(t, paused, nil), &queue.DispatcherConfig{Lease: lease, Workers: 1},
			func(ctx context.Context, w *queue.Work[int]) error {
				if w.Job.ID != id {
					return nil
				}
				entered <- ctx
				<-release
				err := w.Complete(context.Background(), func(context.Context, queue.Tx) error {
					t.Error("the zombie has written")
					return nil
				})
				wrote <- err
				return err
			})
		ctx := <-entered
		paused.beats.Store(true)
		second := start(t, q, &queue.DispatcherConfig{Lease: lease},
			func(_ context.Context, w *queue.Work[int]) error { return nil })
		time.Sleep(2 * lease)
		require.Equal(t, queue.StateCompleted, job(t, q, id).State, "another process has taken it over")
		require.ErrorIs(t, context.Cause(ctx), queue.ErrLeaseLost,
			"a process that cannot beat for a lease knows that its jobs are lost")
		require.NoError(t, second())

		paused.beats.Store(false)
		time.Sleep(lease)
		close(release)
		require.ErrorIs(t, <-wrote, queue.ErrNotRunning)
		next := enqueue(t, q, nil)
		time.Sleep(lease)
		require.Equal(t, queue.StateCompleted, job(t, q, next).State, "it goes on")
		require.Equal(t, 1, job(t, q, next).Attempt)
		require.NoError(t, first())
		require.Equal(t, 2, job(t, q, id).Attempt)
		require.Zero(t, job(t, q, id).Failures)
	})
}

// "Completing, failing, heartbeating and step writes name the attempt they belong to; a stale one is refused." and "In
// nearly every embedded SQL queue a completion is matched by id and state alone": here even the worker's name is the
// same.
func TestTrapCompletionByIDAndStateAlone(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		q := on(t, db.Driver(), nil)
		id := enqueue(t, q, nil)
		first := claimAs(t, q, "w")[0]
		require.NoError(t, first.Fail(t.Context(), queue.RetryAfter(errBroken, 1)))
		second := claimWhenDue(t, q, "w")
		for name, write := range map[string]func() error{
			"complete":    func() error { return first.Complete(t.Context(), nil) },
			"fail":        func() error { return first.Fail(t.Context(), errBroken) },
			"heartbeat":   func() error { return q.Heartbeat(t.Context(), "w", first) },
			"start step":  func() error { return first.StartStep(t.Context(), "s") },
			"finish step": func() error { return finishStep(t.Context(), first, "s", 1) },
		} {
			require.ErrorIs(t, write(), queue.ErrLeaseLost, name)
		}
		require.Equal(t, queue.StateRunning, job(t, q, id).State)
		require.NoError(t, second.Complete(t.Context(), nil))
		require.Equal(t, 2, job(t, q, id).Attempt)
	})
}

// claimWhenDue claims the one job there is as soon as its retry is due, a microsecond away.
func claimWhenDue(t *testing.T, q *queue.Queue, worker string) *queue.Attempt {
	t.Helper()
	for {
		if jobs := claimAs(t, q, worker); len(jobs) == 1 {
			return jobs[0]
		}
	}
}

// "A job that is rescued for ever: a crash counts as an attempt, and the attempt limit holds for crashes as well".
func TestTrapJobThatIsRescuedForEver(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		id := enqueue(t, q, &queue.Options{Key: queue.WhileUnfinished("k")})
		strict := on(t, q.DB().Driver(), &queue.Config{Budget: queue.Budget{Crashes: 2}})
		d, err := queue.NewDispatcher(strict, &queue.DispatcherConfig{Lease: lease})
		require.NoError(t, err)
		queue.Handle(d, queue.Type[int]("another"), func(context.Context, *queue.Work[int]) error { return nil })
		ctx, cancel := context.WithCancel(t.Context())
		result := make(chan error, 1)
		go func() { result <- d.Run(ctx) }()

		for range 3 {
			require.Equal(t, queue.StateQueued, job(t, q, id).State)
			require.Len(t, claimAs(t, q, "killed"), 1)
			time.Sleep(2 * lease)
		}
		got := job(t, q, id)
		require.Equal(t, queue.StateFailed, got.State)
		require.Equal(t, 3, got.Crashes)
		require.Contains(t, got.LastError, "gave up after 3 crashes")
		require.NotEqual(t, id, enqueue(t, q, &queue.Options{Key: queue.WhileUnfinished("k")}), "its key is free")
		cancel()
		require.NoError(t, <-result)
	})
}

// "Five attempts at 2 s base are over in half a minute, shorter than a one-minute rate limit: honour the server's
// Retry-After, and let a rate-limited job be deferred without spending an attempt".
func TestTrapRateLimitThatOutlastsAllAttempts(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		const limited = 12 // more often than there are attempts
		id := enqueue(t, q, &queue.Options{MaxAttempts: 5})
		began, calls := time.Now(), 0
		work(t, q, func(_ context.Context, w *queue.Work[int]) error {
			require.LessOrEqual(t, time.Duration(calls)*time.Minute, time.Since(began), "not before the server said")
			calls++
			switch {
			case calls <= limited:
				return queue.Defer(errBroken, time.Minute)
			case calls == limited+1:
				return queue.RetryAfter(errBroken, time.Minute)
			}
			return nil
		})
		got := job(t, q, id)
		require.Equal(t, queue.StateCompleted, got.State)
		require.Equal(t, []int{1, limited}, []int{got.Failures, got.Interruptions})
	})
}

// "A job cancelled while it runs goes on running: its context is cancelled, and what it then reports is ignored".
func TestTrapCanceledJobThatGoesOn(t *testing.T) {
	for name, report := range map[string]error{"success": nil, "failure": errBroken} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, q *queue.Queue) {
				id := enqueue(t, q, nil)
				causes := make(chan error, 1)
				stop := start(t, q, nil, func(ctx context.Context, _ *queue.Work[int]) error {
					causes <- untilCanceled(ctx)
					return report
				})
				synctest.Wait()
				began := time.Now()
				require.NoError(t, q.Cancel(t.Context(), id))
				require.ErrorIs(t, <-causes, queue.ErrCanceled)
				require.Zero(t, time.Since(began))
				require.NoError(t, stop())
				got := job(t, q, id)
				require.Equal(t, queue.StateCanceled, got.State)
				require.Zero(t, got.Failures, "what it reports is ignored")
			})
		})
	}
}

// "Shutdown: stop claiming, let what runs finish for a while, then cancel it, then give it back unspent".
func TestTrapShutdownThatSpendsAttempts(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		id := enqueue(t, q, nil)
		var cause error
		stop := start(t, q, &queue.DispatcherConfig{Drain: time.Minute},
			func(ctx context.Context, _ *queue.Work[int]) error {
				cause = untilCanceled(ctx)
				return ctx.Err()
			})
		synctest.Wait()
		began := time.Now()
		require.NoError(t, stop())
		require.Equal(t, time.Minute, time.Since(began))
		require.ErrorIs(t, cause, queue.ErrShutdown)
		got := job(t, q, id)
		require.Equal(t, queue.StateQueued, got.State)
		require.Equal(t, []int{0, 1, 0}, []int{got.Failures, got.Interruptions, got.Crashes})
		work(t, q, func(context.Context, *queue.Work[int]) error { return nil })
		require.Equal(t, queue.StateCompleted, job(t, q, id).State)
	})
}

// "… and the jobs table grows without bound without retention".
func TestTrapTableThatGrowsWithoutRetention(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		q = on(t, q.DB().Driver(), &queue.Config{Retention: queue.Retention{
			Keep:  queue.Keep{Completed: time.Hour, Failed: -1},
			Types: map[string]queue.Keep{"ping": {Canceled: 2 * time.Hour}},
		}})
		completed, failed := enqueue(t, q, nil), enqueue(t, q, &queue.Options{MaxAttempts: 1, Priority: -1})
		stop := start(t, q, &queue.DispatcherConfig{PollInterval: day, Lease: day, Grace: day},
			func(_ context.Context, w *queue.Work[int]) error {
				if w.Job.ID == failed {
					return errBroken
				}
				return nil
			})
		canceled := enqueue(t, q, &queue.Options{NotBefore: time.Now().Add(1000 * day)})
		require.NoError(t, q.Cancel(t.Context(), canceled))
		waiting := enqueue(t, q, &queue.Options{NotBefore: time.Now().Add(1000 * day)})
		kept := func(id string) bool {
			_, err := q.Job(t.Context(), id)
			if err != nil {
				require.ErrorIs(t, err, queue.ErrJobNotFound)
			}
			return err == nil
		}
		synctest.Wait()
		time.Sleep(59 * time.Minute)
		require.True(t, kept(completed))
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		require.False(t, kept(completed))
		require.True(t, kept(canceled), "the type has a time of its own")
		time.Sleep(time.Hour)
		synctest.Wait()
		require.False(t, kept(canceled))
		execute(t, q, "UPDATE jobs SET finished_at = '1990-01-01T00:00:00.000000Z' WHERE state = 'failed'")
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		require.True(t, kept(failed), "for ever")
		require.True(t, kept(waiting), "what is not finished stays")
		require.NoError(t, stop())
	})
}

// "A handler that panics, calls Goexit, blocks for ever or ignores its context neither stops the pool nor leaks its
// job".
func TestTrapHandlerThatMisbehaves(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		release := make(chan struct{})
		misdeeds := []func(ctx context.Context){
			func(context.Context) { panic("misdeed") },
			func(context.Context) { runtime.Goexit() },
			func(context.Context) { <-release },
			func(ctx context.Context) { <-ctx.Done(); <-release },
		}
		var ids []string
		for i := range 20 {
			enqueued, err := q.Enqueue(t.Context(), ping.New(i, nil))
			require.NoError(t, err)
			ids = append(ids, enqueued.ID)
		}
		d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{Workers: 2, Grace: time.Second})
		require.NoError(t, err)
		queue.Handle(d, ping, func(ctx context.Context, w *queue.Work[int]) error {
			if w.Payload < len(misdeeds) && w.Job.Attempt == 1 {
				misdeeds[w.Payload](ctx)
			}
			return nil
		}, queue.WithTimeout(time.Minute))
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- d.Run(ctx) }()
		time.Sleep(10 * time.Minute)
		for i, id := range ids {
			got := job(t, q, id)
			require.Equal(t, queue.StateCompleted, got.State, i)
			require.Equal(t, i < len(misdeeds), got.Failures == 1, i)
		}
		close(release)
		synctest.Wait() // those that were given up have returned: the dispatcher waits for none of them
		cancel()
		require.NoError(t, <-ended)
	})
}

// "On PostgreSQL a claim without FOR UPDATE SKIP LOCKED delivered 36 of 200 jobs twice at READ COMMITTED".
func TestTrapClaimThatDeliversTwice(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		q := on(t, db.Driver(), nil)
		const jobs = 200
		batch := make([]queue.NewJob, jobs)
		for i := range batch {
			batch[i] = ping.New(i, nil)
		}
		_, err := q.EnqueueMany(t.Context(), batch)
		require.NoError(t, err)
		var delivered, twice atomic.Int64
		var seen sync.Map
		var claimers sync.WaitGroup
		for i := range 8 {
			claimers.Go(func() {
				for delivered.Load() < jobs {
					claimed, err := q.Claim(t.Context(), fmt.Sprint("worker ", i), []string{string(ping)}, 3)
					if err != nil {
						t.Error(err)
						return
					}
					for _, j := range claimed {
						if _, again := seen.LoadOrStore(j.Job.ID, i); again {
							twice.Add(1)
						}
						delivered.Add(1)
					}
				}
			})
		}
		claimers.Wait()
		require.EqualValues(t, jobs, delivered.Load())
		require.Zero(t, twice.Load())
	})
}

// counting counts what single transactions delete.
type counting struct {
	driver.Driver
	deleted []int
}

func (c *counting) Prune(ctx context.Context, tx *driver.WriteTx, req driver.PruneRequest) (int, error) {
	n, err := c.Driver.Prune(ctx, tx, req)
	c.deleted = append(c.deleted, n)
	return n, err
}

// "Large deletes hold the writer: prune in small batches".
func TestTrapLargeDeletesThatHoldTheWriter(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		q := on(t, db.Driver(), nil)
		batch := make([]queue.NewJob, 1203)
		for i := range batch {
			batch[i] = ping.New(i, nil)
		}
		_, err := q.EnqueueMany(t.Context(), batch)
		require.NoError(t, err)
		execute(t, q, "UPDATE jobs SET state = 'completed', finished_at = '2026-01-01T00:00:00.000000Z'")
		pruned := &counting{Driver: db.Driver()}
		n, err := on(t, pruned, nil).Prune(t.Context())
		require.NoError(t, err)
		require.Equal(t, len(batch), n)
		require.Equal(t, []int{500, 500, 203}, pruned.deleted)
	})
}
