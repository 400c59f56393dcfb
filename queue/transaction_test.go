package queue_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jmoiron/sqlx"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/postgres"
	"github.com/postroom-go/postroom/queue/queueadmin"
	"github.com/postroom-go/postroom/queue/sqlite"
	"github.com/stretchr/testify/require"
)

// A foreign transaction is one that a program begins and ends by itself, with whatever it uses.
type foreign struct {
	tx               queue.Tx
	commit, rollback func() error
}

// eachForeign runs fn on each engine with each way to begin one, and with dispatchers that hear of other connections'
// commits.
func eachForeign(t *testing.T, fn func(t *testing.T, q *queue.Queue, begin func(t *testing.T) foreign)) {
	t.Helper()
	for name, begin := range map[string]func(t *testing.T, pool *sqlx.DB) foreign{"sql.Tx": beginSQL,
		"sqlx.Tx": beginSQLX} {
		t.Run("sqlite "+name, func(t *testing.T) {
			db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "test.db"), nil)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, db.Close()) })
			pool := ownPool(t, db)
			fn(t, queueOn(t, db), func(t *testing.T) foreign { t.Helper(); return begin(t, pool) })
		})
		t.Run("postgres "+name, func(t *testing.T) {
			db := dbtest.Postgres(t)
			fn(t, queueOn(t, db), func(t *testing.T) foreign { t.Helper(); return begin(t, db.Reader()) })
		})
	}
	t.Run("postgres pgx.Tx", func(t *testing.T) {
		dsn := dbtest.PostgresDSN(t)
		db, err := postgres.Open(t.Context(), dsn, nil)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, db.Close()) })
		pool, err := pgxpool.New(t.Context(), dsn)
		require.NoError(t, err)
		t.Cleanup(pool.Close)
		fn(t, queueOn(t, db), func(t *testing.T) foreign {
			t.Helper()
			tx, err := pool.Begin(t.Context())
			require.NoError(t, err)
			end := func(fn func(context.Context) error) func() error { return func() error { return fn(t.Context()) } }
			return foreign{postgres.Tx(tx), end(tx.Commit), end(tx.Rollback)}
		})
	})
}

func beginSQL(t *testing.T, pool *sqlx.DB) foreign {
	t.Helper()
	tx, err := pool.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	return foreign{tx, tx.Commit, tx.Rollback}
}

func beginSQLX(t *testing.T, pool *sqlx.DB) foreign {
	t.Helper()
	tx, err := pool.BeginTxx(t.Context(), nil)
	require.NoError(t, err)
	return foreign{tx, tx.Commit, tx.Rollback}
}

// A job that a program's own transaction has enqueued starts when that commits, and nobody has to say so.
func TestJobsOfAForeignTransactionAreFoundAtOnce(t *testing.T) {
	eachForeign(t, func(t *testing.T, q *queue.Queue, begin func(t *testing.T) foreign) {
		started := make(chan time.Time, 1)
		stop := start(t, q, &queue.DispatcherConfig{PollInterval: time.Minute},
			func(context.Context, *queue.Work[int]) error {
				started <- time.Now()
				return nil
			})
		// Once one has run, the dispatcher sleeps until it is woken.
		enqueue(t, q, nil)
		<-started

		lost := begin(t)
		_, err := q.EnqueueTx(t.Context(), lost.tx, ping.New(1, nil))
		require.NoError(t, err)
		require.NoError(t, lost.rollback())

		kept := begin(t)
		enqueued, err := q.EnqueueTx(t.Context(), kept.tx, ping.New(2, nil))
		require.NoError(t, err)
		require.NoError(t, kept.commit())
		committed := time.Now()
		select {
		case at := <-started:
			t.Logf("started %v after the commit", at.Sub(committed))
		case <-time.After(30 * time.Second):
			t.Fatal("the job was not found without a poll")
		}
		require.NoError(t, stop())
		require.Equal(t, queue.StateCompleted, job(t, q, enqueued.ID).State)
		counts, err := q.Counts(t.Context(), queue.Filter{})
		require.NoError(t, err)
		require.Equal(t, map[queue.State]int{queue.StateCompleted: 2}, counts)
	})
}

