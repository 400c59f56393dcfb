package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// --user "$WHO" where WHO is not set must not select the jobs of everybody.
func TestAnEmptyFlagSelectsNothing(t *testing.T) {
	eachEngine(t, func(d *desk) {
		later := time.Date(2035, 1, 1, 0, 0, 0, 0, time.UTC)
		id := d.enqueue(1, &queue.Options{UserID: "ada", NotBefore: later})[0]
		for _, flag := range []string{
			"--user=", "--key=", "--limit-key=", "--tag=", "--tag=a,", "--error=", "--error-group=", "--older-than=0s",
			"--newer-than=0s", "--state=", "--error-group=none", "--batch=0", "--batch=5001",
		} {
			r := d.run("cancel --yes --type greet", flag)
			require.Equal(d, ExitUsage, r.status, "%s: %s%s", flag, r.out, r.errors)
			require.Contains(d, r.errors, strings.SplitN(flag, "=", 2)[0])
			require.Empty(d, r.out, "it is refused before anybody is asked")
		}
		require.Equal(d, ExitUsage, d.run("list", "--user=").status)
		require.Equal(d, ExitUsage, d.run("retry --yes --type greet --batch 501").status)
		for _, when := range []string{"--at=", "--at=tomorrow", "--at=2035-01-01T00:00", "--in=-5m"} {
			require.Equal(d, ExitUsage, d.run("reschedule --yes --all", when).status, when)
		}
		require.Equal(d, ExitUsage, run(d.Context(), "list", "--database", "").status)
		require.Equal(d, ExitUsage, d.run("stats --window 1s").status)
		require.Equal(d, queue.StateQueued, d.job(id).State)
		require.Equal(d, later, d.job(id).NotBefore)
		require.Contains(d, d.did("cancel --yes --type greet,greet"), "greet: 1 queued\n", "a type counts once")
	})
}

// A mistyped path may be the file of another program, whose journal mode is its own.
func TestTheFileOfAnotherProgramIsLeftAsItIs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "other.db")
	other, err := sqlx.Open(sqlite.DriverName, path)
	require.NoError(t, err)
	_, err = other.ExecContext(t.Context(), "CREATE TABLE jobs (id INTEGER, name TEXT); INSERT INTO jobs VALUES (1, 'x')")
	require.NoError(t, err)
	require.NoError(t, other.Close())
	empty := filepath.Join(t.TempDir(), "empty.db")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	for _, path := range []string{path, empty} {
		before, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, line := range []string{
			"list", "show 1", "stats", "verify", "doctor", "cancel --all --yes", "pause --all", "schedules list",
			"import --format job_queue --from " + path, "move --to " + path,
		} {
			r := run(t.Context(), append([]string{"--database", path}, strings.Fields(line)...)...)
			require.Equal(t, ExitFailed, r.status, "%s: %s", line, r.errors)
			require.Contains(t, r.errors, "has no queue; 'migrate up' makes its tables", line)
		}
		require.Contains(t, run(t.Context(), "--database", path, "migrate", "status").out, "pending")
		require.Contains(t, run(t.Context(), "--database", path, "migrate", "sql").out, "CREATE TABLE jobs")
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, before, after)
		files, err := os.ReadDir(filepath.Dir(path))
		require.NoError(t, err)
		require.Len(t, files, 1, "and no file is beside it")
	}
	require.Contains(t, run(t.Context(), "--database", path, "migrate", "up").errors, "which is not this package's")
}

func TestTablesOfAnotherProgramOrVersionAreSaidToBe(t *testing.T) {
	eachEngine(t, func(d *desk) {
		write := func(text string) {
			d.Helper()
			require.NoError(d, d.q.DB().Write(d.Context(), func(ctx context.Context, tx queue.Tx) error {
				_, err := tx.ExecContext(ctx, text)
				return err
			}))
		}
		write("ALTER TABLE job_turn_marks RENAME TO newest")
		r := d.run("list")
		require.Equal(d, ExitFailed, r.status)
		require.Contains(d, r.errors, "'migrate status' shows")
		write("ALTER TABLE jobs RENAME TO queued")
		write("CREATE TABLE jobs (id INTEGER)")
		require.Contains(d, d.run("list").errors, "the table jobs of this database is not a queue's")
		write("INSERT INTO postroom_migrations (package, version, name) VALUES ('queue', 1000, 'x')")
		require.Contains(d, d.run("migrate status").errors, "run a newer program")
	})
}

func TestNoPasswordIsPrinted(t *testing.T) {
	for _, dsn := range []string{
		"mysql://ada:hush@host/app", "Postgres://ada:hush@127.0.0.1:1/app", "user=ada password=hush host=127.0.0.1 port=1",
		"POSTGRESQL://ada:hu%sh@127.0.0.1:1/app", "postgres//ada:hush@127.0.0.1/app://",
	} {
		r := run(t.Context(), "list", "--database", dsn)
		require.NotZero(t, r.status)
		require.NotContains(t, r.out+r.errors, "hush", dsn)
		require.NotContains(t, r.out+r.errors, "hu%sh", dsn)
	}
}

