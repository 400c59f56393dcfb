package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/sqlite"
)

func TestNamesThatNoQueueHasAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.db")
	db, err := sqlite.Open(t.Context(), path, nil)
	require.NoError(t, err)
	require.NoError(t, queue.Migrate(t.Context(), db))
	require.NoError(t, db.Close())
	dsn := dbtest.PostgresDSN(t)
	wrong := []string{"Mail_", "1st_", "ma il", "mäil", "mail-", "a\n"}
	for _, name := range append(wrong, "sqlite_x", strings.Repeat("x", 33)) {
		for _, args := range [][]string{
			{"list", "--table-prefix", name}, {"migrate", "up", "--table-prefix", name},
			{"move", "--to", path, "--to-table-prefix", name},
		} {
			r := run(t.Context(), append([]string{"--database", path}, args...)...)
			require.Equal(t, ExitUsage, r.status, "%s: %s", args, r.errors)
			require.Contains(t, r.errors, "table-prefix is ")
		}
	}
	for _, name := range append(wrong, "pg_mail", "information_schema", "plpgsql", strings.Repeat("x", 49)) {
		r := run(t.Context(), "--database", dsn, "--schema", name, "list")
		require.Equal(t, ExitUsage, r.status, "%s: %s", name, r.errors)
		require.Contains(t, r.errors, "--schema is ")
	}
}

// To make tables would be to begin a second queue beside the one that was meant.
func TestAQueueWithAPrefixIsFound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.db")
	db, err := sqlite.Open(t.Context(), path, &sqlite.Config{TablePrefix: "mail_"})
	require.NoError(t, err)
	require.NoError(t, queue.Migrate(t.Context(), db))
	require.NoError(t, db.Close())
	said := func(args ...string) string {
		r := run(t.Context(), append([]string{"--database", path}, args...)...)
		require.Equal(t, ExitFailed, r.status)
		return strings.TrimSpace(strings.TrimPrefix(r.errors, "queuectl: the file "+path+" has no queue "))
	}
	require.Equal(t, "without --table-prefix, but one with --table-prefix mail_; 'migrate up' would make another", said("list"))
	require.Equal(t, "without --to-table-prefix, but one with --to-table-prefix mail_; 'migrate up' would make another",
		said("--table-prefix", "mail_", "move", "--to", path))
	require.Equal(t, 0, run(t.Context(), "--database", path, "migrate", "up").status)
	require.Equal(t, "with --table-prefix mial_, but one without --table-prefix and one with --table-prefix mail_; "+
		"'migrate up' would make another", said("list", "--table-prefix", "mial_"))
}

func TestAFileToImportFromMustExist(t *testing.T) {
	eachEngine(t, func(d *desk) {
		r := d.run("import --format job_queue --from nosuch.db")
		require.Equal(d, result{ExitUsage, "", "queuectl: there is no file nosuch.db\n"}, r)
	})
}

func TestAPriorityIsCheckedBeforeAnybodyIsAsked(t *testing.T) {
	eachEngine(t, func(d *desk) {
		d.enqueue(1, nil)
		for _, to := range []string{"99999999999", "2147483648", "-2147483649"} {
			r := d.run("priority --all --to " + to)
			require.Equal(d, result{ExitUsage, "",
				"queuectl: --to is " + to + "; it must be within -2147483648 and 2147483647\n"}, r)
		}
		d.did("priority --all --yes --to -2147483648")
	})
}

// A flag without a value changes nothing, so that it must not be said to have changed the schedule.
func TestAScheduleIsNotEditedByAnEmptyFlag(t *testing.T) {
	eachEngine(t, func(d *desk) {
		require.NoError(d, d.q.SetSchedule(d.Context(),
			queue.Schedule{Name: "daily", Cron: "0 7 * * *", Zone: "Europe/Berlin", Job: greet.New(1, nil)}))
		before := d.did("schedules list --json")
		for _, flag := range []string{"--cron", "--zone", "--catch-up", "--payload"} {
			r := d.run("schedules edit daily --priority 3", flag, "")
			require.Equal(d, ExitUsage, r.status)
			require.Contains(d, r.errors, flag+" has no value; leave it out, or give ")
		}
		require.Equal(d, before, d.did("schedules list --json"))
		require.Equal(d, ExitUsage, d.run("schedules edit daily --priority 99999999999").status)
		d.did("schedules edit daily --zone UTC --payload null")
		require.Contains(d, d.did("schedules list --json"), `"payload": null`)
	})
}

// Of several lines, a list would be the first one.
func TestAListOfSeveralLinesIsRefused(t *testing.T) {
	eachEngine(t, func(d *desk) {
		id := d.enqueue(1, &queue.Options{Tags: []string{"x"}})[0]
		for _, line := range []string{"list", "cancel --yes", "errors"} {
			for flag, value := range map[string]string{"--type": "greet\nother", "--state": "queued\nfailed", "--tag": "x\ny"} {
				if line == "errors" && flag == "--tag" {
					continue // it has none
				}
				r := d.run(line, flag, value)
				require.Equal(d, ExitUsage, r.status, "%s %s: %s", line, flag, r.errors)
				require.Contains(d, r.errors, "it has several lines")
			}
		}
		require.Equal(d, ExitUsage, d.run("flows list --state", "running\nfailed").status)
		require.Equal(d, ExitUsage, d.run("import --from x --table y --column", "ID=a,Type=b\nState=c").status)
		require.Equal(d, queue.StateQueued, d.job(id).State)
		odd, err := d.q.Enqueue(d.Context(), queue.Type[int]("a\nb").New(1, nil))
		require.NoError(d, err)
		d.did("cancel --yes --type", "\"a\nb\"")
		require.Equal(d, queue.StateCanceled, d.job(odd.ID).State)
		require.Equal(d, ExitUsage, d.run("list --type", "\xff").status)
	})
}
