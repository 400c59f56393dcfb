package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/postgres"
	"github.com/postroom-go/postroom/queue/queuetest"
	"github.com/postroom-go/postroom/queue/sqlite"
)

func TestMain(m *testing.M) { dbtest.Main(m, queue.Migrate) }

const greet queue.Type[int] = "greet"

// A result is what a command has printed, and its exit status.
type result struct {
	status      int
	out, errors string
}

// A desk is a database and the operator before it.
type desk struct {
	*testing.T
	dsn string
	q   *queue.Queue
}

// eachEngine runs a test with a queue on each engine.
func eachEngine(t *testing.T, test func(d *desk)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "app.db")
		db, err := sqlite.Open(t.Context(), path, nil)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, db.Close()) })
		test(newDesk(t, db, path))
	})
	t.Run("postgres", func(t *testing.T) {
		dsn := dbtest.PostgresDSN(t)
		db, err := postgres.Open(t.Context(), dsn, nil)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, db.Close()) })
		test(newDesk(t, db, dsn))
	})
}

func newDesk(t *testing.T, db queue.DB, dsn string) *desk {
	t.Helper()
	require.NoError(t, queue.Migrate(t.Context(), db))
	q, err := queue.New(db, nil)
	require.NoError(t, err)
	return &desk{t, dsn, q}
}

func (d *desk) run(line string, more ...string) result {
	d.Helper()
	args := append([]string{"--database", d.dsn}, append(strings.Fields(line), more...)...)
	return run(d.Context(), args...)
}

func run(ctx context.Context, args ...string) result {
	var out, errs bytes.Buffer
	status := Run(ctx, args, strings.NewReader(""), &out, &errs)
	return result{status, out.String(), errs.String()}
}

// did runs a command that must succeed, and returns what it has printed.
func (d *desk) did(line string, more ...string) string {
	d.Helper()
	r := d.run(line, more...)
	require.Zero(d, r.status, r.errors)
	return r.out
}

func (d *desk) enqueue(n int, opts *queue.Options) (ids []string) {
	d.Helper()
	for i := range n {
		r, err := d.q.Enqueue(d.Context(), greet.New(i, opts))
		require.NoError(d, err)
		ids = append(ids, r.ID)
	}
	return ids
}

func (d *desk) job(id string) *queue.Job {
	d.Helper()
	job, err := d.q.Job(d.Context(), id)
	require.NoError(d, err)
	return job
}

// fail has all jobs fail for good.
func (d *desk) fail() {
	d.Helper()
	queuetest.Work(d.T, d.q, func(w *queue.Dispatcher) {
		queue.Handle(w, greet, func(context.Context, *queue.Work[int]) error {
			return queue.Fatal(errors.New("mailbox 17 is full"))
		})
	})
}