// Jobs that were imported have the ids that they had.
func TestJobsWithForeignIDsAreFound(t *testing.T) {
	eachEngine(t, func(d *desk) {
		path := filepath.Join(d.TempDir(), "old.db")
		old, err := sqlx.Open(sqlite.DriverName, path)
		require.NoError(d, err)
		_, err = old.ExecContext(d.Context(), `CREATE TABLE tasks (id TEXT, kind TEXT, status TEXT);
INSERT INTO tasks VALUES ('1', 'greet', 'new'), ('10', 'greet', 'new'), ('Task_17', 'greet', 'new'), ('Task117', 'greet', 'new'),
  ('50%', 'greet', 'new'), ('50 or more', 'greet', 'new'), ('o''Neil!', 'greet', 'new')`)
		require.NoError(d, err)
		require.NoError(d, old.Close())
		d.did("import --table tasks --column ID=id,Type=kind,State=status --state new=queued --from " + path)
		for typed, want := range map[string]string{
			"1": "1", "10": "10", "Task_17": "Task_17", "Task_": "Task_17", "50%": "50%", "o'Neil!": "o'Neil!", "Neil!": "o'Neil!",
			"50 or": "50 or more",
		} {
			r := d.run("show", typed)
			require.Zero(d, r.status, "%s: %s", typed, r.errors)
			require.Equal(d, want, strings.TrimSpace(strings.TrimPrefix(strings.SplitN(r.out, "\n", 2)[0], "id")))
		}
		for _, typed := range []string{"Task", "", "_", "none", "\x00", "\xff"} {
			require.Equal(d, ExitUsage, d.run("show", typed).status, typed)
		}
		id := d.enqueue(1, nil)[0]
		d.did("show", strings.ToUpper(id[:12]))
	})
}

// A flagged writer calls seen when a question is asked.
type flagged struct {
	bytes.Buffer
	mu   sync.Mutex
	once sync.Once
	seen func()
}

func (f *flagged) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.Buffer.Write(p)
	if bytes.Contains(p, []byte("[y/N]")) {
		f.once.Do(f.seen)
	}
	return n, err
}

func TestAnInterruptedBulkSaysWhatIsDone(t *testing.T) {
	eachEngine(t, func(d *desk) {
		jobs := make([]queue.NewJob, 3000)
		for i := range jobs {
			jobs[i] = greet.New(i, nil)
		}
		_, err := d.q.EnqueueMany(d.Context(), jobs)
		require.NoError(d, err)

		ctx, cancel := context.WithCancel(d.Context())
		var out, errs bytes.Buffer
		var interrupter sync.WaitGroup
		interrupter.Go(func() {
			for n := 0; n == 0 && d.Context().Err() == nil; {
				counts, err := d.q.Counts(d.Context(), queue.Filter{States: []queue.State{queue.StateCanceled}})
				if assert.NoError(d, err) {
					n = counts[queue.StateCanceled]
				}
			}
			cancel()
		})
		status := Run(ctx, []string{"--database", d.dsn, "cancel", "--all", "--yes", "--batch", "10"}, strings.NewReader(""),
			&out, &errs)
		interrupter.Wait()
		require.Equal(d, exitInterrupted, status, errs.String())
		counts, err := d.q.Counts(d.Context(), queue.Filter{})
		require.NoError(d, err)
		canceled := counts[queue.StateCanceled]
		require.Positive(d, counts[queue.StateQueued])
		require.Zero(d, canceled%10, "a transaction is whole or not at all")
		require.Contains(d, out.String(), fmt.Sprintf("\n%d jobs canceled\n", canceled))
		require.Contains(d, errs.String(), "the same command does the rest")
		require.Contains(d, d.did("cancel --all --yes"), fmt.Sprintf("%d jobs canceled", len(jobs)-canceled))
	})
}

func TestAQuestionIsInterrupted(t *testing.T) {
	eachEngine(t, func(d *desk) {
		id := d.enqueue(1, nil)[0]
		ctx, cancel := context.WithCancel(d.Context())
		in, typing := io.Pipe()
		out := &flagged{seen: cancel}
		require.Equal(d, exitInterrupted, Run(ctx, []string{"--database", d.dsn, "cancel", "--all"}, in, out, io.Discard))
		require.Equal(d, queue.StateQueued, d.job(id).State)
		require.NoError(d, typing.Close())
	})
}

// One damaged row must not hide the others. PostgreSQL stores no such value.
func TestAPayloadThatIsNotJSONIsShown(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.db")
	db, err := sqlite.Open(t.Context(), path, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	d := newDesk(t, db, path)
	id := d.enqueue(2, nil)[0]
	require.NoError(t, d.q.SetSchedule(d.Context(),
		queue.Schedule{Name: "daily", Cron: "0 7 * * *", Job: greet.New(1, nil)}))
	require.NoError(t, db.Write(d.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE jobs SET payload_json = '{bad', result_json = 'nope' WHERE id = $1", id)
		if err == nil {
			_, err = tx.ExecContext(ctx, "UPDATE job_schedules SET payload_json = '{bad'")
		}
		return err
	}))
	require.Contains(t, d.did("list --json"), `"payload": "{bad"`)
	require.Contains(t, d.did("show --json "+id), `"result": "nope"`)
	require.Contains(t, d.did("schedules list --json"), `"payload": "{bad"`)
}

