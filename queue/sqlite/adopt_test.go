package sqlite_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/sqlite"
)

const joined queue.Type[int] = "joined"

// A transaction that cannot write the queue's database well is refused, with what to do.
func TestTransactionsThatDoNotFit(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "test.db")
	db := openPath(t, path, nil)
	require.NoError(t, queue.Migrate(t.Context(), db))
	memory := openMemory(t)
	require.NoError(t, queue.Migrate(t.Context(), memory))
	for name, c := range map[string]struct {
		db   *sqlite.DB
		pool string
		want string
	}{
		"without foreign keys": {db, path + "?_txlock=immediate", "_foreign_keys=1"},
		"another file":         {db, filepath.Join(folder, "other.db") + "?_foreign_keys=1", "other.db"},
		"a memory of its own":  {db, ":memory:", "in memory"},
		"which reads alone":    {db, path + "?_query_only=1&_foreign_keys=1", "may only read"},
		"beside memory":        {memory, path + "?_foreign_keys=1", "DB.Write"},
		"the same":             {db, path + "?_txlock=immediate&_foreign_keys=1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			q, err := queue.New(c.db, nil)
			require.NoError(t, err)
			pool, err := sql.Open(sqlite.DriverName, c.pool)
			require.NoError(t, err)
			defer func() { require.NoError(t, pool.Close()) }()
			tx, err := pool.BeginTx(t.Context(), nil)
			require.NoError(t, err)
			defer func() { require.NoError(t, tx.Rollback()) }()
			_, err = q.EnqueueTx(t.Context(), tx, joined.New(1, nil))
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
		})
	}
}
