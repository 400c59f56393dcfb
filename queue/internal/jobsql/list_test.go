package jobsql_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// ask returns the first column of what a query selects.
func ask(t *testing.T, db queue.DB, query string, args []any) []string {
	t.Helper()
	rows, err := db.Reader().QueryContext(t.Context(), strings.Replace(query, "SELECT "+jobsql.Columns, "SELECT id", 1),
		args...)
	found, err := jobsql.Collect(rows, err, jobsql.ScanText)
	require.NoError(t, err, query)
	return found
}

// Whatever the filter, the jobs, their ids and their number are of the same jobs: on both engines those that the filter
// says.
func TestListsAnswerEveryFilterAlike(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		migrated(t, db)
		drv := db.Driver()
		all := stored(t, drv)
		none := driver.Filter{}
		for name, f := range map[string]driver.Filter{
			"all": none, "states": {States: []driver.State{driver.StateQueued, driver.StateFailed}},
			"types": {Types: []string{"t", "u"}}, "state and type": {States: []driver.State{driver.StateRunning},
				Types: []string{"u"}},
			"user": {UserID: "ada"}, "key": {Key: "k04"}, "limit key": {LimitKey: "l"},
			"tags":           {Tags: []string{"x", "y"}},
			"tags and state": {Tags: []string{"x"}, States: []driver.State{driver.StateQueued}},
			"before":         {Before: all[3].ID}, "created": {CreatedFrom: all[2].CreatedAt,
				CreatedBefore: all[len(all)-1].CreatedAt},
		} {
			var want []string
			states := make(map[driver.State]int)
			for i := range slices.Backward(all) {
				if matches(&all[i], f) {
					want = append(want, all[i].ID)
					states[all[i].State]++
				}
			}
			f.Limit = 100
			query, args := jobsql.ListJobs(db.Dialect(), f)
			require.Equal(t, want, ask(t, db, query, args), name)
			query, args = jobsql.ListJobIDs(db.Dialect(), f)
			require.Equal(t, want, ask(t, db, query, args), name)
			counts, err := drv.Counts(t.Context(), f)
			require.NoError(t, err)
			require.Equal(t, states, counts, name)
			if f.Limit = 1; len(want) > 1 {
				query, args = jobsql.ListJobs(db.Dialect(), f)
				require.Equal(t, want[:1], ask(t, db, query, args), name)
			}
		}
	})
}

func matches(j *driver.Job, f driver.Filter) bool {
	has := func(tag string) bool { return slices.Contains(j.Tags, tag) }
	return (len(f.States) == 0 || slices.Contains(f.States, j.State)) &&
		(len(f.Types) == 0 || slices.Contains(f.Types, j.Type)) &&
		(f.UserID == "" || f.UserID == j.UserID) && (f.Key == "" || f.Key == j.Key.Name) &&
		(f.LimitKey == "" || f.LimitKey == j.LimitKey) &&
		!slices.ContainsFunc(f.Tags, func(tag string) bool { return !has(tag) }) &&
		(f.Before == "" || j.ID < f.Before) &&
		!j.CreatedAt.Before(f.CreatedFrom) && (f.CreatedBefore.IsZero() || j.CreatedAt.Before(f.CreatedBefore))
}

