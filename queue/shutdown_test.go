package queue_test

import (
	"context"
	"io"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

// untilCanceled returns the cause of its end.
func untilCanceled(ctx context.Context) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

func TestShutdownLetsHandlersFinish(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		id := enqueue(t, q, nil)
		stop := start(t, q, &queue.DispatcherConfig{Workers: 1, Drain: time.Minute},
			func(ctx context.Context, _ *queue.Work[int]) error {
				time.Sleep(50 * time.Second)
				return ctx.Err()
			})
		synctest.Wait()
		second := enqueue(t, q, nil)
		began := time.Now()
		require.NoError(t, stop())
		require.Equal(t, 50*time.Second, time.Since(began))
		require.Equal(t, queue.StateCompleted, job(t, q, id).State)
		require.Equal(t, queue.StateQueued, job(t, q, second).State, "a stopping dispatcher claims no more")
		workers, err := q.DB().Driver().Workers(t.Context())
		require.NoError(t, err)
		require.Empty(t, workers)
	})
}

func TestShutdownGivesUpHandlersThatDoNotReturn(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		id := enqueue(t, q, nil)
		release, wrote := make(chan struct{}), make(chan error, 1)
		stop := start(t, q, &queue.DispatcherConfig{Drain: time.Minute},
			func(_ context.Context, w *queue.Work[int]) error {
				<-release
				wrote <- w.Complete(context.Background(), func(context.Context, queue.Tx) error {
					t.Error("a handler that was given up has written")
					return nil
				})
				return nil
			})
		synctest.Wait()
		began := time.Now()
		err := stop()
		require.ErrorContains(t, err, "handlers did not return")
		require.ErrorContains(t, err, "ping "+id)
		require.Equal(t, 2*time.Minute, time.Since(began))
		require.Equal(t, queue.StateQueued, job(t, q, id).State)
		require.Zero(t, job(t, q, id).Failures)

		close(release)
		require.ErrorIs(t, <-wrote, queue.ErrNotRunning)
		require.Equal(t, queue.StateQueued, job(t, q, id).State)
	})
}

// A handler that was given up before the stop may still return: Run names it only when Drain is over.
func TestShutdownWaitsForHandlersThatWereGivenUp(t *testing.T) {
	for name, returns := range map[string]bool{"returns": true, "does not": false} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, q *queue.Queue) {
				id := enqueue(t, q, nil)
				release, stuck := make(chan struct{}), make(chan struct{}, 1)
				stop := start(t, q, &queue.DispatcherConfig{Drain: time.Minute, Grace: time.Second,
					OnStuck: func(context.Context, queue.StuckHandler) { stuck <- struct{}{} }}, stuckUntil(release))
				synctest.Wait()
				require.NoError(t, q.Cancel(t.Context(), id))
				<-stuck
				if returns {
					time.AfterFunc(50*time.Second, func() { close(release) })
				}
				began := time.Now()
				err := stop()
				if returns {
					require.NoError(t, err)
					require.Equal(t, 50*time.Second, time.Since(began))
					return
				}
				require.ErrorContains(t, err, "handlers did not return after their contexts were canceled: ping "+id)
				require.Equal(t, time.Minute, time.Since(began), "there is nothing to cancel")
				close(release)
				synctest.Wait()
			})
		})
	}
}

func TestShutdownWithoutDrainCancelsAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		id := enqueue(t, q, nil)
		stop := start(t, q, &queue.DispatcherConfig{Drain: -1}, func(ctx context.Context, _ *queue.Work[int]) error {
			return untilCanceled(ctx)
		})
		synctest.Wait()
		began := time.Now()
		_ = stop() // whether the handler was quick enough to return is open
		require.Zero(t, time.Since(began))
		require.Equal(t, queue.StateQueued, job(t, q, id).State)
	})
}

func TestWriteOfACanceledJobIsRefused(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		id := enqueue(t, q, nil)
		work(t, q, func(ctx context.Context, w *queue.Work[int]) error {
			ctx = context.WithoutCancel(ctx)
			require.NoError(t, w.Write(ctx, func(context.Context, queue.Tx) error { return nil }))
			require.NoError(t, q.Cancel(ctx, id))
			err := w.Write(ctx, func(context.Context, queue.Tx) error {
				t.Error("a handler whose job was canceled has written")
				return nil
			})
			require.ErrorIs(t, err, queue.ErrNotRunning)
			return err
		})
	})
}

func TestCancelReachesOtherProcessesByTheirHeartbeat(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		id := enqueue(t, q, nil)
		causes := make(chan error, 1)
		stop := start(t, q, &queue.DispatcherConfig{Lease: 30 * time.Second},
			func(ctx context.Context, _ *queue.Work[int]) error {
				causes <- untilCanceled(ctx)
				return nil
			})
		synctest.Wait()
		began := time.Now()
		require.NoError(t, on(t, q.DB().Driver(), nil).Cancel(t.Context(), id))
		require.ErrorIs(t, <-causes, queue.ErrCanceled)
		require.LessOrEqual(t, time.Since(began), 10*time.Second)
		require.NoError(t, stop())
	})
}

// A canceling driver has the job canceled when a claim has taken it and nobody has heard of it yet.
type canceling struct {
	driver.Driver
	cancel func(jobID string)
}

func (c *canceling) Claim(ctx context.Context, req driver.ClaimRequest) (driver.ClaimResult, error) {
	result, err := c.Driver.Claim(ctx, req)
	for i := range result.Jobs {
		c.cancel(result.Jobs[i].ID)
	}
	return result, err
}

