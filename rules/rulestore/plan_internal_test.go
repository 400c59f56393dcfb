package rulestore

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

// planOf returns the steps of a statement. PostgreSQL reads a small table as it stands, so it is told not to where it
// can do otherwise.
func planOf(t *testing.T, db queue.DB, statement string, args ...any) string {
	t.Helper()
	var lines []string
	require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		if db.Dialect() == driver.Postgres {
			if _, err := tx.ExecContext(ctx, "SET LOCAL enable_seqscan = off"); err != nil {
				return err
			}
			return dbquery.Select(ctx, tx, &lines, "EXPLAIN "+statement, args...)
		}
		var rows []struct {
			ID, Parent, NotUsed int
			Detail              string
		}
		err := dbquery.Select(ctx, tx, &rows, "EXPLAIN QUERY PLAN "+statement, args...)
		for _, row := range rows {
			lines = append(lines, row.Detail)
		}
		return err
	}))
	return strings.Join(lines, "\n")
}

// What is asked about each message, or each action, reads the rules of its mailbox, or one rule, by an index.
func TestWhatIsAskedForEachMessageIsFoundByAnIndex(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, Migrate(t.Context(), db))
		for name, asked := range map[string]struct {
			statement string
			args      []any
		}{
			"the rules of a mailbox":       {sqlRulesFor, []any{"ada"}},
			"a rule":                       {sqlRule, []any{"r1"}},
			"the last version":             {sqlLastVersion, []any{"ada"}},
			"the state of a rule":          {sqlLastState, []any{"ada", "r1"}},
			"a rule at the version it had": {sqlStateOfRule, []any{"r1", "v1"}},
		} {
			steps := planOf(t, db, asked.statement, asked.args...)
			require.NotContains(t, steps, "SCAN ", name)
			require.NotContains(t, steps, "Seq Scan", name)
			require.Regexp(t, `(SEARCH|Index)`, steps, name)
		}
	})
}
