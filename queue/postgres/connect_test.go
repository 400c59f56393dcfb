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
func holdBoth(q *queue.Queue, fn func()) (errs [2]error) {
	var both, all sync.WaitGroup
	both.Add(2)
	for i := range errs {
		all.Go(func() {
			errs[i] = q.DB().Write(context.Background(), func(context.Context, queue.Tx) error {
				both.Done()
				both.Wait()
				fn()
				return nil
			})
		})
	}
	all.Wait()
	return errs
}

// Functions of writes that wait for goroutines which write by themselves would wait for each other's connections for ever.
func TestWritesThatHaveAllConnectionsEnd(t *testing.T) {
	q := onTwoConnections(t, 50*time.Millisecond)
	var mu sync.Mutex
	var refused []error
	errs := holdBoth(q, func() {
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

// A write's own context ends its wait for a connection, whoever has them.
func TestAContextEndsTheWaitForAConnection(t *testing.T) {
	q := onTwoConnections(t, time.Hour)
	waited := make(chan error, 2)
	errs := holdBoth(q, func() {
		var other sync.WaitGroup
		other.Go(func() {
			short, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
			defer cancel()
			_, err := q.Enqueue(short, benchJob.New(1, nil))
			waited <- err
		})
		other.Wait()
	})
	require.NoError(t, errs[0])
	require.NoError(t, errs[1])
	// The other may have got the connection of the first to end.
	require.ErrorIs(t, <-waited, context.DeadlineExceeded)
}
