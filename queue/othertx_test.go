package queue_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/postgres"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// A place is a database, and how to open it once more.
type place struct {
	db   queue.DB
	open func() queue.DB
	pool *sqlx.DB      // the program's own
	pgx  *pgxpool.Pool // nil on SQLite
}

// eachPlace runs fn on each engine with a way to make databases.
func eachPlace(t *testing.T, fn func(t *testing.T, create func(t *testing.T) place)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { fn(t, sqlitePlace) })
	t.Run("postgres", func(t *testing.T) { fn(t, postgresPlace) })
}

func sqlitePlace(t *testing.T) place {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.db")
	open := func() queue.DB {
		db, err := sqlite.Open(t.Context(), path, &sqlite.Config{SingleProcess: true})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, db.Close()) })
		return db
	}
	db := open()
	return place{db: db, open: open, pool: ownPool(t, db)}
}

func postgresPlace(t *testing.T) place {
	t.Helper()
	dsn := dbtest.PostgresDSN(t)
	open := func() queue.DB {
		db, err := postgres.Open(t.Context(), dsn, nil)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, db.Close()) })
		return db
	}
	db := open()
	pool, err := pgxpool.New(t.Context(), dsn)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return place{db: db, open: open, pool: db.Reader(), pgx: pool}
}

// A helper is what a program puts around the transactions that it hands on.
type helper struct{ queue.Tx }

// each runs fn in each kind of transaction on the place, which is then undone.
func (p place) each(t *testing.T, fn func(t *testing.T, tx queue.Tx)) {
	t.Helper()
	own := func(db queue.DB, wrap func(queue.Tx) queue.Tx) func(t *testing.T) {
		return func(t *testing.T) {
			require.ErrorIs(t, db.Write(t.Context(), func(_ context.Context, tx queue.Tx) error {
				fn(t, wrap(tx))
				return errBroken
			}), errBroken)
		}
	}
	t.Run("DB.Write", own(p.db, func(tx queue.Tx) queue.Tx { return tx }))
	t.Run("DB.Write, wrapped", own(p.db, func(tx queue.Tx) queue.Tx { return helper{tx} }))
	t.Run("DB.Write of another handle", own(p.open(), func(tx queue.Tx) queue.Tx { return tx }))
	for name, begin := range map[string]func(*testing.T, *sqlx.DB) foreign{"sql.Tx": beginSQL, "sqlx.Tx": beginSQLX} {
		t.Run(name, func(t *testing.T) {
			f := begin(t, p.pool)
			defer func() { require.NoError(t, f.rollback()) }()
			fn(t, f.tx)
		})
	}
	t.Run("sql.Tx, wrapped", func(t *testing.T) {
		f := beginSQL(t, p.pool)
		defer func() { require.NoError(t, f.rollback()) }()
		fn(t, helper{f.tx})
	})
	if p.pgx == nil {
		return
	}
	t.Run("pgx.Tx", func(t *testing.T) {
		tx, err := p.pgx.Begin(t.Context())
		require.NoError(t, err)
		defer func() { require.NoError(t, tx.Rollback(t.Context())) }()
		fn(t, postgres.Tx(tx))
	})
}

func advised(t *testing.T, err, is error) {
	t.Helper()
	require.ErrorIs(t, err, is)
	require.Contains(t, err.Error(), "begin ")
	require.NotContains(t, err.Error(), "\n")
	for _, raw := range []string{"no such table", "does not exist", "Migrate"} {
		require.NotContains(t, err.Error(), raw)
	}
}

// A transaction of another database, which may have a queue of its own, takes no job of this one.
func TestATransactionOfAnotherDatabaseIsRefused(t *testing.T) {
	eachPlace(t, func(t *testing.T, create func(t *testing.T) place) {
		q := queueOn(t, create(t).db)
		for name, migrated := range map[string]bool{"with a queue": true, "without": false} {
			t.Run(name, func(t *testing.T) {
				other := create(t)
				if migrated {
					require.NoError(t, queue.Migrate(t.Context(), other.db))
				}
				other.each(t, func(t *testing.T, tx queue.Tx) {
					t.Helper()
					for range 2 {
						_, err := q.EnqueueTx(t.Context(), tx, ping.New(1, nil))
						advised(t, err, driver.ErrOtherDatabase)
						advised(t, q.CancelTx(t.Context(), tx, "no"), driver.ErrOtherDatabase)
					}
				})
			})
		}
		counts, err := q.Counts(t.Context(), queue.Filter{})
		require.NoError(t, err)
		require.Empty(t, counts)
	})
}

