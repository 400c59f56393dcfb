package queue_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

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
		stop := start(t, on(t, silent, nil), &queue.DispatcherConfig{Lease: time.Hour}, func(ctx context.Context, _ *queue.Work[int]) error {
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
