package sqlite_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/costtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
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

// The tables have a prefix, and the program's own table jobs is another.
func TestDriverWithAPrefix(t *testing.T) {
	costtest.SkipUnderRace(t)
	drivertest.RunEvery(t, 2, func(t *testing.T) queue.DB {
		db := openFile(t, &sqlite.Config{Durability: sqlite.Normal, SingleProcess: true, TablePrefix: "mail_"})
		require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx driver.Tx) error {
			_, err := tx.ExecContext(ctx, "CREATE TABLE jobs (title TEXT)")
			return err
		}))
		return db
	})
}
