package sqlite_test

import (
	"database/sql"
	"path/filepath"
	"testing"
	"time"

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

// The queue's statements mean the same in a program's own transaction, whose pool would bind $2 before $1.
func TestParametersInAnAdoptedTransaction(t *testing.T) {
	for name, cfg := range map[string]*sqlite.Config{"plain": nil, "prefix": {TablePrefix: "mail_"}} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "test.db")
			db := openPath(t, path, cfg)
			pool, err := sql.Open(sqlite.DriverName, path+"?_txlock=immediate&_foreign_keys=1")
			require.NoError(t, err)
			defer func() { require.NoError(t, pool.Close()) }()
			tx, err := pool.BeginTx(t.Context(), nil)
			require.NoError(t, err)
			defer func() { require.NoError(t, tx.Rollback()) }()
			w, err := db.Driver().Adopt(t.Context(), tx, time.Now())
			require.NoError(t, err)
			var read string
			require.NoError(t, w.QueryRowContext(t.Context(), "SELECT $2 || $1", "b", "a").Scan(&read))
			require.Equal(t, "ab", read)
			rows, err := w.QueryContext(t.Context(), "SELECT $2 || $1", "d", "c")
			require.NoError(t, err)
			require.True(t, rows.Next())
			require.NoError(t, rows.Scan(&read))
			require.Equal(t, "cd", read)
			require.NoError(t, rows.Close())
			_, err = w.ExecContext(t.Context(), "CREATE TABLE pairs (a TEXT, b TEXT CHECK (a < b))")
			require.NoError(t, err)
			_, err = w.ExecContext(t.Context(), "INSERT INTO pairs (b, a) VALUES ($2, $1)", "a", "b")
			require.NoError(t, err)
		})
	}
}
