package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/sqlite"
)

// SQLite numbers $1, $2, … in the order in which they first appear.
func TestReaderBindsParametersByNumber(t *testing.T) {
	file, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "test.db"), nil)
	require.NoError(t, err)
	memory, err := sqlite.OpenMemory(t.Context())
	require.NoError(t, err)
	const text = "SELECT $2 || $1 || $2"
	for name, db := range map[string]*sqlite.DB{"file": file, "memory": memory} {
		t.Run(name, func(t *testing.T) {
			defer func() { require.NoError(t, db.Close()) }()
			var got string
			require.NoError(t, db.Reader().GetContext(t.Context(), &got, text, "a", "b"))
			require.Equal(t, "bab", got, "a query")

			tx, err := db.Reader().BeginTxx(t.Context(), nil)
			require.NoError(t, err)
			require.NoError(t, tx.GetContext(t.Context(), &got, text, "c", "d"))
			require.NoError(t, tx.Rollback())
			require.Equal(t, "dcd", got, "a transaction")

			prepared, err := db.Reader().PreparexContext(t.Context(), text)
			require.NoError(t, err)
			require.NoError(t, prepared.GetContext(t.Context(), &got, "e", "f"))
			require.NoError(t, prepared.Close())
			require.Equal(t, "fef", got, "a prepared statement")

			require.NoError(t, db.Reader().GetContext(t.Context(), &got, "SELECT ? || '$2'", "g"))
			require.Equal(t, "g$2", got)
			_, err = db.Reader().ExecContext(t.Context(), "SELECT $1; SELECT $1", 1)
			require.ErrorContains(t, err, "several statements")
		})
	}
}
