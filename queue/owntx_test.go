package queue_test

import (
	"context"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

// ownPool is a pool that the program has opened by itself.
func ownPool(t *testing.T, db queue.DB) *sqlx.DB {
	t.Helper()
	if db.Dialect() == driver.Postgres {
		return db.Reader() // any pool of pgx's
	}
	var path string
	require.NoError(t, db.Reader().Get(&path, "SELECT file FROM pragma_database_list WHERE name = 'main'"))
	own, err := sqlx.Open("sqlite3", path+"?_busy_timeout=10000&_txlock=immediate&_foreign_keys=1")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, own.Close()) })
	return own
}

// What takes a transaction takes one that the program has begun on a pool of its own.
func TestATransactionOfTheProgramsOwn(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q, own := queueOn(t, db), ownPool(t, db)
		completed, failed := enqueue(t, q, nil), enqueue(t, q, nil)
		jobs, err := q.Claim(t.Context(), "w", []string{string(ping)}, 2)
		require.NoError(t, err)
		require.Len(t, jobs, 2)
		retried := enqueue(t, q, nil)
		before, err := q.Counts(t.Context(), queue.Filter{})
		require.NoError(t, err)
		for _, commit := range []bool{false, true} {
			tx, err := own.BeginTxx(t.Context(), nil)
			require.NoError(t, err)
			doAllTx(t.Context(), t, q, tx, jobs, retried)
			if commit {
				require.NoError(t, tx.Commit())
				continue
			}
			require.NoError(t, tx.Rollback())
			counts, err := q.Counts(t.Context(), queue.Filter{})
			require.NoError(t, err)
			require.Equal(t, before, counts)
		}
		require.Equal(t, queue.StateCompleted, job(t, q, completed).State)
		require.Equal(t, queue.StateFailed, job(t, q, failed).State)
		require.Equal(t, queue.StateQueued, job(t, q, retried).State)
		counts, err := q.Counts(t.Context(), queue.Filter{})
		require.NoError(t, err)
		require.Equal(t, map[queue.State]int{queue.StateCompleted: 1, queue.StateFailed: 1, queue.StateQueued: 64}, counts)
		claimed, err := q.Claim(t.Context(), "w", []string{string(ping)}, 100)
		require.NoError(t, err)
		require.Len(t, claimed, 64)
		violations, err := queueadmin.Verify(t.Context(), q)
		require.NoError(t, err)
		require.Empty(t, violations)
	})
}

func doAllTx(ctx context.Context, t *testing.T, q *queue.Queue, tx queue.Tx, jobs []*queue.Attempt, retried string) {
	t.Helper()
	jobs[0].SetResult("done")
	require.NoError(t, jobs[0].CompleteTx(ctx, tx))
	require.NoError(t, jobs[1].FailTx(ctx, tx, queue.Fatal(errBroken)))
	require.NoError(t, q.CancelTx(ctx, tx, retried))
	require.NoError(t, q.RetryTx(ctx, tx, retried))
	for _, key := range []queue.Key{queue.Forever("once"), queue.Coalesce("last")} {
		_, err := q.EnqueueTx(ctx, tx, ping.New(1, &queue.Options{Key: key, UserID: "ada", Tags: []string{"a"}}))
		require.NoError(t, err)
	}
	many := make([]queue.NewJob, 60)
	for i := range many {
		many[i] = ping.New(i, &queue.Options{LimitKey: "free"})
	}
	_, err := q.EnqueueManyTx(ctx, tx, many)
	require.NoError(t, err)
	require.NoError(t, q.SetLimitTx(ctx, tx, queue.ForKey("narrow"), queue.Limit{MaxRunning: 1}))
	require.NoError(t, q.PauseTx(ctx, tx, queue.ForType("other")))
	require.NoError(t, q.SetScheduleTx(ctx, tx, daily("")))
	_, err = q.FireScheduleTx(ctx, tx, "daily")
	require.NoError(t, err)
}
