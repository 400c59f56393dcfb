package queue_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/postgres"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// refusesOther checks that calls with the transaction say that it is one of another engine, and not that tables are missing.
func refusesOther(t *testing.T, q *queue.Queue, tx queue.Tx) {
	t.Helper()
	id := enqueue(t, q, nil)
	for name, call := range map[string]func() error{
		"EnqueueTx": func() error { _, err := q.EnqueueTx(t.Context(), tx, ping.New(1, nil)); return err },
		"EnqueueTx with a key": func() error {
			_, err := q.EnqueueTx(t.Context(), tx, ping.New(1, &queue.Options{Key: queue.WhileUnfinished("k")}))
			return err
		},
		"CancelTx":   func() error { return q.CancelTx(t.Context(), tx, id) },
		"SetLimitTx": func() error { return q.SetLimitTx(t.Context(), tx, queue.ForKey("k"), queue.Limit{MaxRunning: 1}) },
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
			pool, err := sqlx.Open("sqlite3", path)
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
