package flow_test

import (
	"slices"
	"testing"

	"github.com/jmoiron/sqlx"
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