// All transactions of the queue's database are taken, whoever has begun them: also where the tables were made after it
// was opened.
func TestAllTransactionsOfTheDatabaseAreTaken(t *testing.T) {
	eachPlace(t, func(t *testing.T, create func(t *testing.T) place) {
		p := create(t)
		require.NoError(t, queue.Migrate(t.Context(), p.open())) // as another process does
		q, err := queue.New(p.db, nil)
		require.NoError(t, err)
		p.each(t, func(t *testing.T, tx queue.Tx) {
			t.Helper()
			for range 2 {
				_, err := q.EnqueueTx(t.Context(), tx, ping.New(1, &queue.Options{Key: queue.Forever("key")}))
				require.NoError(t, err)
			}
		})
	})
}

// A pool has the methods of a transaction, also behind something that hides what it is.
func TestAPoolInDisguiseIsNoTransaction(t *testing.T) {
	eachPlace(t, func(t *testing.T, create func(t *testing.T) place) {
		p := create(t)
		q := queueOn(t, p.db)
		conn, err := p.pool.Conn(t.Context())
		require.NoError(t, err)
		defer func() { require.NoError(t, conn.Close()) }()
		for name, tx := range map[string]queue.Tx{"a pool": helper{p.pool}, "a connection": helper{conn},
			"a pool as it is": p.pool} {
			_, err := q.EnqueueTx(t.Context(), tx, ping.New(1, nil))
			require.Error(t, err, name)
			advised(t, err, driver.ErrNoTransaction)
		}
		for _, tx := range []queue.Tx{nil, (*sql.Tx)(nil), &sqlx.Tx{}} {
			_, err := q.EnqueueTx(t.Context(), tx, ping.New(1, nil))
			advised(t, err, driver.ErrNoTransaction)
		}
		counts, err := q.Counts(t.Context(), queue.Filter{})
		require.NoError(t, err)
		require.Empty(t, counts)
	})
}

// A transaction that is over is none, whether or not the queue has seen it before.
func TestATransactionThatIsOverIsRefused(t *testing.T) {
	eachForeign(t, func(t *testing.T, q *queue.Queue, begin func(t *testing.T) foreign) {
		for _, seen := range []bool{false, true} {
			for name, end := range map[string]func(f foreign) error{"commit": func(f foreign) error { return f.commit() },
				"rollback": func(f foreign) error { return f.rollback() }} {
				f := begin(t)
				if seen {
					require.NoError(t, q.SetLimitTx(t.Context(), f.tx, queue.ForKey("k"), queue.Limit{MaxRunning: 1}))
				}
				require.NoError(t, end(f))
				_, err := q.EnqueueTx(t.Context(), f.tx, ping.New(1, nil))
				require.ErrorIs(t, err, sql.ErrTxDone, name)
				require.ErrorContains(t, err, "before the transaction's Commit or Rollback")
				advised(t, err, driver.ErrNoTransaction)
			}
		}
	})
}

// Goroutines that share a transaction take turns.
func TestGoroutinesShareAForeignTransaction(t *testing.T) {
	const goroutines = 400
	eachForeign(t, func(t *testing.T, q *queue.Queue, begin func(t *testing.T) foreign) {
		f := begin(t)
		var all sync.WaitGroup
		for i := range goroutines {
			all.Go(func() {
				var options *queue.Options
				if i%4 == 0 {
					options = &queue.Options{Key: queue.Forever(fmt.Sprint("key", i%40))}
				}
				_, err := q.EnqueueTx(t.Context(), f.tx, ping.New(1, options))
				assert.NoError(t, err)
			})
		}
		all.Wait()
		require.NoError(t, f.commit())
		counts, err := q.Counts(t.Context(), queue.Filter{})
		require.NoError(t, err)
		require.Equal(t, map[queue.State]int{queue.StateQueued: goroutines*3/4 + 10}, counts)
	})
}

// A call waits for its turn no longer than its context allows.
func TestATurnIsAwaitedUnderTheContext(t *testing.T) {
	q := queueOn(t, dbtest.Postgres(t))
	f := beginSQL(t, q.DB().Reader())
	defer func() { require.NoError(t, f.rollback()) }()
	stuck := &stuckTx{Tx: f.tx, entered: make(chan struct{}), leave: make(chan struct{})}
	ended := make(chan error)
	go func() {
		_, err := q.EnqueueTx(t.Context(), stuck, ping.New(1, nil))
		ended <- err
	}()
	<-stuck.entered
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := q.EnqueueTx(ctx, stuck, ping.New(2, nil))
	require.ErrorIs(t, err, context.Canceled)
	close(stuck.leave)
	require.NoError(t, <-ended)
}

// A stuckTx stands still in its first statement.
type stuckTx struct {
	queue.Tx

	once           sync.Once
	entered, leave chan struct{}
}

