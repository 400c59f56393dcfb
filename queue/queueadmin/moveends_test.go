package queueadmin_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

// A database that is copied to itself keeps what it has.
func TestMoveRefusesToMoveADatabaseToItself(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := queueOn(t, db)
		id := enqueue(t, q, nil)
		set(t, q, daily(""))
		_, err := queueadmin.Move(t.Context(), db, db, nil)
		require.ErrorIs(t, err, queueadmin.ErrSameDatabase)
		require.EqualError(t, err, "queueadmin: move: the old and the new database are the same")
		require.Equal(t, queue.StateQueued, job(t, q, id).State)
		require.False(t, schedule(t, q, "daily").NextAt.IsZero())
		workers, err := q.DB().Driver().Workers(t.Context())
		require.NoError(t, err)
		require.Empty(t, workers)
	})
}