// The tables of a queue beside those of another program.
func TestAQueueWithAPrefix(t *testing.T) {
	path := filepath.Join(t.TempDir(), "other.db")
	other, err := sqlx.Open(sqlite.DriverName, path)
	require.NoError(t, err)
	_, err = other.ExecContext(t.Context(), "CREATE TABLE jobs (id INTEGER, name TEXT); INSERT INTO jobs VALUES (1, 'x')")
	require.NoError(t, err)
	require.NoError(t, other.Close())
	with := func(line string) result {
		return run(t.Context(), append([]string{"--database", path, "--table-prefix", "mail_"}, strings.Fields(line)...)...)
	}
	require.Contains(t, with("list").errors, "has no queue")
	require.Contains(t, with("migrate sql").out, "CREATE TABLE mail_jobs")
	require.Contains(t, with("migrate up").out, "up to date")
	db, err := sqlite.Open(t.Context(), path, &sqlite.Config{TablePrefix: "mail_"})
	require.NoError(t, err)
	q, err := queue.New(db, nil)
	require.NoError(t, err)
	enqueued, err := q.Enqueue(t.Context(), queue.Type[int]("greet").New(1, nil))
	require.NoError(t, err)
	require.NoError(t, db.Close())
	require.Contains(t, with("show "+enqueued.ID[len(enqueued.ID)-6:]).out, enqueued.ID)
	require.Equal(t, ExitFailed, with("migrate remove --yes").status)
	asked := with("migrate remove --force")
	require.Equal(t, ExitUsage, asked.status)
	require.Contains(t, asked.out, "Remove the tables of the queue (mail_jobs, …), with all jobs, schedules and limits? [y/N]")
	require.Contains(t, asked.errors, "nothing was removed")
	require.Contains(t, with("migrate remove --force --yes").out, "removed")
	require.Contains(t, with("list").errors, "has no queue")
	require.Contains(t, with("migrate remove --yes").errors, "no tables of the queue's: nothing is removed")
}

// A flag that says nothing about the database would have the command work on another queue of it.
func TestASchemaIsOfPostgresAndAPrefixOfSQLite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.db")
	db, err := sqlite.Open(t.Context(), path, nil)
	require.NoError(t, err)
	require.NoError(t, queue.Migrate(t.Context(), db))
	require.NoError(t, db.Close())
	r := run(t.Context(), "--database", path, "--schema", "mail", "migrate", "remove", "--yes")
	require.Equal(t, ExitUsage, r.status)
	require.Contains(t, r.errors, "--schema is for PostgreSQL, and "+path+" is an SQLite file: use --table-prefix")
	dsn := dbtest.PostgresDSN(t)
	r = run(t.Context(), "--database", dsn, "--table-prefix", "mail_", "list")
	require.Equal(t, ExitUsage, r.status)
	require.Contains(t, r.errors, "--table-prefix is for SQLite, and the database is one of PostgreSQL: use --schema")
	// The new database of a move has flags of its own.
	r = run(t.Context(), "--database", path, "move", "--to", dsn, "--to-table-prefix", "mail_")
	require.Equal(t, ExitUsage, r.status)
	require.Contains(t, r.errors, "--to-table-prefix is for SQLite, and the database is one of PostgreSQL: use --to-schema")
	r = run(t.Context(), "--database", path, "move", "--to", path, "--to-schema", "mail")
	require.Equal(t, ExitUsage, r.status)
	require.Contains(t, r.errors, "--to-schema is for PostgreSQL, and "+path+" is an SQLite file: use --to-table-prefix")
	r = run(t.Context(), "--database", "mysql://ada:hush@host/app", "--schema", "mail", "list")
	require.NotContains(t, r.errors, "hush")
}

func TestAQueueInASchema(t *testing.T) {
	location, err := url.Parse(dbtest.PostgresDSN(t))
	require.NoError(t, err)
	schema := location.Query().Get("search_path")
	elsewhere := dbtest.PostgresDSN(t)
	with := func(line string) result {
		return run(t.Context(), append([]string{"--database", elsewhere, "--schema", schema}, strings.Fields(line)...)...)
	}
	require.Contains(t, with("migrate sql").out, `CREATE TABLE "`+schema+`".jobs`)
	require.Contains(t, with("migrate up").out, "up to date")
	require.Contains(t, with("migrate status").out, "applied")
	require.Equal(t, 0, with("list").status)
	require.Contains(t, run(t.Context(), "--database", elsewhere, "list").errors, "add --schema or --table-prefix")
	require.Contains(t, with("migrate remove --yes").out, "removed")
}
