package postgres_test

import (
	"context"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/postgres"
)

// secured is a database with the policies of docs/users.md. as opens it as a role with the attributes.
func secured(t *testing.T) (owner *postgres.DB, name func(role string) string,
	as func(role, attributes string) *postgres.DB) {
	t.Helper()
	text, err := os.ReadFile("../../docs/users.md")
	require.NoError(t, err)
	sql := regexp.MustCompile("(?s)```sql\n(.*?)```").FindStringSubmatch(string(text))
	require.NotNil(t, sql)
	dsn := dbtest.PostgresDSN(t)
	owner, err = postgres.Open(t.Context(), dsn, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, owner.Close()) })
	require.NoError(t, queue.Migrate(t.Context(), owner))
	location, err := url.Parse(dsn)
	require.NoError(t, err)
	// Roles are those of the whole server, where other tests run.
	own := "_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	forget := func(role string) {
		t.Cleanup(func() {
			for _, statement := range []string{"DROP OWNED BY ", "DROP ROLE "} {
				_, err := owner.Reader().ExecContext(context.Background(), statement+role)
				require.NoError(t, err)
			}
		})
	}
	schema := location.Query().Get("search_path")
	forget("job_users" + own)
	for statement := range strings.SplitSeq(strings.NewReplacer("SCHEMA public", "SCHEMA "+schema, "job_users",
		"job_users"+own).Replace(sql[1]), ";\n") {
		if strings.TrimSpace(statement) != "" {
			run(t, owner, statement)
		}
	}
	name = func(role string) string { return role + own }
	as = func(role, attributes string) *postgres.DB {
		t.Helper()
		run(t, owner, "CREATE ROLE "+role+" "+attributes)
		forget(role)
		db, err := postgres.Open(t.Context(), dbtest.With(t, dsn, "role", role), nil)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, db.Close()) })
		return db
	}
	return owner, name, as
}

// Seed 001, AC-01: a user's role sees its own rows and no others.
func TestARoleOfAUserSeesItsOwnRowsAlone(t *testing.T) {
	owner, name, as := secured(t)
	ctx := t.Context()
	users := map[string]*postgres.DB{}
	for _, user := range []string{name("ada"), name("bob")} {
		users[user] = as(user, "IN ROLE "+name("job_users"))
	}
	service := as(name("service"), "BYPASSRLS")
	run(t, owner, "GRANT USAGE ON SCHEMA "+schemaOf(t, owner)+" TO "+name("service"))
	run(t, owner, "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "+schemaOf(t, owner)+" TO "+name("service"))

	for _, program := range []*postgres.DB{owner, service} {
		q, err := queue.New(program, nil)
		require.NoError(t, err)
		var jobs []queue.NewJob
		for _, user := range []string{name("ada"), name("ada"), name("bob"), ""} {
			for n := range 30 { // many are enqueued by COPY
				jobs = append(jobs, count.New(n, &queue.Options{UserID: user, Key: queue.Forever(uuid.NewString())}))
			}
		}
		_, err = q.EnqueueMany(ctx, jobs)
		require.NoError(t, err)
		d, err := queue.NewDispatcher(q, nil)
		require.NoError(t, err)
		queue.Handle(d, count, func(ctx context.Context, w *queue.Work[int]) error {
			w.Logger().InfoContext(ctx, "counts")
			_, err := queue.Step(ctx, w, "step", func(context.Context) (int, error) { return w.Payload, nil })
			return err
		})
		require.NoError(t, d.RunUntilIdle(ctx))
		for _, user := range []string{name("ada"), name("bob")} {
			require.NoError(t, q.SetSchedule(ctx, queue.Schedule{Name: user, Cron: "@daily",
				Job: count.New(0, &queue.Options{UserID: user})}))
		}
	}
	for user, want := range map[string]int{name("ada"): 120, name("bob"): 60} {
		for _, table := range []string{"jobs", "job_steps", "job_logs", "job_keys"} {
			require.Equal(t, want, rows(t, users[user], table), "%s of %s", table, user)
			require.Equal(t, 240, rows(t, owner, table))
		}
		require.Equal(t, 1, rows(t, users[user], "job_schedules"))
		var owners []string
		require.NoError(t, users[user].Reader().Select(&owners, "SELECT DISTINCT user_id FROM jobs"))
		require.Equal(t, []string{user}, owners)
		for _, statement := range []string{"UPDATE jobs SET priority = 9", "DELETE FROM jobs",
			"SELECT * FROM job_limits", "SELECT * FROM job_workers", "SELECT * FROM job_heads"} {
			_, err := users[user].Reader().ExecContext(ctx, statement)
			require.ErrorContains(t, err, "permission denied", statement)
		}
	}
	// The policy also holds a host that lets users write.
	ada := name("ada")
	run(t, owner, "GRANT INSERT, UPDATE, DELETE ON jobs TO "+ada)
	_, err := users[ada].Reader().ExecContext(ctx, "UPDATE jobs SET user_id = 'eve'")
	require.ErrorContains(t, err, "row-level security")
	_, err = users[ada].Reader().ExecContext(ctx, "DELETE FROM jobs")
	require.NoError(t, err)
	require.Equal(t, 120, rows(t, owner, "jobs"), "those of bob, and of nobody")
}

func rows(t *testing.T, db *postgres.DB, table string) (n int) {
	t.Helper()
	require.NoError(t, db.Reader().Get(&n, "SELECT COUNT(*) FROM "+table))
	return n
}

func schemaOf(t *testing.T, db *postgres.DB) (name string) {
	t.Helper()
	require.NoError(t, db.Reader().Get(&name, "SELECT current_schema()"))
	return name
}
