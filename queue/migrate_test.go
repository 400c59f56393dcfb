package queue_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

func TestMigrate(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		require.NoError(t, queue.Migrate(t.Context(), db), "a second run changes nothing")
		var version int
		require.NoError(t, db.Reader().Get(&version, "SELECT MAX(version) FROM postroom_migrations WHERE package = 'queue'"))
		require.Equal(t, map[driver.Dialect]int{driver.SQLite: 3, driver.Postgres: 5}[db.Dialect()], version)
	})
}

func TestWhoeverForgetsToMigrateIsTold(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := on(t, db.Driver(), nil)
		hint := map[driver.Dialect]string{
			driver.SQLite:   "(the queue's tables are not here: call queue.Migrate first)",
			driver.Postgres: "(the queue's tables are not here: call queue.Migrate first, or correct the connection's search_path)",
		}[db.Dialect()]
		_, err := q.Enqueue(t.Context(), ping.New(1, nil))
		require.ErrorContains(t, err, hint)
		_, err = q.Jobs(t.Context(), queue.Filter{})
		require.ErrorContains(t, err, hint)
		require.ErrorContains(t, q.SetSchedule(t.Context(), daily("")), hint)
		_, err = q.Schedules(t.Context())
		require.ErrorContains(t, err, hint)
		d, err := queue.NewDispatcher(q, nil)
		require.NoError(t, err)
		queue.Handle(d, ping, func(context.Context, *queue.Work[int]) error { return nil })
		require.ErrorContains(t, d.Run(t.Context()), hint)
	})
}
