package queue_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

func TestMigrate(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		require.NoError(t, queue.Migrate(t.Context(), db), "a second run changes nothing")
		var version int
		require.NoError(t, db.Reader().Get(&version, "SELECT MAX(version) FROM postroom_migrations WHERE room = 'queue'"))
		require.Equal(t, 2, version)
	})
}
