package queue_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

// An observing driver counts the calls that a dispatcher makes of itself.
type observing struct {
	driver.Driver
	claims, beats, looks, others atomic.Int64
}

func (c *observing) Private() bool { return true }

func (c *observing) Claim(ctx context.Context, req driver.ClaimRequest) (driver.ClaimResult, error) {
	c.claims.Add(1)
	return c.Driver.Claim(ctx, req)
}

func (c *observing) Heartbeat(ctx context.Context, req driver.HeartbeatRequest) (bool, error) {
	c.beats.Add(1)
	return c.Driver.Heartbeat(ctx, req)
}

func (c *observing) WorkerJobs(ctx context.Context, workerID string) ([]driver.Job, error) {
	c.beats.Add(1)
	return c.Driver.WorkerJobs(ctx, workerID)
}

func (c *observing) Workers(ctx context.Context) ([]driver.Worker, error) {
	c.looks.Add(1)
	return c.Driver.Workers(ctx)
}

func (c *observing) DueSchedules(ctx context.Context, now time.Time) ([]driver.Schedule, time.Time, error) {
	c.others.Add(1)
	return c.Driver.DueSchedules(ctx, now)
}

func (c *observing) Finished(ctx context.Context, state driver.State) ([]driver.FinishedType, error) {
	c.others.Add(1)
	return c.Driver.Finished(ctx, state)
}

func TestAnIdleDayCostsLittle(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		db := &observing{Driver: q.DB().Driver()}
		stop := start(t, on(t, db, nil), nil, func(context.Context, *queue.Work[int]) error { return nil })
		time.Sleep(24 * time.Hour)
		require.NoError(t, stop())
		require.Less(t, db.claims.Load(), int64(2000), "a poll a minute")
		require.Less(t, db.beats.Load(), int64(18_000), "a beat every 10 s, and a look for stray jobs")
		require.Less(t, db.looks.Load(), int64(12_000), "a look for dead workers every 7.5 s")
		require.Less(t, db.others.Load(), int64(8000))
	})
}

// What comes after a quiet day is run at once.
func TestAnIdleDayDelaysNothing(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		ran := make(chan time.Time, 1)
		stop := start(t, q, nil, func(context.Context, *queue.Work[int]) error {
			ran <- time.Now()
			return nil
		})
		time.Sleep(3 * time.Hour)
		began := time.Now()
		enqueue(t, q, nil)
		require.Equal(t, began, <-ran)
		due := time.Now().Add(time.Hour + time.Second/2)
		enqueue(t, q, &queue.Options{NotBefore: due})
		require.WithinDuration(t, due, <-ran, time.Millisecond)
		require.NoError(t, stop())
	})
}
