package queue_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

// hold keeps all jobs from being claimed, as a move that was interrupted does.
func hold(t *testing.T, db driver.Driver) (release func()) {
	t.Helper()
	var held []string
	require.NoError(t, driver.Write(t.Context(), db, func(ctx context.Context, tx *driver.WriteTx) (err error) {
		held, err = db.(driver.MoveSource).HoldJobs(ctx, tx, 100)
		return err
	}))
	return func() {
		require.NoError(t, driver.Write(t.Context(), db, func(ctx context.Context, tx *driver.WriteTx) error {
			return db.(driver.MoveTarget).ReleaseHeld(ctx, tx, held)
		}))
	}
}

// watchedCounts calls fn after each count.
type watchedCounts struct {
	driver.Driver
	counted func()
}

func (c watchedCounts) Counts(ctx context.Context, f driver.Filter) (map[driver.State]int, error) {
	counts, err := c.Driver.Counts(ctx, f)
	c.counted()
	return counts, err
}

// A job that an interrupted move holds is not done.
func TestRunUntilIdleWaitsForJobsThatAreHeldByAMove(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		drv := db.Driver()
		require.NoError(t, queue.Migrate(t.Context(), db))
		q := on(t, drv, nil)
		id := enqueue(t, q, nil)
		release := hold(t, drv)
		counts, err := q.Counts(t.Context(), queue.Filter{})
		require.NoError(t, err)
		require.Equal(t, map[queue.State]int{queue.StateQueued: 1}, counts)

		var once sync.Once
		d, err := queue.NewDispatcher(on(t, watchedCounts{drv, func() { once.Do(release) }}, nil), &queue.DispatcherConfig{PollInterval: time.Millisecond})
		require.NoError(t, err)
		queue.Handle(d, ping, func(context.Context, *queue.Work[int]) error { return nil })
		require.NoError(t, d.RunUntilIdle(t.Context()))
		require.Equal(t, queue.StateCompleted, job(t, q, id).State)
	})
}
