package postgres_test

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/postgres"
)

// A queue on the program's own pool works as on one of a DSN, and leaves the pool open.
func TestOpenPool(t *testing.T) {
	pool, err := pgxpool.New(t.Context(), dbtest.MigratedDSN(t))
	require.NoError(t, err)
	defer pool.Close()
	db, err := postgres.OpenPool(t.Context(), pool, nil)
	require.NoError(t, err)
	require.NoError(t, queue.Migrate(t.Context(), db))
	q, err := queue.New(db, nil)
	require.NoError(t, err)
	d, err := queue.NewDispatcher(q, nil)
	require.NoError(t, err)
	ran := 0
	queue.Handle(d, benchJob, func(context.Context, *queue.Work[int]) error {
		ran++
		return nil
	})
	_, err = q.Enqueue(t.Context(), benchJob.New(1, nil))
	require.NoError(t, err)
	require.NoError(t, d.RunUntilIdle(t.Context()))
	require.Equal(t, 1, ran)
	require.NoError(t, db.Close())
	require.NoError(t, pool.Ping(t.Context()))
	var finished int
	require.NoError(t, pool.QueryRow(t.Context(),
		"SELECT count(*) FROM jobs WHERE state = 'completed'").Scan(&finished))
	require.Equal(t, 1, finished)
}

func TestOpenPoolRefuses(t *testing.T) {
	_, err := postgres.OpenPool(t.Context(), nil, nil)
	require.ErrorContains(t, err, "pgxpool.New")
	pool, err := pgxpool.New(t.Context(), dbtest.MigratedDSN(t))
	require.NoError(t, err)
	defer pool.Close()
	_, err = postgres.OpenPool(t.Context(), pool, &postgres.Config{Pooled: true})
	require.ErrorContains(t, err, "default_query_exec_mode=cache_describe")
}

func TestOpenRefusesWhatIsNoDSN(t *testing.T) {
	for _, dsn := range []string{"jobs.db", "mysql://root:secret@host/x"} {
		_, err := postgres.Open(t.Context(), dsn, nil)
		require.ErrorContains(t, err,
			"give a URL, such as postgres://user@host/database, or keywords and values, such as host=/run/postgresql dbname=mail")
		require.NotContains(t, err.Error(), "secret")
	}
}

// A plainConn knows no more types than database/sql asks of a driver, and answers text as bytes, as lib/pq does.
type plainConn struct{ conn *stdlib.Conn }

type plainConnector struct{ sqldriver.Connector }

func (c plainConnector) Connect(ctx context.Context) (sqldriver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	own, ok := conn.(*stdlib.Conn)
	if !ok {
		return nil, errors.New("not a connection of pgx")
	}
	return plainConn{own}, nil
}

func (c plainConn) Prepare(query string) (sqldriver.Stmt, error) { return c.conn.Prepare(query) }
func (c plainConn) Close() error                                 { return c.conn.Close() }
func (c plainConn) Begin() (sqldriver.Tx, error) {
	return c.conn.BeginTx(context.Background(), sqldriver.TxOptions{})
}

func (c plainConn) ExecContext(
	ctx context.Context, query string, args []sqldriver.NamedValue,
) (sqldriver.Result, error) {
	return c.conn.ExecContext(ctx, query, args)
}

func (c plainConn) QueryContext(
	ctx context.Context, query string, args []sqldriver.NamedValue,
) (sqldriver.Rows, error) {
	rows, err := c.conn.QueryContext(ctx, query, args)
	return plainRows{rows}, err
}

type plainRows struct{ sqldriver.Rows }

func (r plainRows) Next(dest []sqldriver.Value) error {
	err := r.Rows.Next(dest)
	for i, v := range dest {
		if text, ok := v.(string); ok {
			dest[i] = []byte(text)
		}
	}
	return err
}

// Any driver of database/sql will do for a transaction of the program's own, also one that knows no arrays.
func TestATransactionOfADriverWithoutArrays(t *testing.T) {
	dsn := dbtest.MigratedDSN(t)
	db, err := postgres.Open(t.Context(), dsn, nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	require.NoError(t, queue.Migrate(t.Context(), db))
	q, err := queue.New(db, nil)
	require.NoError(t, err)
	config, err := pgx.ParseConfig(dsn)
	require.NoError(t, err)
	pool := sql.OpenDB(plainConnector{stdlib.GetConnector(*config)})
	defer func() { require.NoError(t, pool.Close()) }()

	_, err = q.Enqueue(t.Context(), benchJob.New(1, &queue.Options{Key: queue.Coalesce("k"), LimitKey: ""}))
	require.NoError(t, err)
	jobs, err := q.Claim(t.Context(), "w", []string{string(benchJob)}, 1)
	require.NoError(t, err)
	require.Len(t, jobs, 1)
	tx, err := pool.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	jobs[0].SetResult("done")
	require.NoError(t, jobs[0].CompleteTx(t.Context(), tx))
	many := make([]queue.NewJob, 60)
	for i := range many {
		many[i] = benchJob.New(i, &queue.Options{
			Tags: []string{`a "quoted" \ {tag},`, "é"}, UserID: "ada", ExpiresAt: time.Now().Add(time.Hour),
			LimitKey: "l",
		})
	}
	many[0].Key, many[0].LimitKey = queue.Coalesce("k"), ""
	results, err := q.EnqueueManyTx(t.Context(), tx, many)
	require.NoError(t, err)
	require.NoError(t, q.CancelTx(t.Context(), tx, results[1].ID))
	require.NoError(t, q.RetryTx(t.Context(), tx, results[1].ID))
	require.NoError(t, q.SetLimitTx(t.Context(), tx, queue.ForKey("l"), queue.Limit{MaxRunning: 1}))
	require.NoError(t, tx.Commit())
	counts, err := q.Counts(t.Context(), queue.Filter{})
	require.NoError(t, err)
	require.Equal(t, map[queue.State]int{queue.StateCompleted: 1, queue.StateQueued: 60}, counts)
	stored, err := q.Job(t.Context(), results[2].ID)
	require.NoError(t, err)
	require.Equal(t, many[2].Tags, stored.Tags)
	require.False(t, stored.ExpiresAt.IsZero())
}
