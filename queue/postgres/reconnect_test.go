package postgres_test

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/postgres"
)

// machine opens a handle of its own on the database, under a name by which the server knows its connections.
func machine(t *testing.T, dsn, name string) *postgres.DB {
	t.Helper()
	db, err := postgres.Open(t.Context(), dbtest.With(t, dsn, "application_name", name), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// terminate ends all connections of that name and tells how many there were.
func terminate(t *testing.T, admin *postgres.DB, name string) (ended int) {
	t.Helper()
	require.NoError(t, admin.Reader().GetContext(t.Context(), &ended,
		"SELECT COUNT(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = $1", name))
	return ended
}

// Two machines work while the server ends all their connections, again and again: nothing is lost, and what a handler
// writes together with the end of its job is written once.
func TestNothingIsLostWithItsConnection(t *testing.T) {
	dsn := dbtest.PostgresDSN(t)
	admin := machine(t, dsn, "admin")
	require.NoError(t, queue.Migrate(t.Context(), admin))
	_, err := admin.Reader().ExecContext(t.Context(), "CREATE TABLE ran (n INTEGER PRIMARY KEY)")
	require.NoError(t, err)
	const jobs, blows = 600, 12
	name := "victim-" + t.Name()
	progress := make(chan struct{}, 2*jobs)
	ctx, stop := context.WithCancel(t.Context())
	var machines sync.WaitGroup
	for range 2 {
		q, err := queue.New(machine(t, dsn, name), nil)
		require.NoError(t, err)
		d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{PollInterval: 20 * time.Millisecond,
			Lease: 2 * time.Second})
		require.NoError(t, err)
		queue.Handle(d, count, func(ctx context.Context, w *queue.Work[int]) error {
			err := w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
				_, err := tx.ExecContext(ctx, "INSERT INTO ran (n) VALUES ($1)", w.Payload)
				return err
			})
			progress <- struct{}{}
			if err != nil {
				return queue.RetryAfter(err, 0)
			}
			return nil
		})
		machines.Go(func() { require.NoError(t, d.Run(ctx)) })
	}
	// A dispatcher that cannot begin gives up; one that has begun does not.
	waitFor(t, admin, "SELECT COUNT(*) FROM job_workers", 2)
	enqueuer, err := queue.New(machine(t, dsn, name), nil)
	require.NoError(t, err)
	machines.Go(func() {
		for i := 0; i < jobs && ctx.Err() == nil; {
			// Whether it was stored is not known after an error. The key makes it once, however often it is tried.
			job := count.New(i, &queue.Options{MaxAttempts: 1000, Key: queue.Forever(fmt.Sprint("n", i))})
			if _, err := enqueuer.Enqueue(ctx, job); err == nil {
				i++
			}
		}
	})
	ended := 0
	for range blows {
		for range jobs / blows / 2 {
			<-progress
		}
		ended += terminate(t, admin, name)
	}
	require.Greater(t, ended, blows)
	waitFor(t, admin, "SELECT COUNT(*) FROM jobs WHERE state = 'completed'", jobs)
	stop()
	machines.Wait()
	var ran int
	require.NoError(t, admin.Reader().Get(&ran, "SELECT COUNT(*) FROM ran"))
	require.Equal(t, jobs, ran)
}

// waitFor asks until the answer is want.
func waitFor(t *testing.T, db *postgres.DB, question string, want int) {
	t.Helper()
	var got int
	for tick := time.Tick(20 * time.Millisecond); ; {
		require.NoError(t, db.Reader().GetContext(t.Context(), &got, question))
		if got == want {
			return
		}
		select {
		case <-tick:
		case <-t.Context().Done():
			t.Fatalf("%s: %d, not %d", question, got, want)
		}
	}
}

// A listener whose connection is ended listens again, and hears then what other machines enqueue.
func TestListenerReconnects(t *testing.T) {
	dsn := dbtest.PostgresDSN(t)
	admin := machine(t, dsn, "admin")
	require.NoError(t, queue.Migrate(t.Context(), admin))
	name := "victim-" + t.Name()
	db := machine(t, dsn, name)
	ctx, stop := context.WithCancel(t.Context())
	woken := make(chan struct{}, 1000)
	ended := make(chan error, 1)
	go func() { ended <- db.Driver().Listen(ctx, func() { woken <- struct{}{} }) }()
	<-woken // it listens
	require.NotZero(t, terminate(t, admin, name))
	<-woken // it listens again
	drainWakes(woken)
	require.NoError(t, driver.Write(t.Context(), admin, admin.Driver().Notify))
	<-woken
	stop()
	require.NoError(t, <-ended)
}

// What another machine is to hear is told again when the connection it was to go by turns out to be lost.
func TestNewsOutliveTheirConnections(t *testing.T) {
	dsn := dbtest.PostgresDSN(t)
	admin := machine(t, dsn, "admin")
	name := "victim-" + t.Name()
	db := machine(t, dbtest.With(t, dsn, "pool_max_conns", "3"), name)
	ctx, stop := context.WithCancel(t.Context())
	woken := make(chan struct{}, 1000)
	ended := make(chan error, 1)
	go func() { ended <- admin.Driver().Listen(ctx, func() { woken <- struct{}{} }) }()
	<-woken // it listens
	held := make([]*sql.Conn, 3)
	for i := range held {
		var err error
		held[i], err = db.Reader().Conn(t.Context())
		require.NoError(t, err)
	}
	for _, conn := range held {
		require.NoError(t, conn.Close())
	}
	require.NoError(t, driver.Write(t.Context(), db, func(ctx context.Context, tx *driver.WriteTx) error {
		_,
			err := tx.ExecContext(ctx,
			"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 AND pid <> pg_backend_pid()",
			name)
		require.NoError(t, err)
		require.NoError(t, db.Driver().Notify(ctx, tx))
		// This connection, which lives, is not given back before.
		tx.OnCommit(func() { <-woken })
		return nil
	}))
	stop()
	require.NoError(t, <-ended)
}

func drainWakes(woken chan struct{}) {
	for {
		select {
		case <-woken:
		default:
			return
		}
	}
}

// What the driver would do later must not be done by itself when the transaction has failed.
func TestAFailedTransactionWritesNothing(t *testing.T) {
	db := openQueue(t)
	job := jobOf("a", 0)
	insertJobs(t, db, job)
	err := driver.Write(t.Context(), db, func(ctx context.Context, tx *driver.WriteTx) error {
		_, err := db.Driver().Insert(ctx, tx, []driver.InsertJob{job}) // the id is taken; that is known when it is sent
		require.NoError(t, err)
		_, err = tx.ExecContext(ctx, "CREATE TABLE written (n INTEGER)")
		require.ErrorContains(t, err, "jobs_pkey")
		require.Error(t, tx.QueryRowContext(ctx, "SELECT 1").Err())
		_, err = tx.ExecContext(ctx, "CREATE TABLE written (n INTEGER)")
		require.ErrorContains(t, err, "jobs_pkey")
		return nil // whoever does not look finds out
	})
	require.ErrorContains(t, err, "jobs_pkey")
	var there int
	require.NoError(t, db.Reader().Get(&there,
		"SELECT COUNT(*) FROM pg_class WHERE relname = 'written' AND relnamespace = current_schema()::regnamespace"))
	require.Zero(t, there)
}
