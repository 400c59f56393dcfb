package queue_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

// A program that has a table jobs of its own, and has not called Migrate, learns from Enqueue what Migrate would say.
func TestEnqueueBesideAForeignTable(t *testing.T) {
	dbtest.EachEmpty(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx driver.Tx) error {
			_, err := tx.ExecContext(ctx, "CREATE TABLE jobs (id TEXT, title TEXT)")
			return err
		}))
		q, err := queue.New(db, nil)
		require.NoError(t, err)
		for _, opts := range []*queue.Options{nil, {LimitKey: "k"}} {
			_, err = q.Enqueue(t.Context(), ping.New(1, opts))
			require.ErrorIs(t, err, driver.ErrForeignTables)
			require.ErrorContains(t, err, "give the queue a database, or a schema, of its own")
			require.NotContains(t, err.Error(), "search_path")
		}
		require.ErrorContains(t, queue.Migrate(t.Context(), db), "the database has a table jobs already")
	})
}
