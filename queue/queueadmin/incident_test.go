package queueadmin_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

// found is the finding about a topic; the test fails if there is none, or more than one.
func found(t *testing.T, q *queue.Queue, topic queueadmin.Topic) queueadmin.Finding {
	t.Helper()
	findings, err := queueadmin.Doctor(t.Context(), q)
	require.NoError(t, err)
	var about []queueadmin.Finding
	for _, f := range findings {
		if f.Topic == topic {
			about = append(about, f)
		}
	}
	require.Len(t, about, 1, findings)
	return about[0]
}

func TestDoctorFindsATypeThatFails(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := queueOn(t, db)
		for range 10 {
			enqueue(t, q, &queue.Options{MaxAttempts: 1})
		}
		work(t, q, func(context.Context, *queue.Work[int]) error { return errBroken })
		f := found(t, q, queueadmin.TopicFailing)
		require.Equal(t, "ping", f.Subject)
		require.Contains(t, f.String(), "problem: type ping fails: 10 of the last 10 jobs, since ")
		for range 11 {
			enqueue(t, q, nil)
		}
		work(t, q, func(context.Context, *queue.Work[int]) error { return nil })
		require.NotContains(t, doctor(t, q), "type ping fails")
	})
}

func TestDoctorFindsPausesAndLimitsThatHoldJobsBack(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := queueOn(t, db)
		ctx := t.Context()
		require.NoError(t, q.Pause(ctx, queue.ForType(ping)))
		require.NotContains(t, doctor(t, q), "paused", "no job waits")
		enqueue(t, q, nil)
		f := found(t, q, queueadmin.TopicPaused)
		require.Equal(t, "type ping: paused, and 1 jobs wait", f.Text)
		require.Equal(t, queue.ForType(ping), queue.Target{Kind: f.Kind, Name: f.Subject})
		require.NoError(t, q.Resume(ctx, queue.ForType(ping)))

		for _, limited := range []struct {
			target queue.Target
			words  string
		}{
			{queue.ForKeyPrefix("gmail:"), "limit keys that begin with gmail:"}, {queue.ForKey("gmail:ada"), "limit key gmail:ada"},
		} {
			require.NoError(t, q.SetLimit(ctx, limited.target, queue.Limit{MaxRunning: 1}))
			for range 11 {
				enqueue(t, q, &queue.Options{LimitKey: "gmail:ada"})
			}
			claimAs(t, q, "worker")
			f = found(t, q, queueadmin.TopicLimit)
			require.Contains(t, f.Text, limited.words+": 1 of at most 1 run, and ")
		}
	})
}

// Jobs with limit keys are kept apart, on PostgreSQL also while there are no limits.
func TestDoctorFindsWhatHoldsBackJobsWithLimitKeys(t *testing.T) {
	for _, limit := range []queue.Limit{{}, {MaxRunning: 1}} {
		dbtest.Each(t, func(t *testing.T, db queue.DB) {
			ctx, q := t.Context(), queueOn(t, db)
			if limit != (queue.Limit{}) {
				require.NoError(t, q.SetLimit(ctx, queue.ForKey("ada"), limit))
			}
			for range 2 {
				enqueue(t, q, &queue.Options{LimitKey: "ada"})
			}
			require.NoError(t, q.Pause(ctx, queue.ForType(ping)))
			require.Equal(t, "type ping: paused, and 2 jobs wait", found(t, q, queueadmin.TopicPaused).Text)
			require.NoError(t, q.Resume(ctx, queue.ForType(ping)))

			_, err := db.Driver().Heartbeat(ctx, driver.HeartbeatRequest{WorkerID: "one", First: true,
				Types: []string{"other"}, Now: time.Now()})
			require.NoError(t, err)
			require.Contains(t, found(t, q, queueadmin.TopicType).Text,
				"type ping: 2 jobs are due, and no worker that is alive has a handler for it")
			_, err = db.Driver().Heartbeat(ctx, driver.HeartbeatRequest{WorkerID: "one", First: true, Types: []string{"ping"},
				Now: time.Now()})
			require.NoError(t, err)
			execute(t, q, "UPDATE jobs SET not_before = '2026-01-01T00:00:00.000000Z' WHERE state = 'queued'")
			if text := doctor(t, q); limit == (queue.Limit{}) {
				require.Contains(t, text, "warning: type ping: 2 jobs are due, the oldest for ")
			} else {
				require.NotContains(t, text, "the oldest for ", "they wait for the limit")
			}
		})
	}
}

