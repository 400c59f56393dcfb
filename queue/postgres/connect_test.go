package postgres_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/postgres"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

// onTwoConnections returns a queue whose writes have two connections.
func onTwoConnections(t *testing.T, patience time.Duration) *queue.Queue {
	t.Helper()
	config, err := pgxpool.ParseConfig(dbtest.PostgresDSN(t))
	require.NoError(t, err)
	config.MaxConns = 2
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	db, err := postgres.OpenPool(t.Context(), pool, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	require.NoError(t, queue.Migrate(t.Context(), db))
	postgres.SetPatience(db, patience)
	q, err := queue.New(db, nil)
	require.NoError(t, err)
	return q
}

// holdBoth runs a function in each of two writes, once both have a connection.
func holdBoth(q *queue.Queue, fn func(ctx context.Context) error) (errs [2]error) {
	var both, all sync.WaitGroup
	both.Add(2)
	for i := range errs {
		all.Go(func() {
			errs[i] = q.DB().Write(context.Background(), func(ctx context.Context, _ queue.Tx) error {
				both.Done()
				both.Wait()
				return fn(ctx)
			})
		})
	}
	all.Wait()
	return errs
}

// Functions of writes that wait for goroutines which write by themselves would wait for each other's connections for
// ever.
func TestWritesThatHaveAllConnectionsEnd(t *testing.T) {
	q := onTwoConnections(t, 50*time.Millisecond)
	var mu sync.Mutex
	var refused []error
	errs := holdBoth(q, func(context.Context) error {
		ended := make(chan error)
		go func() {
			_, err := q.Enqueue(context.Background(), benchJob.New(1, nil))
			ended <- err
		}()
		if err := <-ended; err != nil {
			mu.Lock()
			defer mu.Unlock()
			refused = append(refused, err)
		}
		return nil
	})
	require.NoError(t, errs[0])
	require.NoError(t, errs[1])
	require.NotEmpty(t, refused, "the other may have got the connection of the first to end")
	for _, err := range refused {
		require.ErrorIs(t, err, postgres.ErrWriteBlocked)
		require.ErrorContains(t, err, "EnqueueTx")
		require.ErrorContains(t, err, "pool_max_conns")
	}
	_, err := q.Enqueue(t.Context(), benchJob.New(1, nil))
	require.NoError(t, err)
}

// Functions of writes that read through the queue, and not by their transactions, would wait for each other's
// connections, too.
func TestReadsInsideWritesThatHaveAllConnectionsEnd(t *testing.T) {
	q := onTwoConnections(t, 50*time.Millisecond)
	created, err := q.Enqueue(t.Context(), benchJob.New(1, nil))
	require.NoError(t, err)
	for name, read := range map[string]func(ctx context.Context) error{
		"Job":       func(ctx context.Context) error { return second(q.Job(ctx, created.ID)) },
		"Jobs":      func(ctx context.Context) error { return second(q.Jobs(ctx, queue.Filter{})) },
		"Counts":    func(ctx context.Context) error { return second(q.Counts(ctx, queue.Filter{})) },
		"Attempts":  func(ctx context.Context) error { return second(q.Attempts(ctx, created.ID)) },
		"Schedules": func(ctx context.Context) error { return second(q.Schedules(ctx)) },
		"ReadStats": func(ctx context.Context) error { return second(queueadmin.ReadStats(ctx, q, nil)) },
		"Doctor":    func(ctx context.Context) error { return second(queueadmin.Doctor(ctx, q)) },
		"Reader": func(ctx context.Context) error {
			var one int
			return q.DB().Reader().GetContext(ctx, &one, "SELECT 1")
		},
		"workers": func(ctx context.Context) error { return second(q.DB().Driver().Workers(ctx)) },
	} {
		t.Run(name, func(t *testing.T) {
			var both sync.WaitGroup
			both.Add(2)
			errs := holdBoth(q, func(ctx context.Context) error {
				err := read(ctx)
				both.Done()
				both.Wait() // so that neither gets the connection of the other
				return err
			})
			require.ErrorIs(t, errs[0], postgres.ErrWriteBlocked)
			require.ErrorIs(t, errs[1], postgres.ErrWriteBlocked)
			require.NoError(t, read(t.Context()), "outside")
		})
	}
}

func second[T any](_ T, err error) error { return err }

// A write's own context ends its wait for a connection, whoever has them.
func TestAContextEndsTheWaitForAConnection(t *testing.T) {
	q := onTwoConnections(t, time.Hour)
	waited := make(chan error, 2)
	errs := holdBoth(q, func(context.Context) error {
		var other sync.WaitGroup
		other.Go(func() {
			short, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
			defer cancel()
			_, err := q.Enqueue(short, benchJob.New(1, nil))
			waited <- err
		})
		other.Wait()
		return nil
	})
	require.NoError(t, errs[0])
	require.NoError(t, errs[1])
	// The other may have got the connection of the first to end.
	require.ErrorIs(t, <-waited, context.DeadlineExceeded)
}