// All calls that take a transaction take those of others, and undo what they did with them.
func TestAllCallsInAForeignTransaction(t *testing.T) {
	eachForeign(t, func(t *testing.T, q *queue.Queue, begin func(t *testing.T) foreign) {
		enqueue(t, q, nil)
		enqueue(t, q, nil)
		jobs, err := q.Claim(t.Context(), "w", []string{string(ping)}, 2)
		require.NoError(t, err)
		retried := enqueue(t, q, nil)
		before, err := q.Counts(t.Context(), queue.Filter{})
		require.NoError(t, err)

		undone := begin(t)
		doAllTx(t.Context(), t, q, undone.tx, jobs, retried)
		require.NoError(t, undone.rollback())
		counts, err := q.Counts(t.Context(), queue.Filter{})
		require.NoError(t, err)
		require.Equal(t, before, counts)

		done := begin(t)
		doAllTx(t.Context(), t, q, done.tx, jobs, retried)
		require.NoError(t, done.commit())
		counts, err = q.Counts(t.Context(), queue.Filter{})
		require.NoError(t, err)
		require.Equal(t, map[queue.State]int{queue.StateCompleted: 1, queue.StateFailed: 1, queue.StateQueued: 64},
			counts)
		require.JSONEq(t, `"done"`, string(job(t, q, jobs[0].Job.ID).Result))

		_, err = q.EnqueueTx(t.Context(), done.tx, ping.New(1, nil))
		require.ErrorIs(t, err, sql.ErrTxDone)
		require.ErrorContains(t, err, "before the transaction's Commit or Rollback")
	})
}

// A key keeps others out whatever transaction has stored it, also when its job is no longer kept.
func TestKeysInAForeignTransaction(t *testing.T) {
	eachForeign(t, func(t *testing.T, q *queue.Queue, begin func(t *testing.T) foreign) {
		hourly := ping.New(1, &queue.Options{Key: queue.ForPeriod("hourly", time.Hour)})
		for _, duplicate := range []bool{false, true} {
			f := begin(t)
			result, err := q.EnqueueTx(t.Context(), f.tx, hourly)
			require.NoError(t, err)
			require.NoError(t, f.commit())
			require.Equal(t, duplicate, result.Duplicate)
		}
		f := begin(t)
		first, err := q.EnqueueTx(t.Context(), f.tx, ping.New(1, &queue.Options{Key: queue.Forever("once")}))
		require.NoError(t, err)
		_, err = f.tx.ExecContext(t.Context(), "DELETE FROM jobs")
		require.NoError(t, err)
		require.NoError(t, f.commit())
		again, err := q.Enqueue(t.Context(), ping.New(1, &queue.Options{Key: queue.Forever("once")}))
		require.NoError(t, err)
		require.Equal(t, queue.EnqueueResult{ID: first.ID, Duplicate: true}, again)
	})
}

