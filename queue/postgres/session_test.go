package postgres_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/postgres"
)

// hostile are settings that a role or a database may have.
const hostile = "-c default_transaction_isolation=serializable -c default_transaction_read_only=on " +
	"-c DateStyle=German -c TimeZone=Asia/Tokyo -c statement_timeout=60 -c lock_timeout=60 " +
	"-c idle_in_transaction_session_timeout=60 -c idle_session_timeout=60 -c standard_conforming_strings=off"

// withOptions adds to the DSN settings that the server gives a session when it begins.
func withOptions(t *testing.T, dsn, options string) string {
	t.Helper()
	return strings.ReplaceAll(dbtest.With(t, dsn, "options", options), "+", "%20") // the server reads no form
}

func TestSessionsInheritNoSettings(t *testing.T) {
	dsn := withOptions(t, dbtest.PostgresDSN(t), hostile)
	db, err := postgres.Open(t.Context(), dsn, nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	require.NoError(t, queue.Migrate(t.Context(), db))
	err = db.Write(t.Context(), func(ctx context.Context, tx driver.Tx) error {
		for setting, want := range map[string]string{
			"transaction_isolation": "read committed", "transaction_read_only": "off", "DateStyle": "ISO, DMY",
			"TimeZone": "UTC", "statement_timeout": "0", "lock_timeout": "0", "client_encoding": "UTF8",
			"idle_in_transaction_session_timeout": "0", "idle_session_timeout": "0", "standard_conforming_strings": "on",
		} {
			var got string
			require.NoError(t, tx.QueryRowContext(ctx, "SELECT current_setting($1)", setting).Scan(&got))
			require.Equal(t, want, got, setting)
		}
		return nil
	})
	require.NoError(t, err)
}

// A pool of the program's own keeps its settings, but the queue's transactions are not serializable.
func TestTransactionsOnAPoolDoNotInheritTheirIsolation(t *testing.T) {
	dsn := dbtest.PostgresDSN(t)
	migrated, err := postgres.Open(t.Context(), dsn, nil)
	require.NoError(t, err)
	require.NoError(t, queue.Migrate(t.Context(), migrated))
	require.NoError(t, migrated.Close())
	pool, err := pgxpool.New(t.Context(), withOptions(t, dsn,
		"-c default_transaction_isolation=serializable -c default_transaction_read_only=on"))
	require.NoError(t, err)
	defer pool.Close()
	db, err := postgres.OpenPool(t.Context(), pool, nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	q, err := queue.New(db, nil)
	require.NoError(t, err)
	jobs := make([]queue.NewJob, 200)
	for i := range jobs {
		jobs[i] = benchJob.New(i, nil)
	}
	_, err = q.EnqueueMany(t.Context(), jobs)
	require.NoError(t, err)
	d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{Workers: 3})
	require.NoError(t, err)
	queue.Handle(d, benchJob, func(ctx context.Context, w *queue.Work[int]) error {
		return w.Complete(ctx, func(context.Context, queue.Tx) error { return nil })
	})
	require.NoError(t, d.RunUntilIdle(t.Context()))
	found, err := q.Jobs(t.Context(), queue.Filter{Limit: 200})
	require.NoError(t, err)
	for _, j := range found {
		require.Equal(t, queue.StateCompleted, j.State)
		require.Equal(t, 1, j.Attempt, j.LastError)
	}
}

func TestASessionThatCanOnlyReadIsClosed(t *testing.T) {
	db, err := postgres.Open(t.Context(), dbtest.With(t, dbtest.PostgresDSN(t), "pool_max_conns", "1"), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	require.NoError(t, queue.Migrate(t.Context(), db))
	q, err := queue.New(db, nil)
	require.NoError(t, err)
	session := func(ctx context.Context, tx driver.Tx) (pid int) {
		require.NoError(t, tx.QueryRowContext(ctx, "SELECT pg_backend_pid()").Scan(&pid))
		return pid
	}
	var before, after int
	err = db.Write(t.Context(), func(ctx context.Context, tx driver.Tx) error {
		before = session(ctx, tx)
		_, err := tx.ExecContext(ctx, "SET TRANSACTION READ ONLY")
		require.NoError(t, err)
		_, err = q.EnqueueTx(ctx, tx, benchJob.New(1, nil))
		return err
	})
	require.ErrorContains(t, err, "25006")
	err = db.Write(t.Context(), func(ctx context.Context, tx driver.Tx) error {
		after = session(ctx, tx)
		return nil
	})
	require.NoError(t, err)
	require.NotEqual(t, before, after)
}

// What the server has ended in favor of others is begun again, and no caller hears of it.
func TestSerializationFailuresAreTriedAgain(t *testing.T) {
	db := dbtest.Postgres(t)
	require.NoError(t, queue.Migrate(t.Context(), db))
	q, err := queue.New(db, nil)
	require.NoError(t, err)
	for i, code := range []string{"40001", "40P01"} {
		enqueued, err := q.Enqueue(t.Context(), benchJob.New(1, nil))
		require.NoError(t, err)
		err = db.Write(t.Context(), func(ctx context.Context, tx driver.Tx) error {
			_, err := tx.ExecContext(ctx, fmt.Sprintf(`
CREATE SEQUENCE tries_%[1]d;
CREATE FUNCTION fail_%[1]d() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF nextval('tries_%[1]d') < 4 THEN RAISE EXCEPTION 'not now' USING ERRCODE = '%[2]s'; END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER fail_%[1]d BEFORE UPDATE ON jobs FOR EACH ROW EXECUTE FUNCTION fail_%[1]d()`, i, code))
			return err
		})
		require.NoError(t, err)
		require.NoError(t, q.Cancel(t.Context(), enqueued.ID), code)
	}
}

func TestAConnectionThatHasGoneSilentIsReplaced(t *testing.T) {
	dsn, err := url.Parse(dbtest.PostgresDSN(t))
	require.NoError(t, err)
	proxy := startSilentProxy(t, dsn.Host)
	dsn.Host = proxy.listener.Addr().String()
	db, err := postgres.Open(t.Context(), dbtest.With(t, dsn.String(), "pool_max_conns", "1"), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	require.NoError(t, queue.Migrate(t.Context(), db))
	postgres.SetAnswerTimeout(db, 500*time.Millisecond)
	q, err := queue.New(db, nil)
	require.NoError(t, err)
	_, err = q.Enqueue(t.Context(), benchJob.New(1, nil))
	require.NoError(t, err)
	proxy.gone.Store(true)
	began := time.Now()
	_, err = q.Enqueue(t.Context(), benchJob.New(2, nil))
	require.Error(t, err)
	require.Less(t, time.Since(began), time.Minute, "two leases")
	proxy.gone.Store(false)
	_, err = q.Enqueue(t.Context(), benchJob.New(3, nil))
	require.NoError(t, err)
}
