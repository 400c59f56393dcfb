package sqlite_test

import (
	"context"
	"database/sql"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
)

// A text without a statement does nothing, in a transaction too.
func TestTextsWithoutAStatement(t *testing.T) {
	db := openMemory(t)
	for _, text := range []string{"", " \n", ";", "-- nothing", "/* nothing */", "-- a\n;", "SELECT 1 -- b", "\x00"} {
		require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			_, err := tx.ExecContext(ctx, text)
			require.NoError(t, err, text)
			rows, err := tx.QueryContext(ctx, text)
			require.NoError(t, err, text)
			require.NoError(t, rows.Close())
			var n int
			if err := tx.QueryRowContext(ctx, text).Scan(&n); text != "SELECT 1 -- b" {
				require.ErrorIs(t, err, sql.ErrNoRows, text)
			}
			return nil
		}), text)
	}
}
