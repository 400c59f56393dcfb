package activity

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

// What was done in a time, and what models decided, is read by its index, however much there was before.
func TestActivityIsReadByIndexes(t *testing.T) {
	db := dbtest.SQLite(t)
	files, err := filepath.Glob("../migrations/sqlite/*.sql")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			_, err := tx.ExecContext(ctx, string(text))
			return err
		}))
	}
	at := dbtime.Of(time.Now())
	first := func(query string, args ...any) string {
		var plan []struct {
			ID, Parent, NotUsed int
			Detail              string
		}
		require.NoError(t, dbquery.Select(t.Context(), db.Reader(), &plan, "EXPLAIN QUERY PLAN "+query, args...))
		return plan[0].Detail
	}
	require.Contains(t, first(countDone, "account-1", at, at),
		"SEARCH a USING INDEX actions_ended (account_id=? AND ended_at>? AND ended_at<?)")
	require.Contains(t, first(listOfModels, "account-1", at, 2000),
		"SEARCH d USING INDEX decisions_models (account_id=? AND created_at>?)")
}
