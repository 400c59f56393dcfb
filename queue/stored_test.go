package queue_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/postgres"
	"github.com/postroom-go/postroom/queue/queueadmin"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// A database that version 0.1 has written is carried on: it is migrated, its jobs run, and what was stored is found
// again.
func TestAStoredDatabaseIsCarriedOn(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		stored, err := os.ReadFile("testdata/0.1.sqlite")
		require.NoError(t, err)
		path := filepath.Join(t.TempDir(), "stored.db")
		require.NoError(t, os.WriteFile(path, stored, 0o600))
		db, err := sqlite.Open(t.Context(), path, nil)
		require.NoError(t, err)
		defer func() { require.NoError(t, db.Close()) }()
		carriesOn(t, db)
	})
	t.Run("postgres", func(t *testing.T) {
		stored, err := os.ReadFile("testdata/0.1.postgres.sql")
		require.NoError(t, err)
		db, err := postgres.Open(t.Context(), dbtest.PostgresDSN(t), nil)
		require.NoError(t, err)
		defer func() { require.NoError(t, db.Close()) }()
		require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			_, err := tx.ExecContext(ctx, string(stored))
			return err
		}))
		carriesOn(t, db)
	})
}

func carriesOn(t *testing.T, db queue.DB) {
	t.Helper()
	require.NoError(t, queue.Migrate(t.Context(), db))
	q, err := queue.New(db, &queue.Config{Retention: queue.Retention{Keep: queue.Keep{Completed: -1, Failed: -1}}})
	require.NoError(t, err)
	d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{Exclusive: true})
	require.NoError(t, err)
	ran := make(chan int, 10)
	handler := func(ctx context.Context, w *queue.Work[int]) error {
		if w.Payload == 5 { // its worker has died between two steps
			page, ok, err := queue.Cursor[int](ctx, w, "pages")
			require.NoError(t, err)
			require.True(t, ok)
			require.Equal(t, 12, page)
			price, err := queue.Step(ctx, w, "price", func(context.Context) (int, error) { return 0, errBroken })
			require.NoError(t, err)
			require.Equal(t, 43, price)
		}
		ran <- w.Payload
		return nil
	}
	queue.Handle(d, ping, handler)
	queue.Handle(d, pong, handler)
	ctx, cancel := context.WithCancel(t.Context())
	stopped := make(chan error, 1)
	go func() { stopped <- d.Run(ctx) }()
	var all []int
	for range 5 {
		select {
		case payload := <-ran:
			all = append(all, payload)
		case <-time.After(time.Minute):
			require.Failf(t, "jobs do not run", "of 3, 5, 6, 7 and 8 only %v have", all)
		}
	}
	cancel()
	require.NoError(t, <-stopped)
	require.ElementsMatch(t, []int{3, 5, 6, 7, 8}, all)
	findsWhatWasStored(t, q)
}

func findsWhatWasStored(t *testing.T, q *queue.Queue) {
	t.Helper()
	counts, err := q.Counts(t.Context(), queue.Filter{})
	require.NoError(t, err)
	require.Equal(t, map[queue.State]int{queue.StateCompleted: 6, queue.StateFailed: 1, queue.StateQueued: 2}, counts)
	found, err := q.Jobs(t.Context(), queue.Filter{Tags: []string{"stored"}})
	require.NoError(t, err)
	require.Len(t, found, 1)
	result, err := queue.Result[int](&found[0])
	require.NoError(t, err)
	require.Equal(t, 7, result)
	lines, err := q.Logs(t.Context(), found[0].ID)
	require.NoError(t, err)
	require.Len(t, lines, 1)
	again, err := q.Enqueue(t.Context(), ping.New(1, &queue.Options{Key: queue.Forever("once")}))
	require.NoError(t, err)
	require.Equal(t, queue.EnqueueResult{ID: found[0].ID, Duplicate: true}, again)
	limits, err := q.Limits(t.Context())
	require.NoError(t, err)
	require.Len(t, limits, 2)
	schedules, err := q.Schedules(t.Context())
	require.NoError(t, err)
	require.Len(t, schedules, 1)
	require.NoError(t, q.ResumeSchedule(t.Context(), schedules[0].Name))
	broken, err := queueadmin.Verify(t.Context(), q)
	require.NoError(t, err)
	require.Empty(t, broken)
}

func TestADatabaseFromBeforeTheFirstVersionIsRefused(t *testing.T) {
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "old.db"), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, `
CREATE TABLE postroom_migrations (package TEXT NOT NULL, version INTEGER NOT NULL, name TEXT NOT NULL, PRIMARY KEY (package, version));
INSERT INTO postroom_migrations VALUES ('queue', 1, '0001_queue.sql'), ('queue', 2, '0002_schedules.sql'), ('queue', 3, '0003_moves.sql')`)
		return err
	}))
	require.EqualError(t, queue.Migrate(t.Context(), db),
		"migrate queue: this database was made by a version before 0.1, "+
			"which this program cannot carry on: finish or export its work with that version, then start with a new database")
}
