package queueadmin_test

import (
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

func TestDoctor(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		drv := db.(driver.Driver)
		q := on(t, drv, nil)
		beat := func(worker string, at time.Time) {
			_, err := drv.Heartbeat(t.Context(), driver.HeartbeatRequest{WorkerID: worker, First: true, Now: at})
			require.NoError(t, err)
		}
		text := doctor(t, q)
		require.Contains(t, text, map[driver.Dialect]string{driver.SQLite: "ok: SQLite 3.", driver.Postgres: "ok: PostgreSQL "}[db.Dialect()])
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
