package postgres_test

import (
	"database/sql"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/postgres"
)

// A transaction that has ended takes no jobs, however it has ended: they would be lost, or stored whatever becomes of
// the rest.
func TestAnEndedTransactionOfPgxIsRefused(t *testing.T) {
	dsn := dbtest.MigratedDSN(t)
	db, err := postgres.Open(t.Context(), dsn, nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	require.NoError(t, queue.Migrate(t.Context(), db))
	q, err := queue.New(db, nil)
	require.NoError(t, err)
	for name, end := range map[string]func(tx pgx.Tx) error{
		"committed":   func(tx pgx.Tx) error { return tx.Commit(t.Context()) },
		"rolled back": func(tx pgx.Tx) error { return tx.Rollback(t.Context()) },
		"committed by a statement": func(tx pgx.Tx) error {
			_, err := tx.Exec(t.Context(), "COMMIT")
			return err
		},
		"rolled back by a statement": func(tx pgx.Tx) error {
			_, err := tx.Exec(t.Context(), "ROLLBACK")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := pgx.Connect(t.Context(), dsn)
			require.NoError(t, err)
			defer func() { require.NoError(t, conn.Close(t.Context())) }()
			tx, err := conn.Begin(t.Context())
			require.NoError(t, err)
			require.NoError(t, end(tx))
			joined := postgres.Tx(tx)
			_, err = q.EnqueueTx(t.Context(), joined, tick.New(1, nil))
			require.ErrorIs(t, err, sql.ErrTxDone)
			require.NotContains(t, err.Error(), "its statements", "who ended it is not known")
			_, err = q.EnqueueTx(t.Context(), joined, tick.New(2, &queue.Options{Key: queue.Forever("key")}))
			require.ErrorIs(t, err, sql.ErrTxDone)
			_, err = joined.QueryContext(t.Context(), "SELECT 1")
			require.ErrorIs(t, err, sql.ErrTxDone)
			jobs, err := q.Jobs(t.Context(), queue.Filter{})
			require.NoError(t, err)
			require.Empty(t, jobs)
		})
	}
}
