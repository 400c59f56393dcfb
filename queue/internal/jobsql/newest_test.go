package jobsql_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// manyJobs are more than a listing looks through: of the old type the first half, then of two types by turns, some of
// them at one instant.
func manyJobs(t *testing.T, drv driver.Driver) []driver.Job {
	t.Helper()
	const n = 26_000
	jobs := make([]driver.InsertJob, n)
	for i := range jobs {
		jobs[i].ID = fmt.Sprintf("%08d", i)
		jobs[i].Type = "old"
		if i >= n/2 {
			jobs[i].Type = []string{"t", "u"}[i%2]
		}
		jobs[i].Payload, jobs[i].MaxAttempts = []byte("1"), 1
		if i%7 == 0 {
			jobs[i].Tags = []string{"x"}
		}
	}
	write(t, drv, func(ctx context.Context, tx *driver.WriteTx) error {
		_, err := drv.Insert(ctx, tx, jobs)
		return err
	})
	exec(t, drv, "UPDATE jobs SET state = 'failed', finished_at = updated_at WHERE id LIKE '%3'",
		"UPDATE jobs SET hold = "+jobsql.Scheduled+" WHERE state = 'queued' AND id LIKE '%9'")
	stored, err := drv.Jobs(t.Context(), driver.Filter{Limit: n})
	require.NoError(t, err)
	require.Len(t, stored, n)
	return stored
}

// A listing of many jobs of a state or type goes from page to page over the same jobs as a reading of all, whether the
// newest jobs have them or not, and looks at no others than the newest where these have them.
func TestListingsOfManyJobsAreWhole(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		migrated(t, db)
		all := manyJobs(t, db.Driver())
		asked := 0
		count := func(ctx context.Context, query string, args ...any) (jobsql.Rows, error) {
			asked++
			return db.Reader().QueryContext(ctx, query, args...)
		}
		store := jobsql.Store{Engine: db.Dialect(), Query: count}
		queued := []driver.State{driver.StateQueued}
		for name, c := range map[string]struct {
			filter driver.Filter
			once   bool // the newest jobs have the first page
		}{
			"state":           {driver.Filter{States: queued}, true},
			"types":           {driver.Filter{Types: []string{"t", "u"}}, true},
			"state and types": {driver.Filter{States: queued, Types: []string{"t", "u"}}, true},
			"two states": {driver.Filter{States: []driver.State{driver.StateFailed, driver.StateQueued},
				CreatedBefore: time.Now().Add(time.Hour)}, true},
			"hidden type":  {driver.Filter{States: queued, Types: []string{"old"}}, false},
			"tags":         {driver.Filter{States: queued, Types: []string{"t", "u"}, Tags: []string{"x"}}, false},
			"none":         {driver.Filter{States: queued, CreatedBefore: all[0].CreatedAt.Add(-time.Hour)}, false},
			"nothing more": {driver.Filter{States: queued, Before: all[len(all)-1].ID}, false},
		} {
			f := c.filter
			f.Limit = 400 + rand.IntN(100)
			asked = 0
			var got []string
			for page := 1; len(got) <= len(all); page++ {
				jobs, err := store.Jobs(t.Context(), f)
				require.NoError(t, err, name)
				if page == 1 && c.once {
					require.Equal(t, 1, asked, "%s: %d", name, f.Limit)
				}
				for i := range jobs {
					got = append(got, jobs[i].ID)
				}
				if len(jobs) < f.Limit {
					break
				}
				f.Before = got[len(got)-1]
			}
			var want []string
			for i := range all {
				if matches(&all[i], c.filter) {
					want = append(want, all[i].ID)
				}
			}
			require.Equal(t, want, got, "%s: %d", name, f.Limit)
		}
	})
}

// The newest jobs are read in the order of their ids, none before the first is found.
func TestTheNewestJobsAreReadInOrder(t *testing.T) {
	db := dbtest.SQLite(t)
	migrated(t, db)
	query, args := jobsql.ListNewest(driver.SQLite, driver.Filter{States: []driver.State{driver.StateQueued},
		Types: []string{"t"}, Before: "x", Limit: 20})
	var plan []struct {
		ID, Parent, Notused int
		Detail              string
	}
	require.NoError(t, db.Reader().Select(&plan, "EXPLAIN QUERY PLAN "+query, args...))
	for _, step := range plan {
		if strings.Contains(step.Detail, "jobs") {
			require.Contains(t, step.Detail, "INDEX", "no table is read")
		}
		require.NotContains(t, step.Detail, "FOR ORDER BY")
	}
}

var parameter = regexp.MustCompile(`\$\d+`)

// What is asked while jobs run, and by pages again and again, reads no table from end to end, however many jobs there
// are, and of an index what is ready, waits or runs.
func TestWhatIsAskedAllTheTimeUsesIndexes(t *testing.T) {
	db := dbtest.SQLite(t)
	migrated(t, db)
	for name, statement := range jobsql.Asked {
		var plan []struct {
			ID, Parent, Notused int
			Detail              string
		}
		query := "EXPLAIN QUERY PLAN " + parameter.ReplaceAllString(statement, "'1'")
		require.NoError(t, db.Reader().Select(&plan, query), name)
		for _, step := range plan {
			if !regexp.MustCompile("INDEX jobs_(running|scheduled|waiting|moving)").MatchString(step.Detail) {
				require.NotRegexp(t, `SCAN (jobs|job_[a-z]+)\b`, step.Detail, name)
			}
		}
	}
}
