package postgres_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/postgres"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

// as opens the queue as a new role that has the grants of a file, and no others.
func (h house) as(t *testing.T, file string) *queue.Queue {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("grants", file))
	require.NoError(t, err)
	return h.granted(t, string(text))
}

// granted opens the queue as a new role that has these grants, and no others.
func (h house) granted(t *testing.T, grants string) *queue.Queue {
	t.Helper()
	owner := h.open(t, h.schema)
	role := "r" + strings.ReplaceAll(uuid.NewString(), "-", "")
	run(t, owner, "CREATE ROLE "+role)
	t.Cleanup(func() {
		for _, statement := range []string{"DROP OWNED BY ", "DROP ROLE "} {
			_, err := owner.Reader().ExecContext(context.Background(), statement+role)
			require.NoError(t, err)
		}
	})
	run(t, owner, strings.NewReplacer(`:"schema"`, h.schema, `:"role"`, role).Replace(grants))
	db, err := postgres.Open(t.Context(), dbtest.With(t, h.dsn, "role", role), &postgres.Config{Schema: h.schema})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	q, err := queue.New(db, nil)
	require.NoError(t, err)
	return q
}

// refuse requires that the role may do none of these to the queue's tables.
func (h house) refuse(t *testing.T, q *queue.Queue, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		_, err := q.DB().Reader().ExecContext(t.Context(), strings.ReplaceAll(statement, "q.", `"`+h.schema+`".`))
		require.ErrorContains(t, err, "SQLSTATE 42501", statement)
	}
}

// without returns the tables of the queue for which the role lacks one of the privileges.
func (h house) without(t *testing.T, q *queue.Queue, privileges ...string) (tables []string) {
	t.Helper()
	require.NoError(t, q.DB().Reader().Select(&tables, `
SELECT DISTINCT relname
FROM pg_class
CROSS JOIN unnest(string_to_array($2, ' ')) AS privilege
WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1)
  AND relkind = 'r'
  AND NOT has_table_privilege(pg_class.oid, privilege)`, h.schema, strings.Join(privileges, " ")))
	return tables
}

func TestTheGrantsOfAWorker(t *testing.T) {
	h := newHouse(t)
	newQueueIn(t, h)
	q := h.as(t, "worker.sql")
	require.NoError(t, queue.Migrate(t.Context(), q.DB()))
	require.NoError(t, q.SetLimit(t.Context(), queue.ForKey("k"), queue.Limit{MaxRunning: 2}))
	require.NoError(t, q.SetSchedule(t.Context(), queue.Schedule{Name: "s", Cron: "@daily", Job: tick.New(0, nil)}))
	for i, opts := range allOptions() {
		_, err := q.Enqueue(t.Context(), tick.New(i, opts))
		require.NoError(t, err)
	}
	require.Len(t, ran(t, q), len(allOptions()))
	_, err := q.Prune(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"postroom_migrations"}, h.without(t, q, "SELECT", "INSERT", "UPDATE", "DELETE"),
		"a table of a new migration needs a line in worker.sql, and perhaps in enqueue.sql")
	h.refuse(t, q, "CREATE TABLE q.mine (id INTEGER)", "DROP TABLE q.job_moves", "TRUNCATE q.jobs",
		"ALTER TABLE q.jobs ADD COLUMN mine TEXT", "DELETE FROM q.postroom_migrations", "CREATE TRIGGER mine AFTER INSERT ON q.jobs "+
			"EXECUTE FUNCTION q.jobs_turn()")
	err = queueadmin.Uninstall(t.Context(), q.DB(), &queueadmin.UninstallOptions{Force: true})
	require.ErrorContains(t, err, "must be owner")
}

// allOptions are those that need other tables than jobs.
func allOptions() []*queue.Options {
	return []*queue.Options{
		nil, {Key: queue.Forever("a")}, {Key: queue.WhileUnfinished("b")}, {Key: queue.ForPeriod("c", time.Hour)},
		{LimitKey: "k"}, {Sequence: "s"}, {Tags: []string{"t"}, UserID: "ada"},
	}
}