func TestCancelReachesAJobThatIsJustBeingClaimed(t *testing.T) {
	bubble(t, func(t *testing.T, other *queue.Queue) {
		driver := &canceling{Driver: other.DB().Driver()}
		q := on(t, driver, nil)
		driver.cancel = func(jobID string) { require.NoError(t, q.Cancel(t.Context(), jobID)) }
		enqueue(t, q, nil)
		began := time.Now()
		causes := make(chan error, 1)
		stop := start(t, q, nil, func(ctx context.Context, _ *queue.Work[int]) error {
			causes <- untilCanceled(ctx)
			return nil
		})
		synctest.Wait()
		require.Zero(t, time.Since(began))
		select {
		case cause := <-causes:
			require.ErrorIs(t, cause, queue.ErrCanceled)
		default:
			require.Empty(t, causes, "its handler may not have begun")
		}
		require.NoError(t, stop())
		require.Zero(t, time.Since(began), "nobody waited for a heartbeat")
	})
}

func TestCancelInATransactionThatIsUndoneStopsNothing(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		id := enqueue(t, q, nil)
		release := make(chan struct{})
		stop := start(t, q, nil, func(ctx context.Context, _ *queue.Work[int]) error {
			<-release
			return ctx.Err()
		})
		synctest.Wait()
		err := q.DB().Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			require.NoError(t, q.CancelTx(ctx, tx, id))
			return errBroken
		})
		require.ErrorIs(t, err, errBroken)
		close(release)
		require.NoError(t, stop())
		require.Equal(t, queue.StateCompleted, job(t, q, id).State)
	})
}

// A silent driver never answers a call that has begun while it is silent, as a server that is gone without a word.
type silentDriver struct {
	driver.Driver
	silent atomic.Bool
}

// wait returns when nobody waits for an answer any more.
func (s *silentDriver) wait(ctx context.Context) error {
	if !s.silent.Load() {
		return nil
	}
	begun := driver.Begun(ctx)
	<-begun.Done()
	return begun.Err()
}

func (s *silentDriver) Claim(ctx context.Context, req driver.ClaimRequest) (driver.ClaimResult, error) {
	if err := s.wait(ctx); err != nil {
		return driver.ClaimResult{}, err
	}
	return s.Driver.Claim(ctx, req)
}

func (s *silentDriver) Heartbeat(ctx context.Context, req driver.HeartbeatRequest) (bool, error) {
	if err := s.wait(ctx); err != nil {
		return false, err
	}
	return s.Driver.Heartbeat(ctx, req)
}

func (s *silentDriver) RemoveWorker(ctx context.Context, workerID string) error {
	if err := s.wait(ctx); err != nil {
		return err
	}
	return s.Driver.RemoveWorker(ctx, workerID)
}

func (s *silentDriver) Write(ctx context.Context, fn func(context.Context, driver.Tx) error) error {
	if err := s.wait(ctx); err != nil {
		return err
	}
	return s.Driver.Write(ctx, fn)
}

// Calls that were never answered are made again, on connections that are.
func TestADispatcherOutlivesASilence(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		silent := &silentDriver{Driver: q.DB().Driver()}
		release := make(chan struct{})
		stop := start(t, on(t, silent, nil), &queue.DispatcherConfig{Lease: time.Hour},
			func(ctx context.Context, _ *queue.Work[int]) error {
				<-release
				return ctx.Err()
			})
		first := enqueue(t, q, nil)
		synctest.Wait()
		silent.silent.Store(true)
		close(release) // and the end cannot be written
		second := enqueue(t, q, nil)
		time.Sleep(30 * time.Second)
		silent.silent.Store(false)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, queue.StateCompleted, job(t, q, first).State)
		require.Equal(t, queue.StateCompleted, job(t, q, second).State)
		require.NoError(t, stop())
	})
}

// What a stop waits for is 2·Drain + Lease + 10 s, whatever hangs.
func TestADispatcherStopsWhileTheDatabaseIsSilent(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		silent := &silentDriver{Driver: q.DB().Driver()}
		cfg := &queue.DispatcherConfig{Workers: 1, Lease: 20 * time.Second, Drain: time.Minute}
		other := on(t, silent, nil)
		stop := start(t, other, cfg, func(ctx context.Context, w *queue.Work[int]) error {
			silent.silent.Store(true)
			return w.Complete(ctx, func(context.Context, queue.Tx) error { return nil })
		})
		id := enqueue(t, q, nil)
		synctest.Wait()
		began := time.Now()
		err := stop()
		require.ErrorContains(t, err, "the database has not answered for 5s")
		require.ErrorContains(t, err, id, "its handler has not returned")
		require.LessOrEqual(t, time.Since(began), 2*cfg.Drain+cfg.Lease+10*time.Second)
		synctest.Wait() // the handler returns with its context's end
	})
}

// A dispatcher whose database has been closed waits for nothing that cannot come.
func TestADispatcherOfAClosedDatabaseStops(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := queueOn(t, db)
		entered, leave := make(chan struct{}), make(chan struct{})
		quiet := slog.New(slog.DiscardHandler)
		stop := start(t, q, &queue.DispatcherConfig{Logger: quiet}, func(context.Context, *queue.Work[int]) error {
			close(entered)
			<-leave
			return nil
		})
		enqueue(t, q, nil)
		<-entered
		closer, ok := db.(io.Closer)
		require.True(t, ok)
		require.NoError(t, closer.Close())
		began := time.Now()
		close(leave)
		err := stop()
		require.ErrorContains(t, err, "the ends of some jobs could not be written; they will run again")
		require.Less(t, time.Since(began), 15*time.Second)
	})
}
