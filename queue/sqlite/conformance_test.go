package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver/drivertest"
	"github.com/postroom-go/postroom/queue/sqlite"
)

func openFile(t testing.TB, cfg *sqlite.Config) *sqlite.DB {
	t.Helper()
	return openPath(t, filepath.Join(t.TempDir(), "test.db"), cfg)
}

func openPath(t testing.TB, path string, cfg *sqlite.Config) *sqlite.DB {
	t.Helper()
	db, err := sqlite.Open(t.Context(), path, cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

func openMemory(t testing.TB) *sqlite.DB {
	t.Helper()
	db, err := sqlite.OpenMemory(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

func TestDriverOnFile(t *testing.T) {
	drivertest.Run(t, func(t *testing.T) queue.DB {
		return openFile(t, &sqlite.Config{Durability: sqlite.Normal, SingleProcess: true})
	})
}

func TestDriverInMemory(t *testing.T) {
	drivertest.Run(t, func(t *testing.T) queue.DB { return openMemory(t) })
}