func TestTheGrantsOfWhoEnqueues(t *testing.T) {
	h := newHouse(t)
	all := newQueueIn(t, h)
	q := h.as(t, "enqueue.sql")
	enqueued := 0
	for range 2 { // the keys are taken the second time, and the payloads are others
		for _, opts := range allOptions() {
			job, err := q.Enqueue(t.Context(), tick.New(enqueued, opts))
			require.NoError(t, err)
			if !job.Duplicate {
				enqueued++
			}
		}
		run(t, all.DB(), "UPDATE "+queue.Table(all.DB(), "job_keys")+" SET expires_at = '2020-01-01' WHERE key = 'c'")
	}
	many := make([]queue.NewJob, 60) // by COPY
	for i := range many {
		many[i] = tick.New(i, nil)
	}
	_, err := q.EnqueueMany(t.Context(), many)
	require.NoError(t, err)
	_, err = q.DB().Reader().ExecContext(t.Context(), "SELECT "+queue.Table(q.DB(), "job_enqueue")+"('tick', '1', key => 'd')")
	require.NoError(t, err)
	require.Len(t, ran(t, all), enqueued+len(many)+1)

	_, err = q.Counts(t.Context(), queue.Filter{})
	require.ErrorContains(t, err, "permission denied")
	h.refuse(t, q, "SELECT result_json FROM q.jobs", "SELECT last_error FROM q.jobs", "UPDATE q.jobs SET state = 'canceled'",
		"DELETE FROM q.jobs", "SELECT message FROM q.job_logs", "SELECT name FROM q.job_steps", "INSERT INTO q.job_limits DEFAULT VALUES",
		"SELECT name FROM q.job_signals", "CREATE TABLE q.mine (id INTEGER)", "DELETE FROM q.job_turns", "TRUNCATE q.job_keys")
}

func TestTheGrantsOfWhoReads(t *testing.T) {
	h := newHouse(t)
	all := newQueueIn(t, h)
	enqueued, err := all.Enqueue(t.Context(), tick.New(1, nil))
	require.NoError(t, err)
	q := h.as(t, "read.sql")
	_, err = q.Job(t.Context(), enqueued.ID)
	require.NoError(t, err)
	jobs, err := q.Jobs(t.Context(), queue.Filter{})
	require.NoError(t, err)
	require.Len(t, jobs, 1)
	_, err = queueadmin.ReadStats(t.Context(), q, nil)
	require.NoError(t, err)
	_, err = queueadmin.Explain(t.Context(), q, enqueued.ID)
	require.NoError(t, err)
	_, err = queueadmin.Doctor(t.Context(), q)
	require.NoError(t, err)
	require.NoError(t, queue.Migrate(t.Context(), q.DB()), "it only checks")
	require.Empty(t, h.without(t, q, "SELECT"), "a table of a new migration needs a line in read.sql")
	_, err = q.Enqueue(t.Context(), tick.New(1, nil))
	require.ErrorContains(t, err, "permission denied")
	require.ErrorContains(t, q.Cancel(t.Context(), enqueued.ID), "permission denied")
	h.refuse(t, q, "UPDATE q.jobs SET priority = 1", "INSERT INTO q.job_turn_marks (sequence) VALUES ('s')",
		"DELETE FROM q.job_keys", "TRUNCATE q.jobs", "CREATE TABLE q.mine (id INTEGER)", "SELECT q.job_enqueue('tick', '1')")
}

func TestTheGrantsOfWhoMigrates(t *testing.T) {
	h := newHouse(t)
	q := h.as(t, "migrate.sql")
	require.NoError(t, queue.Migrate(t.Context(), q.DB()))
	_, err := q.Enqueue(t.Context(), tick.New(1, nil))
	require.NoError(t, err, "the tables are its own")
	require.Equal(t, []int{1}, ran(t, q))
	_, err = q.DB().Reader().ExecContext(t.Context(), "SELECT title FROM "+h.own+".jobs")
	require.ErrorContains(t, err, "permission denied")
	require.NoError(t, queueadmin.Uninstall(t.Context(), q.DB(), &queueadmin.UninstallOptions{Force: true}))
}
