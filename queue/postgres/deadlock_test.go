package postgres_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/postgres"
)

// named opens a queue whose connections have the name.
func named(t *testing.T, dsn, name string) (*queue.Queue, *postgres.DB) {
	t.Helper()
	db, err := postgres.Open(t.Context(), dbtest.With(t, dsn, "application_name", name), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	require.NoError(t, queue.Migrate(t.Context(), db))
	q, err := queue.New(db, nil)
	require.NoError(t, err)
	return q, db
}

// A handler that enqueues the next job under its own key and completes its job in one transaction is not in the way of
// others who enqueue under that key, nor they in its.
func TestEnqueueUnderTheKeyOfTheJobThatIsCompleted(t *testing.T) {
	const rounds, others = 40, 3
	q, db := named(t, dbtest.MigratedDSN(t), "one")
	next := benchJob.New(1, &queue.Options{Key: queue.Coalesce("k")})
	_, err := q.Enqueue(t.Context(), next)
	require.NoError(t, err)
	for range rounds {
		jobs, err := q.Claim(t.Context(), "w", []string{string(benchJob)}, 1)
		require.NoError(t, err)
		require.Len(t, jobs, 1)
		begin, ended := make(chan struct{}), make(chan error, others)
		for range others {
			go func() {
				<-begin
				_, err := q.Enqueue(context.Background(), next)
				ended <- err
			}()
		}
		within(t, func() error {
			return db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
				if _, err := tx.ExecContext(ctx, "SELECT 1"); err != nil { // it has begun
					return err
				}
				close(begin)
				if _, err := q.EnqueueTx(ctx, tx, next); err != nil {
					return err
				}
				return jobs[0].CompleteTx(ctx, tx)
			})
		})
		for range others {
			require.NoError(t, <-ended)
		}
		counts, err := q.Counts(t.Context(), queue.Filter{States: []queue.State{queue.StateQueued, queue.StateRunning}})
		require.NoError(t, err)
		require.Equal(t, map[queue.State]int{queue.StateQueued: 1}, counts)
	}
}

// Retrying many jobs and enqueueing under the same keys happen beside each other.
func TestRedriveBesideEnqueueMany(t *testing.T) {
	const keys, rounds = 90, 8
	dsn := dbtest.MigratedDSN(t)
	q, _ := named(t, dsn, "redrive")
	theirs, _ := named(t, dsn, "enqueue")
	many := make([]queue.NewJob, keys)
	for i := range many {
		many[i] = benchJob.New(1, &queue.Options{Key: queue.WhileUnfinished(fmt.Sprintf("k%02d", (i*37)%keys))})
	}
	for range rounds {
		_, err := q.EnqueueMany(t.Context(), many)
		require.NoError(t, err)
		_, err = q.CancelAll(t.Context(), queue.Filter{All: true})
		require.NoError(t, err)
		enqueued := make(chan error, 1)
		go func() {
			_, err := theirs.EnqueueMany(context.Background(), many)
			enqueued <- err
		}()
		_, err = q.Redrive(t.Context(), queue.Filter{States: []queue.State{queue.StateCanceled}, All: true})
		require.NoError(t, err)
		require.NoError(t, <-enqueued)
		counts, err := q.Counts(t.Context(), queue.Filter{States: []queue.State{queue.StateQueued}})
		require.NoError(t, err)
		require.Equal(t, keys, counts[queue.StateQueued])
	}
}
