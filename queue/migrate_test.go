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
		require.Equal(t, 3, version)
	})
}

func TestWhoeverForgetsToMigrateIsTold(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := on(t, db.(driver.Driver), nil)
		const hint = "(the queue's tables are not here: call queue.Migrate first)"
		_, err := q.Enqueue(t.Context(), ping.New(1, nil))
		require.ErrorContains(t, err, hint)
		_, err = q.Jobs(t.Context(), queue.Filter{})
		require.ErrorContains(t, err, hint)
		d, err := queue.NewDispatcher(q, nil)
		require.NoError(t, err)
		queue.Handle(d, ping, func(context.Context, *queue.Work[int]) error { return nil })
		require.ErrorContains(t, d.Run(t.Context()), hint)
	})
}