func TestJobsAreShownAndChanged(t *testing.T) {
	eachEngine(t, func(d *desk) {
		adas := d.enqueue(3, &queue.Options{UserID: "ada", NotBefore: time.Now().Add(time.Hour)})
		d.enqueue(2, &queue.Options{UserID: "bob"})
		require.Equal(d, 6, strings.Count(d.did("list"), "\n"))
		var jobs []struct{ ID, Type, State string }
		require.NoError(d, json.Unmarshal([]byte(d.did("list --user ada --limit 2 --json")), &jobs))
		require.Len(d, jobs, 2)
		require.Equal(d, adas[2], jobs[0].ID)
		shown := d.did("show " + adas[0])
		require.Contains(d, shown, "queued")
		require.Regexp(d, `user +ada\n`, shown)
		require.Contains(d, d.did("explain "+adas[0]), "it is scheduled for later")

		require.Equal(d, "job "+adas[0]+": made due\n", d.did("run-now "+adas[0]))
		require.False(d, d.job(adas[0]).NotBefore.After(time.Now().Add(time.Minute)))
		require.Contains(d, d.did("priority --user ada --to 7 --yes"), "3 jobs changed")
		require.Equal(d, 7, d.job(adas[1]).Priority)
		d.did("reschedule --at 2030-01-31T07:00:00Z --user ada --yes")
		require.Equal(d, time.Date(2030, 1, 31, 7, 0, 0, 0, time.UTC), d.job(adas[2]).NotBefore)
		require.Contains(d, d.did("cancel --user ada --yes --reason", "not needed"), "3 jobs canceled")
		require.Equal(d, "not needed", d.job(adas[2]).LastError)

		d.fail()
		require.Contains(d, d.did("list --error FULL"), "mailbox 17 is full")
		require.Contains(d, d.did("list --error nothing"), "no jobs")
		var groups []struct {
			ID, Text string
			Jobs     int
		}
		require.NoError(d, json.Unmarshal([]byte(d.did("errors --type greet --json")), &groups))
		require.Equal(d, "mailbox # is full", groups[1].Text)
		require.Contains(d, d.did("retry --yes --error-group "+groups[1].ID), "2 jobs are to be run again")
		require.Contains(d, d.did("delete --yes --all"), "3 jobs deleted")
		require.Equal(d, 3, strings.Count(d.did("list"), "\n"))
	})
}

func TestLimitsPausesAndSchedulesAreChanged(t *testing.T) {
	eachEngine(t, func(d *desk) {
		r := d.run("pause --type greet")
		require.Equal(d, result{0, "type greet: paused\n", "no job has the type greet so far\n"}, r, "it may be mistyped")
		d.did("limits set --prefix gmail: --running 2 --rate 10 --per 1m")
		listed := d.did("limits list")
		require.Contains(d, listed, "paused")
		require.Contains(d, listed, "at most 2")
		d.did("resume --type greet")
		d.did("limits remove --prefix gmail:")
		require.Equal(d, "[]\n", d.did("limits list --json"))

		require.NoError(d, d.q.SetSchedule(d.Context(),
			queue.Schedule{Name: "daily", Cron: "0 7 * * *", Job: greet.New(1, nil)}))
		require.Contains(d, d.did("schedules fire daily"), "enqueued")
		d.did("schedules edit daily --payload 5 --cron", "0 8 * * *")
		d.did("schedules pause daily")
		all, err := d.q.Schedules(d.Context())
		require.NoError(d, err)
		require.Equal(d, "0 8 * * *", all[0].Cron)
		require.Equal(d, json.RawMessage("5"), all[0].Job.Payload)
		require.True(d, all[0].Paused)
		require.Contains(d, d.did("schedules list"), "paused")
		d.did("schedules resume daily")
		d.did("schedules remove daily")
		require.Contains(d, d.did("schedules list"), "no schedules")
		require.Equal(d, ExitUsage, d.run("schedules edit daily --zone UTC").status)
	})
}

func TestAQueueIsExamined(t *testing.T) {
	eachEngine(t, func(d *desk) {
		require.Equal(d, "the tables are sound\n", d.did("verify"))
		d.did("doctor --json")
		id := d.enqueue(1, nil)[0]
		require.Contains(d, d.did("stats"), "greet")
		var stats struct {
			Types []struct {
				Type  string
				Ready int
			}
		}
		require.NoError(d, json.Unmarshal([]byte(d.did("stats --json")), &stats))
		require.Equal(d, 1, stats.Types[0].Ready)
		lines := d.did("watch --interval 200ms --times 2 --json")
		require.Equal(d, 2, strings.Count(lines, "\n"))

		require.NoError(d, d.q.DB().Write(d.Context(), func(ctx context.Context, tx queue.Tx) error {
			_, err := tx.ExecContext(ctx, "UPDATE jobs SET state = 'failed' WHERE id = $1", id)
			return err
		}))
		for _, command := range []string{"verify", "doctor"} {
			r := d.run(command)
			require.Equal(d, ExitFindings, r.status, r.errors)
			require.Contains(d, r.out, id)
		}
	})
}

