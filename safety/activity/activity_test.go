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

// What was done in a time is read by the index of ends, however much there was before.
func TestDoneReadsWhatEnded(t *testing.T) {
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
	var plan []struct {
		ID, Parent, NotUsed int
		Detail              string
	}
	at := dbtime.Of(time.Now())
	require.NoError(t, dbquery.Select(t.Context(), db.Reader(), &plan, "EXPLAIN QUERY PLAN "+countDone, "account-1", at,
		at))
	require.Contains(t, plan[0].Detail, "SEARCH a USING INDEX actions_ended (account_id=? AND ended_at>? AND ended_at<?)")
}