func (s *stuckTx) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	s.once.Do(func() {
		close(s.entered)
		<-s.leave
	})
	return s.Tx.QueryRowContext(ctx, query, args...)
}

// A transaction that may only read says so before a statement fails.
func TestATransactionThatMayOnlyReadIsRefused(t *testing.T) {
	p := postgresPlace(t)
	q := queueOn(t, p.db)
	tx, err := p.pool.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true})
	require.NoError(t, err)
	defer func() { require.NoError(t, tx.Rollback()) }()
	_, err = q.EnqueueTx(t.Context(), tx, ping.New(1, nil))
	require.ErrorContains(t, err, "the transaction may only read: begin it without ReadOnly")
	require.False(t, strings.Contains(err.Error(), "SQLSTATE"))
}

// refusesOther checks that calls with the transaction say that it is one of another engine, and not that tables are
// missing.
func refusesOther(t *testing.T, q *queue.Queue, tx queue.Tx) {
	t.Helper()
	id := enqueue(t, q, nil)
	for name, call := range map[string]func() error{
		"EnqueueTx": func() error { _, err := q.EnqueueTx(t.Context(), tx, ping.New(1, nil)); return err },
		"EnqueueTx with a key": func() error {
			_, err := q.EnqueueTx(t.Context(), tx, ping.New(1, &queue.Options{Key: queue.WhileUnfinished("k")}))
			return err
		},
		"CancelTx": func() error { return q.CancelTx(t.Context(), tx, id) },
		"SetLimitTx": func() error {
			return q.SetLimitTx(t.Context(), tx, queue.ForKey("k"),
				queue.Limit{MaxRunning: 1})
		},
	} {
		err := call()
		require.ErrorIs(t, err, driver.ErrOtherDatabase, name)
		require.NotContains(t, err.Error(), "Migrate", name)
	}
}

// Who has moved a queue to PostgreSQL and begins transactions of the old file still is answered so.
func TestATransactionOfSQLiteIsNoneOfPostgreSQL(t *testing.T) {
	q := queueOn(t, dbtest.Postgres(t))
	for name, migrated := range map[string]bool{"with the queue's tables": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "old.db")
			old, err := sqlite.Open(t.Context(), path, nil)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, old.Close()) })
			if migrated {
				require.NoError(t, queue.Migrate(t.Context(), old))
			}
			require.NoError(t, old.Write(t.Context(), func(_ context.Context, tx queue.Tx) error {
				refusesOther(t, q, tx)
				return nil
			}))
			pool, err := sqlx.Open(sqlite.DriverName, path)
			require.NoError(t, err)
			defer pool.Close()
			tx, err := pool.BeginTxx(t.Context(), nil)
			require.NoError(t, err)
			refusesOther(t, q, tx)
			refusesOther(t, q, tx.Tx)
			require.NoError(t, tx.Rollback())
		})
	}
}

func TestATransactionOfPostgreSQLIsNoneOfSQLite(t *testing.T) {
	other := dbtest.Postgres(t)
	q := queueOn(t, dbtest.SQLite(t))
	require.NoError(t, other.Write(t.Context(), func(_ context.Context, tx queue.Tx) error {
		refusesOther(t, q, tx)
		return nil
	}))
	conn, err := pgx.Connect(t.Context(), dbtest.PostgresDSN(t))
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(t.Context())) }()
	for name, begin := range map[string]func() queue.Tx{
		"sql.Tx": func() queue.Tx {
			tx, err := other.Reader().BeginTx(t.Context(), nil)
			require.NoError(t, err)
			t.Cleanup(func() { _ = tx.Rollback() })
			return tx
		},
		"pgx.Tx": func() queue.Tx {
			tx, err := conn.Begin(t.Context())
			require.NoError(t, err)
			return postgres.Tx(tx)
		},
	} {
		t.Run(name, func(t *testing.T) { refusesOther(t, q, begin()) })
	}
}

// A transaction that has failed, or ended, is not taken for one of another engine.
func TestATransactionThatHasFailedIsOneOfItsEngine(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q, own := queueOn(t, db), ownPool(t, db)
		tx, err := own.BeginTxx(t.Context(), nil)
		require.NoError(t, err)
		_, err = tx.ExecContext(t.Context(), "SELECT no FROM nowhere")
		require.Error(t, err)
		_, err = q.EnqueueTx(t.Context(), tx, ping.New(1, nil))
		require.NotErrorIs(t, err, driver.ErrOtherDatabase)
		require.NoError(t, tx.Rollback())
		_, err = q.EnqueueTx(t.Context(), tx, ping.New(1, nil))
		require.ErrorIs(t, err, sql.ErrTxDone)
	})
}
