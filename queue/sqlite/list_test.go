package sqlite_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// However many jobs there are, those of a state, type, user, key or limit key are found through an index, and those
// with a tag among those that have any.
func TestFiltersAreAnsweredByIndexes(t *testing.T) {
	db := dbtest.SQLite(t)
	require.NoError(t, queue.Migrate(t.Context(), db))
	own := map[string]string{"a user": "jobs_user", "a key": "jobs_key", "a limit key": "jobs_limit_key",
		"a tag": "jobs_tagged"}
	for name, filter := range map[string]driver.Filter{
		"all":     {},
		"a state": {States: []driver.State{driver.StateFailed}},
		"a type":  {Types: []string{"t"}},
		"states and type": {States: []driver.State{driver.StateQueued, driver.StateRunning}, Types: []string{"t", "u"},
			Before: "x"},
		"a user": {UserID: "u", States: driver.States(), Types: []string{"t"}},
		"a key":  {Key: "k", Tags: []string{"x"}},
		"a limit key": {LimitKey: "l", States: []driver.State{driver.StateFailed}, Types: []string{"t"},
			Before: "x"},
		"a tag": {Tags: []string{"x", "y"}, Before: "x"},
	} {
		filter.Limit = 20
		for what, build := range map[string]func(driver.Dialect, driver.Filter) (string, []any){
			"jobs": jobsql.ListJobs, "ids": jobsql.ListJobIDs, "counts": jobsql.CountJobs,
		} {
			query, args := build(driver.SQLite, filter)
			rows, err := db.Reader().Queryx("EXPLAIN QUERY PLAN "+query, args...)
			require.NoError(t, err)
			for rows.Next() {
				var id, parent, unused int
				var detail string
				require.NoError(t, rows.Scan(&id, &parent, &unused, &detail))
				switch {
				case detail == "SCAN jobs" || strings.HasSuffix(detail, "sqlite_autoindex_jobs_1"):
					require.Contains(t, []string{"all jobs", "all ids"}, name+" "+what,
						"only a page of all is read in the order of ids: %s", detail)
				case strings.HasPrefix(detail, "SCAN jobs USING"):
					require.Regexp(t, "INDEX jobs_(scheduled|waiting|moving|held|running|ready|tagged)$", detail, "%s: %s",
						name, what)
				}
				if index := own[name]; index != "" && strings.Contains(detail, " jobs ") {
					require.Contains(t, detail, index, what)
				}
			}
			require.NoError(t, errors.Join(rows.Err(), rows.Close()))
		}
	}
}