// The program's own statements and the queue's are one transaction, whatever it is.
func TestReadsInAForeignTransaction(t *testing.T) {
	eachForeign(t, func(t *testing.T, q *queue.Queue, begin func(t *testing.T) foreign) {
		f := begin(t)
		enqueued, err := q.EnqueueTx(t.Context(), f.tx, ping.New(7, &queue.Options{Priority: 3}))
		require.NoError(t, err)
		read, err := q.JobTx(t.Context(), f.tx, enqueued.ID)
		require.NoError(t, err)
		require.Equal(t, "7", string(read.Payload))
		for _, id := range append([]string{"no"}, noTexts...) {
			_, err = q.JobTx(t.Context(), f.tx, id)
			require.ErrorIs(t, err, queue.ErrJobNotFound, "%q", id)
		}
		var priority int
		var payload string
		var none sql.NullString
		var at any
		row := f.tx.QueryRowContext(t.Context(),
			"SELECT priority, payload_json, last_error, created_at FROM jobs WHERE id = $1", enqueued.ID)
		require.NoError(t, row.Scan(&priority, &payload, &none, &at))
		require.Equal(t, 3, priority)
		require.Equal(t, "7", payload)
		require.False(t, none.Valid)
		require.NotNil(t, at)
		rows, err := f.tx.QueryContext(t.Context(), "SELECT id FROM jobs ORDER BY id")
		require.NoError(t, err)
		defer func() { _ = rows.Close() }()
		var ids []string
		for rows.Next() {
			var id string
			require.NoError(t, rows.Scan(&id))
			ids = append(ids, id)
		}
		require.NoError(t, rows.Err())
		require.Equal(t, []string{enqueued.ID}, ids)
		require.ErrorIs(t, f.tx.QueryRowContext(t.Context(), "SELECT id FROM jobs WHERE id = 'no'").Scan(&payload),
			sql.ErrNoRows)
		result, err := f.tx.ExecContext(t.Context(), "UPDATE jobs SET priority = 1 WHERE id = $1", enqueued.ID)
		require.NoError(t, err)
		n, err := result.RowsAffected()
		require.NoError(t, err)
		require.Equal(t, int64(1), n)
		require.NoError(t, f.rollback())
		_, err = q.Job(t.Context(), enqueued.ID)
		require.ErrorIs(t, err, queue.ErrJobNotFound)
	})
}

// What is no transaction is refused, and the error says what to do.
func TestWhatIsNoTransactionIsRefused(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := queueOn(t, db)
		conn, err := db.Reader().Conn(t.Context())
		require.NoError(t, err)
		defer func() { require.NoError(t, conn.Close()) }()
		for name, tx := range map[string]queue.Tx{
			"nil": nil, "a nil *sql.Tx": (*sql.Tx)(nil), "a nil *sqlx.Tx": (*sqlx.Tx)(nil),
			"no pgx.Tx": postgres.Tx((pgx.Tx)(nil)),
			"*sql.DB":   db.Reader().DB, "*sqlx.DB": db.Reader(), "*sql.Conn": conn,
		} {
			_, err := q.EnqueueTx(t.Context(), tx, ping.New(1, nil))
			require.Error(t, err, name)
			require.ErrorContains(t, err, "begin one", name)
			require.ErrorContains(t, err, "without Tx", name)
		}
	})
}

// ownPool is a pool that the program has opened by itself.
func ownPool(t *testing.T, db queue.DB) *sqlx.DB {
	t.Helper()
	if db.Dialect() == driver.Postgres {
		return db.Reader() // any pool of pgx's
	}
	var path string
	require.NoError(t, db.Reader().Get(&path, "SELECT file FROM pragma_database_list WHERE name = 'main'"))
	own, err := sqlx.Open(sqlite.DriverName, path+"?_busy_timeout=10000&_txlock=immediate&_foreign_keys=1")
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
		require.Equal(t, map[queue.State]int{queue.StateCompleted: 1, queue.StateFailed: 1, queue.StateQueued: 64},
			counts)
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

func TestOnCommit(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		var called []string
		write := func(name string, err error) {
			require.ErrorIs(t, db.Write(t.Context(), func(_ context.Context, tx queue.Tx) error {
				require.True(t, queue.OnCommit(tx, func() { called = append(called, name) }))
				require.Empty(t, called)
				return err
			}), err)
		}
		write("undone", errors.New("no"))
		require.Empty(t, called)
		write("done", nil)
		require.Equal(t, []string{"done"}, called)

		tx, err := db.Reader().BeginTxx(t.Context(), nil)
		require.NoError(t, err)
		require.False(t, queue.OnCommit(tx, func() { t.Error("it is not the queue's") }))
		require.NoError(t, tx.Rollback())
	})
}
