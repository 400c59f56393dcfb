package postgres_test

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/costtest"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/driver/drivertest"
	"github.com/postroom-go/postroom/queue/postgres"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

// A house is a database of a program that has a table jobs of its own in its search_path, and the queue in a schema
// that is not.
type house struct{ dsn, own, schema string }

func newHouse(t testing.TB) house {
	t.Helper()
	dsn := dbtest.PostgresDSN(t)
	h := house{dsn: dsn, own: schemaIn(t, dsn), schema: schemaIn(t, dbtest.PostgresDSN(t))}
	run(t, h.open(t, ""), "CREATE TABLE jobs (title TEXT)")
	return h
}

func schemaIn(t testing.TB, dsn string) string {
	t.Helper()
	location, err := url.Parse(dsn)
	require.NoError(t, err)
	return location.Query().Get("search_path")
}

func (h house) open(t testing.TB, schema string) *postgres.DB {
	t.Helper()
	db, err := postgres.Open(t.Context(), h.dsn, &postgres.Config{Schema: schema})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// empty empties both schemas for the next case, which costs less than new ones.
func (h house) empty(t testing.TB) {
	t.Helper()
	db := h.open(t, "")
	var tables []string
	require.NoError(t, db.Reader().Select(&tables, `
SELECT quote_ident(schemaname) || '.' || quote_ident(tablename)
FROM pg_tables
WHERE schemaname = $1 AND tablename <> 'postroom_migrations'`, h.schema))
	if len(tables) > 0 {
		// As a replica, so that no trigger runs.
		run(t, db, "SET LOCAL session_replication_role = replica; DELETE FROM "+strings.Join(tables, "; DELETE FROM "))
	}
	run(t, db, "DROP SCHEMA "+h.own+" CASCADE; CREATE SCHEMA "+h.own+"; CREATE TABLE "+h.own+".jobs (title TEXT)")
}

func TestDriverInASchema(t *testing.T) {
	costtest.SkipUnderRace(t)
	h := newHouse(t)
	drivertest.RunEvery(t, 5, func(t *testing.T) queue.DB {
		h.empty(t)
		return h.open(t, h.schema)
	})
}

// Two queues of a database, and a program between them, whose connections find neither.
func TestQueuesInTwoSchemasOfADatabase(t *testing.T) {
	h := newHouse(t)
	other := house{dsn: h.dsn, own: h.own, schema: schemaIn(t, dbtest.PostgresDSN(t))}
	one, two := newQueueIn(t, h), newQueueIn(t, other)
	enqueue := func(q *queue.Queue, tx queue.Tx, n int) {
		t.Helper()
		_, err := q.EnqueueTx(t.Context(), tx, tick.New(n, &queue.Options{Key: queue.WhileUnfinished("k"), LimitKey: "l"}))
		require.NoError(t, err)
	}

	// What the transaction of either enqueues into the other goes there, and so does what the program's own do.
	for _, q := range []*queue.Queue{one, two} {
		require.NoError(t, q.DB().Write(t.Context(), func(ctx context.Context, tx driver.Tx) error {
			_, err := tx.ExecContext(ctx, "INSERT INTO jobs (title) VALUES ('one of the program''s own')")
			require.NoError(t, err)
			_, err = one.EnqueueTx(ctx, tx, tick.New(1, nil))
			require.NoError(t, err)
			_, err = two.EnqueueTx(ctx, tx, tick.New(2, nil))
			return err
		}))
	}
	pool, err := pgxpool.New(t.Context(), h.dsn)
	require.NoError(t, err)
	defer pool.Close()
	standard := stdlib.OpenDBFromPool(pool)
	defer func() { require.NoError(t, standard.Close()) }()
	own, err := standard.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	enqueue(one, own, 3)
	require.NoError(t, own.Commit())
	ofPgx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	enqueue(two, postgres.Tx(ofPgx), 4)
	_, err = ofPgx.Exec(t.Context(), "SELECT "+queue.Table(two.DB(), "job_enqueue")+"('tick', '5')")
	require.NoError(t, err)
	require.NoError(t, ofPgx.Commit(t.Context()))
	require.Equal(t, []int{1, 1, 3}, ran(t, one))
	require.Equal(t, []int{2, 2, 4, 5}, ran(t, two))

	var titles int
	require.NoError(t, one.DB().Reader().Get(&titles, "SELECT COUNT(*) FROM jobs WHERE title <> ''"))
	require.Equal(t, 2, titles)
}

func newQueueIn(t testing.TB, h house) *queue.Queue {
	t.Helper()
	db := h.open(t, h.schema)
	require.NoError(t, queue.Migrate(t.Context(), db))
	require.NoError(t, queue.Migrate(t.Context(), db), "nothing is left to do")
	q, err := queue.New(db, nil)
	require.NoError(t, err)
	return q
}

// ran returns the payloads of the jobs that a dispatcher of the queue ran, in order.
func ran(t testing.TB, q *queue.Queue) (payloads []int) {
	t.Helper()
	d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{Workers: 1})
	require.NoError(t, err)
	queue.Handle(d, tick, func(_ context.Context, w *queue.Work[int]) error {
		payloads = append(payloads, w.Payload)
		return nil
	})
	require.NoError(t, d.RunUntilIdle(t.Context()))
	slices.Sort(payloads)
	return payloads
}

