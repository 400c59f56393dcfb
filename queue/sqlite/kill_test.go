package sqlite_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/jobtree"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/sqlite"
)

func TestMain(m *testing.M) { jobtree.Main(m, openWorkload) }

func openWorkload(ctx context.Context, path string) (queue.DB, error) {
	return sqlite.Open(ctx, path, &sqlite.Config{Durability: sqlite.Normal})
}

func TestKilledProcessesLoseAndDoubleNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobtree.db")
	jobtree.Kill(t, openWorkload, path)
	requireSound(t, openPath(t, path, nil))
}

func requireSound(t *testing.T, db *sqlite.DB) {
	t.Helper()
	var check string
	require.NoError(t, db.Reader().Get(&check, "PRAGMA integrity_check"))
	require.Equal(t, "ok", check)
}