func TestTablesAreMigrated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new.db")
	r := run(t.Context(), "--database", path, "migrate", "up")
	require.Equal(t, ExitUsage, r.status, "a mistyped path makes no file")
	db, err := sqlite.Open(t.Context(), path, nil)
	require.NoError(t, err)
	require.NoError(t, db.Close())
	d := &desk{T: t, dsn: "sqlite:" + path}
	require.Contains(t, d.did("migrate status"), "pending")
	require.Equal(t, ExitFailed, d.run("list").status)
	sql := d.did("migrate sql")
	require.Contains(t, sql, "CREATE TABLE jobs")
	require.Contains(t, sql, "INSERT INTO postroom_migrations (package, version, name) VALUES ('queue', 1,")
	d.did("migrate up")
	require.NotContains(t, d.did("migrate status"), "pending")
	require.Empty(t, d.did("migrate sql"))
}

func TestAQueueIsMoved(t *testing.T) {
	eachEngine(t, func(d *desk) {
		d.enqueue(3, nil)
		path := filepath.Join(d.TempDir(), "to.db")
		db, err := sqlite.Open(d.Context(), path, nil)
		require.NoError(d, err)
		require.NoError(d, queue.Migrate(d.Context(), db))
		require.NoError(d, db.Close())
		require.Equal(d, "moved 3 jobs, 0 keys and 0 schedules\n", d.did("move --to "+path))
		require.Contains(d, d.did("list"), "no jobs")
		require.Equal(d, 4, strings.Count(run(d.Context(), "list", "--database", path).out, "\n"))
	})
}

// A table in an SQLite file of another program is imported into a queue on each engine.
func TestATableIsImported(t *testing.T) {
	eachEngine(t, func(d *desk) {
		path := filepath.Join(d.TempDir(), "old.db")
		old, err := sqlx.Open(sqlite.DriverName, path)
		require.NoError(d, err)
		_, err = old.ExecContext(d.Context(), `CREATE TABLE jobs (id TEXT, job_type TEXT, status TEXT, input TEXT, output TEXT, error TEXT,
  user_id TEXT, priority INTEGER, retry_count INTEGER, max_retries INTEGER, scheduled_for TEXT, expires_at TEXT,
  started_at TEXT, completed_at TEXT, created_at TEXT, updated_at TEXT);
INSERT INTO jobs (id, job_type, status, input) VALUES ('a', 'greet', 'pending', '1'), ('b', 'greet', 'lost', '1')`)
		require.NoError(d, err)
		require.NoError(d, old.Close())
		r := d.run("import --format universal_job_queue --from " + path)
		require.Equal(d, ExitUsage, r.status)
		require.Contains(d, r.errors, `unknown states: "lost" (1)`)
		require.Contains(d, d.did("import --format universal_job_queue --state lost=canceled --dry-run --from "+path), "would be queued")
		require.Contains(d, d.did("list"), "no jobs")
		out := d.did("import --format universal_job_queue --state lost=canceled --json --from " + path)
		require.Contains(d, out, `"canceled": 1`)
		require.Equal(d, queue.StateQueued, d.job("a").State)
		require.Equal(d, ExitUsage, d.run("import --from "+path).status)
		require.Equal(d, ExitUsage, d.run("import --table jobs --column Nothing=id --from "+path).status)
		for _, wrong := range []string{
			"--batch -1", "--batch 0", "--batch 5001", "--key-scope period", "--state lost=running", "--state lost=gone",
			"--column ID=i;d", "--table a;b", "--table a.b.c",
		} {
			r := d.run("import --format universal_job_queue --dry-run " + wrong + " --from " + path)
			require.Equal(d, ExitUsage, r.status, "%s: %s", wrong, r.errors)
			require.Empty(d, r.out)
		}
		require.Equal(d, ExitFailed, d.run("import --table jobs --column ID=a,Type=b,State=c --from "+path).status)
	})
}

