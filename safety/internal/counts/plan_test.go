package counts

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// What limits decisions and actions is counted by indexes, within a time or a state, however many there were before.
func TestWhatIsCountedForEachActionIsFoundByAnIndex(t *testing.T) {
	db := dbtest.SQLite(t)
	files, err := filepath.Glob("../../migrations/sqlite/*.sql")
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
	kinds := []postroom.ActionType{postroom.Archive, postroom.Trash}
	for _, c := range []struct {
		statement, index string
		args             []any
	}{
		{countAlone, "decisions_alone (account_id=? AND source=? AND action_type=? AND created_at>?)",
			[]any{"a", []postroom.Source{postroom.SourceModel}, kinds, "x", 9}},
		{countBySender, "decisions_account (account_id=? AND created_at>?)", []any{kinds, "a", "x"}},
		{countFailed, "actions_failed (account_id=? AND updated_at>?)", []any{"a", "llm", "x", 9}},
		{countUndone, "action_links_created (created_at>?)", []any{"a", "llm", "x", 9}},
		{selectSource, "sqlite_autoindex_decisions_1 (id=?)", []any{"d"}},
	} {
		query, args, err := sqlx.In("EXPLAIN QUERY PLAN "+c.statement, c.args...)
		require.NoError(t, err)
		var plan []struct {
			ID, Parent, NotUsed int
			Detail              string
		}
		require.NoError(t, dbquery.Select(t.Context(), db.Reader(), &plan, query, args...))
		var steps []string
		for _, step := range plan {
			if step.Detail != "SCAN alone" && step.Detail != "SCAN failed" && step.Detail != "SCAN undone" {
				steps = append(steps, step.Detail)
			}
		}
		require.Contains(t, strings.Join(steps, "\n"), c.index)
		require.NotContains(t, strings.Join(steps, "\n"), "SCAN ")
	}
}
