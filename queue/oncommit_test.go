package queue_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

func TestOnCommit(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		var called []string
		write := func(name string, err error) {
			require.ErrorIs(t, db.Write(t.Context(), func(_ context.Context, tx queue.Tx) error {
				require.True(t, queue.OnCommit(tx, func() { called = append(called, name) }))
				require.Empty(t, called)
				return err
			}), err)
		}
		write("undone", errors.New("no"))
		require.Empty(t, called)
		write("done", nil)
		require.Equal(t, []string{"done"}, called)

		tx, err := db.Reader().BeginTxx(t.Context(), nil)
		require.NoError(t, err)
		require.False(t, queue.OnCommit(tx, func() { t.Error("it is not the queue's") }))
		require.NoError(t, tx.Rollback())
	})
}
