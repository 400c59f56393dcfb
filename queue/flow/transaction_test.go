package flow_test

import (
	"context"
	"database/sql"
	"slices"
	"sync"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/flow"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// ownPool is the program's own pool on the database.
func ownPool(t *testing.T, db queue.DB) *sqlx.DB {
	t.Helper()
	if db.Dialect() == driver.Postgres {
		return db.Reader()
	}
	var number int
	var name, file string
	require.NoError(t, db.Reader().QueryRowContext(t.Context(), "PRAGMA database_list").Scan(&number, &name, &file))
	pool, err := sqlx.Open(sqlite.DriverName, file+"?_busy_timeout=10000&_txlock=immediate&_foreign_keys=1")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, pool.Close()) })
	return pool
}

// What the queue's calls refuse as a transaction, those of a flow refuse as well.
func TestWhatIsNoTransactionIsRefused(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := newQueue(t, db)
		f := flow.Chain(number.New(1, nil), number.New(2, nil))
		enqueue(t, q, flow.Chain(number.New(1, nil)))
		a := claimOne(t, q, string(number))
		calls := map[string]func(ctx context.Context, tx queue.Tx) error{
			"EnqueueTx": func(ctx context.Context, tx queue.Tx) error { _, err := flow.EnqueueTx(ctx, q, tx, f); return err },
			"AddTx": func(ctx context.Context, tx queue.Tx) error {
				_, err := flow.AddTx(ctx, tx, a, "1", slices.Values(numbers(1)))
				return err
			},
			"GrowTx": func(ctx context.Context, tx queue.Tx) error { return flow.GrowTx(ctx, tx, a, f) },
		}
		for name, call := range calls {
			for _, tx := range []queue.Tx{nil, (*sql.Tx)(nil), (*sqlx.Tx)(nil), &sqlx.Tx{}, (*driver.WriteTx)(nil),
				ownPool(t, db)} {
				require.ErrorIs(t, call(t.Context(), tx), driver.ErrNoTransaction, "%s %T", name, tx)
			}
			err := db.Write(t.Context(), func(_ context.Context, tx queue.Tx) error { return call(nil, tx) })
			require.ErrorIs(t, err, driver.ErrNilContext, name)
		}
		_, err := flow.EnqueueTx(t.Context(), &queue.Queue{}, nil, f)
		require.ErrorContains(t, err, "make one with queue.New")
	})
}

// Goroutines that share a transaction take turns, also where what they enqueue is made in it.
func TestGoroutinesShareATransaction(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		const goroutines = 8
		q := newQueue(t, db)
		tx, err := ownPool(t, db).BeginTxx(t.Context(), nil)
		require.NoError(t, err)
		var all sync.WaitGroup
		for range goroutines {
			all.Go(func() {
				f := flow.New("f", nil)
				f.AddMany("many", func(yield func(queue.NewJob) bool) {
					_, err := q.EnqueueTx(t.Context(), tx, number.New(0, nil))
					assert.NoError(t, err)
					yield(number.New(1, nil))
				})
				f.Add("sum", sum.New("many", nil), flow.After("many"))
				_, err := flow.EnqueueTx(t.Context(), q, tx, f)
				assert.NoError(t, err)
			})
		}
		all.Wait()
		require.NoError(t, tx.Commit())
		flows, err := flow.List(t.Context(), q, "", 100)
		require.NoError(t, err)
		require.Len(t, flows, goroutines)
		work(t, q, register)
		counts, err := q.Counts(t.Context(), queue.Filter{})
		require.NoError(t, err)
		require.Equal(t, map[queue.State]int{queue.StateCompleted: 3 * goroutines}, counts)
	})
}

// A flow grows in a transaction of the program that completes the job, as in one of the queue's.
func TestAFlowGrowsInATransactionOfTheProgram(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := newQueue(t, db)
		f := flow.New("f", nil)
		f.Add("first", number.New(1, nil))
		f.AddMany("many", nil, flow.After("first"))
		id := enqueue(t, q, f)
		a := claimOne(t, q, string(number))
		tx, err := ownPool(t, db).BeginTxx(t.Context(), nil)
		require.NoError(t, err)
		added, err := flow.AddTx(t.Context(), tx, a, "many", slices.Values(numbers(3)))
		require.NoError(t, err)
		require.Equal(t, 3, added)
		more := flow.New("more", nil)
		more.Add("sum", sum.New("many", nil), flow.After("many"))
		require.NoError(t, flow.GrowTx(t.Context(), tx, a, more))
		require.NoError(t, a.CompleteTx(t.Context(), tx))
		require.NoError(t, tx.Commit())
		work(t, q, register)
		require.Equal(t, "completed, first completed 1/1, many completed 3/3, sum completed 1/1", shape(t, q, id))
	})
}