func TestExitStatuses(t *testing.T) {
	t.Setenv(environment, "")
	path := filepath.Join(t.TempDir(), "app.db")
	db, err := sqlite.Open(t.Context(), path, nil)
	require.NoError(t, err)
	require.NoError(t, queue.Migrate(t.Context(), db))
	require.NoError(t, db.Close())
	for line, want := range map[string]int{
		"":                                     0,
		"list":                                 ExitUsage,
		"frobnicate":                           ExitUsage,
		"list --frob":                          ExitUsage,
		"list --database nowhere/app.db":       ExitUsage,
		"list --state lost --database " + path: ExitUsage,
		"cancel --database " + path:            ExitUsage,
		"cancel 1 --all --database " + path:    ExitUsage,
		"show 1 --database " + path:            ExitUsage,
		"pause --database " + path:             ExitUsage,
		"list --database postgres://root@127.0.0.1:1/x": ExitFailed,
		"completion bash": 0,
		"completion":      0,
		"completion nosh": ExitUsage,
		"limits nosh":     ExitUsage,
		"limits set --type x --rate -1 --database " + path: ExitUsage,
		"schedules fire nothing --database " + path:        ExitUsage,
	} {
		r := run(t.Context(), strings.Fields(line)...)
		require.Equal(t, want, r.status, "%s: %s", line, r.errors)
	}
	r := run(t.Context(), "__complete", "list", "--state", "run")
	require.Contains(t, r.out, "running")
	t.Setenv(environment, path)
	require.Zero(t, run(t.Context(), "list").status)
}

func TestAShellProposesTypesAndSchedules(t *testing.T) {
	eachEngine(t, func(d *desk) {
		d.enqueue(2, nil)
		require.NoError(d, d.q.SetSchedule(d.Context(),
			queue.Schedule{Name: "daily", Cron: "0 7 * * *", Job: greet.New(1, nil)}))
		for line, want := range map[string]string{
			"list --type ": "greet", "cancel --type ": "greet", "pause --type ": "greet", "limits set --type ": "greet",
			"schedules fire ": "daily", "schedules edit ": "daily", "flows list --state ": "failed",
		} {
			args := append([]string{"__complete", "--database", d.dsn}, strings.Split(line, " ")...)
			r := run(d.Context(), args...)
			require.Contains(d, strings.Split(r.out, "\n"), want, "%s: %s", line, r.errors)
		}
	})
	r := run(t.Context(), "__complete", "--database", "nowhere.db", "list", "--type", "")
	require.Equal(t, ":4\n", r.out, "nothing is proposed, and no error is in the way")
}

func TestASignalIsSentToTheJobThatWaitsForIt(t *testing.T) {
	eachEngine(t, func(d *desk) {
		enqueued, err := d.q.Enqueue(d.Context(), greet.New(1, nil))
		require.NoError(d, err)
		id := enqueued.ID
		claim := func() *queue.Attempt {
			claimed, err := d.q.Claim(d.Context(), "w", []string{string(greet)}, 1)
			require.NoError(d, err)
			return claimed[0]
		}
		_, err = queue.Await[string](d.Context(), claim(), "approval", 0)
		require.ErrorIs(d, err, queue.ErrWaiting)
		require.Contains(d, d.did("explain "+id), "it waits for the signal approval")

		wrong := d.run("signal "+id+" approval", "yes")
		require.Equal(d, 2, wrong.status)
		require.Contains(d, wrong.errors, `the payload yes is not JSON`)
		require.Equal(d, "job "+id+": sent the signal approval\n", d.did("signal "+id+" approval", `"yes"`))
		answer, err := queue.Await[string](d.Context(), claim(), "approval", 0)
		require.NoError(d, err)
		require.Equal(d, "yes", answer)
		require.NoError(d, d.q.Cancel(d.Context(), id))
		require.Contains(d, d.run("signal "+id+" approval").errors, "has ended, and takes no signal")
	})
}
