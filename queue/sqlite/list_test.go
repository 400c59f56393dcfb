package sqlite_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/internal/joblist"
	"github.com/postroom-go/postroom/queue"
)

// However many jobs there are, those of a state, type, user or key are found through an index.
func TestFiltersAreAnsweredByIndexes(t *testing.T) {
	db := dbtest.SQLite(t)
	require.NoError(t, queue.Migrate(t.Context(), db))
	for name, filter := range map[string]queue.Filter{
		"all":             {},
		"a state":         {States: []queue.State{queue.StateFailed}},
		"a type":          {Types: []string{"t"}},
		"states and type": {States: []queue.State{queue.StateQueued, queue.StateRunning}, Types: []string{"t", "u"}, Before: "x"},
		"a user":          {UserID: "u", States: queue.States(), Types: []string{"t"}},
		"a key":           {Key: "k", Tags: []string{"x"}},
	} {
		filter.Limit = 20
		for what, build := range map[string]func(queue.Dialect, queue.Filter) (string, []any){
			"jobs": joblist.Jobs, "ids": joblist.IDs, "counts": joblist.Counts,
		} {
			query, args := build(queue.SQLite, filter)
			rows, err := db.Reader().Queryx("EXPLAIN QUERY PLAN "+query, args...)
			require.NoError(t, err)
			for rows.Next() {
				var id, parent, unused int
				var detail string
				require.NoError(t, rows.Scan(&id, &parent, &unused, &detail))
				if detail == "SCAN jobs" {
					require.Contains(t, []string{"all jobs", "all ids"}, name+" "+what, "only a page of all is read in the order of the table")
				}
				if strings.HasPrefix(detail, "SCAN jobs USING") {
					require.Regexp(t, "INDEX jobs_(scheduled|waiting|running|ready)$", detail, "%s: %s", name, what)
				}
			}
			require.NoError(t, errors.Join(rows.Err(), rows.Close())) //nolint:sqlclosecheck // before the next one
		}
	}
}