// Whatever a claim notifies of goes to its own queue: the jobs of a sequence behind one that has expired are due.
func TestAnExpiryInASchemaIsHeardByItsOwnQueue(t *testing.T) {
	h := newHouse(t)
	q := newQueueIn(t, h)
	ctx := t.Context()
	enqueued, err := q.Enqueue(ctx, tick.New(1, &queue.Options{Sequence: "s", ExpiresAt: time.Now().Add(time.Hour)}))
	require.NoError(t, err)
	run(t, q.DB(), "UPDATE "+queue.Table(q.DB(), "jobs")+" SET expires_at = now() - interval '1 hour' WHERE id = '"+
		enqueued.ID+"'")
	pool, err := pgxpool.New(ctx, h.dsn)
	require.NoError(t, err)
	defer pool.Close()
	ear, err := pool.Acquire(ctx)
	require.NoError(t, err)
	defer ear.Release()
	channel := `"` + h.schema + `.postroom_jobs"`
	_, err = ear.Exec(ctx, "LISTEN "+channel)
	require.NoError(t, err)
	require.Empty(t, ran(t, q))
	_, err = ear.Exec(ctx, "NOTIFY "+channel+", 'last'")
	require.NoError(t, err)
	var payloads []string
	for !slices.Contains(payloads, "last") {
		heard, err := ear.Conn().WaitForNotification(ctx)
		require.NoError(t, err)
		payloads = append(payloads, heard.Payload)
	}
	require.Contains(t, payloads, "", "the claim that has found it has notified its own queue")
	job, err := q.Job(ctx, enqueued.ID)
	require.NoError(t, err)
	require.Equal(t, queue.StateCanceled, job.State)
}

func TestAQueueDoesNotHearTheOneInAnotherSchema(t *testing.T) {
	h := newHouse(t)
	other := house{dsn: h.dsn, own: h.own, schema: schemaIn(t, dbtest.PostgresDSN(t))}
	one, two := newQueueIn(t, h), newQueueIn(t, other)
	listens, ok := driver.As[driver.Notifier](h.open(t, h.schema).Driver())
	require.True(t, ok)
	ctx, stop := context.WithCancel(t.Context())
	woken, ended := make(chan struct{}, 9), make(chan error)
	go func() { ended <- listens.Listen(ctx, func() { woken <- struct{}{} }) }()
	<-woken // it listens
	// The notification of a transaction of pgx comes with its commit.
	for _, q := range []*queue.Queue{two, one} {
		pool, err := pgxpool.New(t.Context(), h.dsn)
		require.NoError(t, err)
		tx, err := pool.Begin(t.Context())
		require.NoError(t, err)
		_, err = q.EnqueueTx(t.Context(), postgres.Tx(tx), tick.New(1, nil))
		require.NoError(t, err)
		require.NoError(t, tx.Commit(t.Context()))
		pool.Close()
	}
	<-woken
	stop()
	require.NoError(t, <-ended)
	require.Empty(t, woken, "one of the other queue was heard as well")
}

func TestASchemaThatIsMissing(t *testing.T) {
	h := newHouse(t)
	db := h.open(t, "missing_schema")
	require.ErrorContains(t, queue.Migrate(t.Context(), db),
		"there is no schema missing_schema: run CREATE SCHEMA missing_schema")
	_, err := queue.Migrations(t.Context(), db)
	require.NoError(t, err)
	q, err := queue.New(db, nil)
	require.NoError(t, err)
	_, err = q.Enqueue(t.Context(), tick.New(1, nil))
	require.ErrorContains(t, err, "call queue.Migrate first")
	_, err = postgres.Open(t.Context(), h.dsn, &postgres.Config{Schema: "No-Schema"})
	require.ErrorContains(t, err, `postgres: Config.Schema is "No-Schema"; it must be of lower-case letters`)
}

// The tables are there, and the role may not read them: to migrate is no remedy.
func TestARoleWithoutRightsIsSentToTheGrants(t *testing.T) {
	h := newHouse(t)
	newQueueIn(t, h)
	for _, grant := range []string{"", `GRANT USAGE ON SCHEMA :"schema" TO :"role"`} {
		q := h.granted(t, grant)
		_, err := queueadmin.Doctor(t.Context(), q)
		require.ErrorContains(t, err, "permission denied for ")
		require.NotContains(t, err.Error(), "call queue.Migrate first")
		_, err = q.Enqueue(t.Context(), tick.New(1, nil))
		require.ErrorContains(t, err, "(grant its role what it needs: see the files of queue/postgres/grants)")
		checker, ok := driver.As[driver.TableChecker](q.DB().Driver())
		require.True(t, ok)
		require.ErrorContains(t, checker.CheckTables(t.Context()), "permission denied for ")
	}
}

// What Migrate has made in the schema goes; the schema, and what the program has in others, stay.
func TestUninstallInASchema(t *testing.T) {
	h := newHouse(t)
	q := newQueueIn(t, h)
	count := func() (n int) {
		t.Helper()
		require.NoError(t, q.DB().Reader().Get(&n, `
SELECT (SELECT COUNT(*) FROM pg_class WHERE relnamespace = $1::regnamespace)
  + (SELECT COUNT(*) FROM pg_proc WHERE pronamespace = $1::regnamespace)`, h.schema))
		return n
	}
	require.Greater(t, count(), 50)
	owns := h.open(t, "")
	calls := func(schema string) {
		run(t, owns, "CREATE OR REPLACE FUNCTION order_mail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM "+
			schema+".job_enqueue('mail'); RETURN NEW; END $$")
	}
	calls(h.schema)
	require.ErrorContains(t, queueadmin.Uninstall(t.Context(), q.DB(), nil), "the function order_mail() calls job_enqueue")
	calls("another")
	require.NoError(t, queueadmin.Uninstall(t.Context(), q.DB(), nil))
	require.Zero(t, count())
	run(t, h.open(t, ""), "INSERT INTO jobs (title) VALUES ('still there')")
	require.ErrorContains(t, queueadmin.Uninstall(t.Context(), q.DB(), nil), "nothing is removed")
}
