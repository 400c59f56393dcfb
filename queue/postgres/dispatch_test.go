package postgres_test

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

const count queue.Type[int] = "count"

// Two dispatchers, as on two machines, share the jobs: each is run once, with its handler's write.
func TestTwoDispatchersRunEachJobOnce(t *testing.T) {
	db := dbtest.Postgres(t)
	require.NoError(t, queue.Migrate(t.Context(), db))
	require.NoError(t, driver.Write(t.Context(), db, func(ctx context.Context, tx *driver.WriteTx) error {
		_, err := tx.ExecContext(ctx, "CREATE TABLE ran (n INTEGER PRIMARY KEY)")
		return err
	}))
	q, err := queue.New(db, nil)
	require.NoError(t, err)
	const jobs = 500
	batch := make([]queue.NewJob, jobs)
	for i := range batch {
		batch[i] = count.New(i, nil)
	}
	_, err = q.EnqueueMany(t.Context(), batch)
	require.NoError(t, err)

	var machines sync.WaitGroup
	for range 2 {
		d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{PollInterval: 10 * time.Millisecond})
		require.NoError(t, err)
		queue.Handle(d, count, func(ctx context.Context, w *queue.Work[int]) error {
			return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
				_, err := tx.ExecContext(ctx, "INSERT INTO ran (n) VALUES ($1)", w.Payload)
				return err
			})
		})
		machines.Go(func() { require.NoError(t, d.RunUntilIdle(t.Context())) })
	}
	machines.Wait()
	var ran int
	require.NoError(t, db.Reader().Get(&ran, "SELECT COUNT(*) FROM ran"))
	require.Equal(t, jobs, ran)
	counts, err := q.Counts(t.Context(), queue.Filter{})
	require.NoError(t, err)
	require.Equal(t, map[driver.State]int{driver.StateCompleted: jobs}, counts)
}

// A job that one machine enqueues wakes the dispatcher of another, long before it would look again.
func TestNotificationWakesAnotherMachine(t *testing.T) {
	db := dbtest.Postgres(t)
	require.NoError(t, queue.Migrate(t.Context(), db))
	q, err := queue.New(db, nil)
	require.NoError(t, err)
	d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{PollInterval: time.Hour})
	require.NoError(t, err)
	ran := make(chan int, 2)
	queue.Handle(d, count, func(_ context.Context, w *queue.Work[int]) error {
		ran <- w.Payload
		return nil
	})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	_, err = q.Enqueue(ctx, count.New(1, nil))
	require.NoError(t, err)
	go func() { ended <- d.Run(ctx) }()
	require.Equal(t, 1, <-ran)
	_, err = q.Enqueue(ctx, count.New(2, nil))
	require.NoError(t, err)
	require.Equal(t, 2, <-ran)
	stop()
	require.NoError(t, <-ended)
}