// stored inserts a job of each standing and some more, and returns them in the order of their ids.
func stored(t *testing.T, db driver.Driver) []driver.Job {
	t.Helper()
	ids := []string{"01", "02", "03", "04", "05", "06", "07", "08", "09"}
	for i, id := range ids {
		job := driver.InsertJob{Job: driver.Job{
			ID: id, Type: []string{"t", "u", "v"}[i%3], Payload: []byte("1"),
			Options: driver.Options{MaxAttempts: 1, Tags: []string{"x", "y"}[:i%3]},
		}}
		if i%2 == 1 {
			job.UserID, job.LimitKey, job.Key = "ada", "l", driver.Key{Name: "k" + id, Scope: driver.KeyForever}
		}
		write(t, db, func(ctx context.Context, tx *driver.WriteTx) error {
			_, err := db.Insert(ctx, tx, []driver.InsertJob{job})
			return err
		})
	}
	exec(t, db,
		"UPDATE jobs SET hold = "+jobsql.Moving+" WHERE id = '02'", "UPDATE jobs SET hold = "+jobsql.Scheduled+
			" WHERE id = '03'",
		"UPDATE jobs SET hold = "+jobsql.Limited+" WHERE id = '04'",
		"UPDATE jobs SET state = 'running', worker_id = 'w' WHERE id = '05'",
		"UPDATE jobs SET state = 'completed', finished_at = updated_at WHERE id = '06'",
		"UPDATE jobs SET state = 'failed', finished_at = updated_at WHERE id IN ('07', '08')",
		"UPDATE jobs SET state = 'canceled', finished_at = updated_at WHERE id = '09'")
	jobs := make([]driver.Job, len(ids))
	for i, id := range ids {
		job, err := db.Job(t.Context(), id)
		require.NoError(t, err)
		jobs[i] = *job
	}
	return jobs
}

func write(t *testing.T, db driver.DB, fn func(ctx context.Context, tx *driver.WriteTx) error) {
	t.Helper()
	require.NoError(t, driver.Write(t.Context(), db, fn))
}

// A query about one standing reads the index of that, however many jobs stand elsewhere.
func TestCountsGoByTheIndexesOfTheStandings(t *testing.T) {
	db := dbtest.SQLite(t)
	migrated(t, db)
	query, args := jobsql.CountJobs(driver.SQLite, driver.Filter{})
	var plan []struct {
		ID, Parent, Notused int
		Detail              string
	}
	require.NoError(t, db.Reader().Select(&plan, "EXPLAIN QUERY PLAN "+query, args...))
	var indexes []string
	for _, step := range plan {
		if strings.Contains(step.Detail, "jobs") {
			require.Contains(t, step.Detail, "INDEX jobs_", "no table is read")
			indexes = append(indexes, step.Detail)
		}
	}
	require.Len(t, indexes, len(driver.Standings()))
}

// Stats count each queued job once, by what holds it.
func TestStatsCountEachStanding(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		migrated(t, db)
		drv := db.Driver()
		stored(t, drv)
		exec(t, db, "UPDATE jobs SET type = 't'",
			"UPDATE jobs SET not_before = '2100-01-01T00:00:00.000000Z' WHERE hold = "+jobsql.Scheduled)
		now := time.Now()
		stats, err := drv.Stats(t.Context(), driver.StatsQuery{Now: now, Since: now.Add(-time.Hour),
			Bucket: time.Minute, MaxCount: 100})
		require.NoError(t, err)
		require.Len(t, stats.Types, 1)
		s := stats.Types[0]
		require.Equal(t, []int{1, 1, 1, 1, 1, 1, 2, 1}, []int{s.Ready, s.Moving, s.Scheduled, s.Limited, s.Running,
			s.Completed, s.Failed, s.Canceled})
	})
}

func TestCheckTables(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		checker := db.Driver().(driver.TableChecker)
		require.ErrorIs(t, checker.CheckTables(t.Context()), driver.ErrNoTables)
		exec(t, db, "CREATE TABLE jobs (id INTEGER, salary INTEGER)")
		require.ErrorIs(t, checker.CheckTables(t.Context()), driver.ErrForeignTables)
		exec(t, db, "DROP TABLE jobs")
		migrated(t, db)
		require.NoError(t, checker.CheckTables(t.Context()))
		exec(t, db, "ALTER TABLE job_workers DROP COLUMN version")
		require.ErrorIs(t, checker.CheckTables(t.Context()), driver.ErrNoTables, "a column of the last migration")
		exec(t, db, "ALTER TABLE job_workers ADD COLUMN version TEXT")
		require.NoError(t, checker.CheckTables(t.Context()))
		exec(t, db, "DROP TABLE job_turn_marks")
		require.ErrorIs(t, checker.CheckTables(t.Context()), driver.ErrNoTables,
			"the migrations of an earlier version are not all")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, checker.CheckTables(ctx), context.Canceled)
	})
}
