package queueadmin_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

func doctor(t *testing.T, q *queue.Queue) string {
	t.Helper()
	findings, err := queueadmin.Doctor(t.Context(), q)
	require.NoError(t, err)
	lines := make([]string, len(findings))
	for i, f := range findings {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

// Workers are alive, and none of them can run the jobs.
func TestDoctorFindsTypesWithoutAHandler(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		q := on(t, db, nil)
		beat := func(worker string, types ...string) {
			for _, first := range []bool{true, false} {
				_, err := db.Driver().Heartbeat(t.Context(), driver.HeartbeatRequest{WorkerID: worker, First: first,
					Types: types, Now: time.Now()})
				require.NoError(t, err)
			}
		}
		enqueue(t, q, nil)
		const finding = "problem: type ping: 1 jobs are due, and no worker that is alive has a handler for it " +
			"(run a Dispatcher that has one, or cancel the jobs)"
		require.NotContains(t, doctor(t, q), "has a handler", "nobody is alive, which is said")
		beat("one", "pong")
		beat("two", "other")
		require.Contains(t, doctor(t, q), finding)
		beat("three", "other", "ping")
		require.NotContains(t, doctor(t, q), "has a handler")
	})
}

func TestDoctor(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		drv := db.Driver()
		q := on(t, db, nil)
		beat := func(worker string, at time.Time) {
			_, err := drv.Heartbeat(t.Context(), driver.HeartbeatRequest{WorkerID: worker, First: true, Now: at})
			require.NoError(t, err)
		}
		text := doctor(t, q)
		require.Contains(t, text, map[driver.Dialect]string{driver.SQLite: "ok: SQLite 3.",
			driver.Postgres: "ok: PostgreSQL "}[db.Dialect()])
		require.Contains(t, text, "warning: no worker is alive (run a Dispatcher on this database)")
		require.Contains(t, text, "ok: all invariants hold")
		require.NotContains(t, text, "problem")

		beat("alive", time.Now())
		beat("dead", time.Now().Add(-time.Hour))
		enqueue(t, q, nil)
		execute(t, q, "UPDATE jobs SET not_before = '2026-01-01T00:00:00.000000Z'")
		text = doctor(t, q)
		require.Contains(t, text, "ok: 1 workers are alive")
		require.Contains(t, text, "warning: worker dead gave its last sign of life at ")
		require.Contains(t, text, "ok: jobs: 1 queued, 0 running, 0 completed, 0 failed, 0 canceled")
		require.Contains(t, text, "warning: type ping: 1 jobs are due, the oldest for ")

		execute(t, q, "UPDATE jobs SET state = 'failed'")
		require.Contains(t, doctor(t, q), "problem: ")
	})
}

// A move that was interrupted has left jobs that no dispatcher runs.
func TestJobsOfAnInterruptedMoveAreFound(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := queueOn(t, db)
		id := enqueue(t, q, nil)
		require.NotContains(t, doctor(t, q), "held")
		require.NoError(t, driver.Write(t.Context(), db, func(ctx context.Context, tx *driver.WriteTx) error {
			_, err := movableOf(q).HoldJobs(ctx, tx, 10)
			return err
		}))
		text := doctor(t, q)
		require.Contains(t, text, "ok: jobs: 1 queued, 0 running")
		require.Contains(t, text, "warning: 1 jobs are held by a move to or from another database, the first is "+id+
			" (they do not run until it has ended: if no queueadmin.Move runs, call it again with the same two databases)")
		require.Contains(t, causes(explain(t, q, id)), queueadmin.CauseMoving)

		d, err := queue.NewDispatcher(q, nil)
		require.NoError(t, err)
		queue.Handle(d, ping, func(context.Context, *queue.Work[int]) error { return nil })
		found, err := queueadmin.CheckProgram(t.Context(), d)
		require.NoError(t, err)
		require.Empty(t, found)
	})
}