func TestDoctorFindsJobsThatRunForLong(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := queueOn(t, db)
		enqueue(t, q, nil)
		work(t, q, func(context.Context, *queue.Work[int]) error { return nil })
		id := enqueue(t, q, nil)
		claimAs(t, q, "worker")
		require.NotContains(t, doctor(t, q), "runs for")
		execute(t, q, fmt.Sprintf("UPDATE jobs SET started_at = '%s' WHERE id = '%s'",
			time.Now().Add(-5*time.Hour).UTC().Format("2006-01-02T15:04:05.000000Z"), id))
		f := found(t, q, queueadmin.TopicJob)
		require.Contains(t, f.Text, "job "+id+" (ping) runs for 5h0m")
		require.Contains(t, f.Text, "; 95 % of its type take at most ")
		require.Equal(t, id, f.Subject)
	})
}

func TestDoctorFindsJobsWhoseWorkersDie(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := queueOn(t, db)
		id := enqueue(t, q, nil)
		for n := range 2 {
			execute(t, q, "UPDATE jobs SET not_before = created_at, hold = 0")
			worker := fmt.Sprint("worker-", n)
			require.Len(t, claimAs(t, q, worker), 1)
			released, err := q.ReleaseWorker(t.Context(), worker)
			require.NoError(t, err)
			require.Equal(t, 1, released)
		}
		f := found(t, q, queueadmin.TopicJob)
		require.Equal(t, "job "+id+" (ping) has been running at the death of 2 workers", f.Text)
		released, err := q.ReleaseWorker(t.Context(), "unknown")
		require.NoError(t, err)
		require.Zero(t, released)
	})
}

// A database that cannot be written is examined all the same.
func TestDoctorGoesOnWhereNothingCanBeWritten(t *testing.T) {
	db := dbtest.SQLite(t)
	require.NoError(t, queue.Migrate(t.Context(), db))
	q := on(t, queue.NewDB(&readOnly{Driver: db.Driver()}), nil)
	_, err := on(t, db, nil).Enqueue(t.Context(), queue.NewJob{Type: "unknown"})
	require.NoError(t, err)
	require.Contains(t, doctor(t, q), "problem: nothing can be written: the disk is full")
	require.Contains(t, doctor(t, q), "ok: jobs: 1 queued")
}

// A readOnly is a database that refuses writes.
type readOnly struct{ driver.Driver }

func (d *readOnly) Unwrap() driver.Driver { return d.Driver }

func (d *readOnly) Write(context.Context, func(ctx context.Context, tx driver.Tx) error) error {
	return errors.New("the disk is full")
}

// A slow is a database whose writes take long, by its own clock.
type slow struct {
	driver.Driver

	at time.Time
}

func (d *slow) Unwrap() driver.Driver { return d.Driver }
func (d *slow) Now() time.Time        { return d.at }

func (d *slow) Write(ctx context.Context, fn func(ctx context.Context, tx driver.Tx) error) error {
	d.at = d.at.Add(800 * time.Millisecond)
	return d.Driver.Write(ctx, fn)
}

func TestDoctorFindsASlowDatabase(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		q := on(t, queue.NewDB(&slow{Driver: db.Driver(), at: time.Now()}), nil)
		require.Contains(t, doctor(t, q),
			"warning: the database is slow: a write transaction that writes nothing takes 800ms")
		require.NotContains(t, doctor(t, on(t, db, nil)), "slow")
	})
}

// A server is asked to write: a transaction in which nothing is asked for never reaches it.
func TestDoctorHasTheServerWrite(t *testing.T) {
	db := dbtest.Postgres(t)
	w := &writing{Driver: db.Driver()}
	doctor(t, on(t, queue.NewDB(w), nil))
	require.True(t, w.written)
}

// A writing notes whether a transaction has written.
type writing struct {
	driver.Driver

	written bool
}

func (d *writing) Unwrap() driver.Driver { return d.Driver }

func (d *writing) Write(ctx context.Context, fn func(ctx context.Context, tx driver.Tx) error) error {
	return d.Driver.Write(ctx, func(ctx context.Context, tx driver.Tx) error {
		if err := fn(ctx, tx); err != nil {
			return err
		}
		var written bool
		err := tx.QueryRowContext(ctx, "SELECT pg_current_xact_id_if_assigned() IS NOT NULL").Scan(&written)
		d.written = d.written || written
		return err
	})
}
