package queueadmin_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

// dump lists all that is in the database, or in the schema of the connection. SQLite itself makes sqlite_sequence, and
// lets nobody remove it.
func dump(t *testing.T, db queue.DB) (all []string) {
	t.Helper()
	query := `SELECT type || ' ' || name || ': ' || COALESCE(sql, '') FROM sqlite_schema WHERE name <> 'sqlite_sequence' ORDER BY 1`
	if db.Dialect() == driver.Postgres {
		query = `
SELECT relkind::text || ' ' || relname || ': ' || COALESCE((
    SELECT string_agg(attname || ' ' || atttypid::regtype, ', ' ORDER BY attnum)
    FROM pg_attribute
    WHERE attrelid = pg_class.oid AND attnum > 0), '')
FROM pg_class WHERE relnamespace = current_schema()::regnamespace
UNION ALL SELECT 'function ' || proname FROM pg_proc WHERE pronamespace = current_schema()::regnamespace
UNION ALL SELECT 'type ' || typname FROM pg_type WHERE typnamespace = current_schema()::regnamespace
UNION ALL SELECT 'constraint ' || conname FROM pg_constraint WHERE connamespace = current_schema()::regnamespace
ORDER BY 1`
	}
	require.NoError(t, db.Reader().SelectContext(t.Context(), &all, query))
	return all
}

func executeIn(t *testing.T, db queue.DB, statements ...string) {
	t.Helper()
	require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx driver.Tx) error {
		for _, statement := range statements {
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	}))
}

func TestUninstallRemovesWhatMigrateHasMade(t *testing.T) {
	dbtest.EachEmpty(t, func(t *testing.T, db queue.DB) {
		executeIn(t, db, "CREATE TABLE job_notes (id INTEGER PRIMARY KEY, note TEXT)", "CREATE INDEX notes ON job_notes (note)")
		before := dump(t, db)
		require.ErrorContains(t, queueadmin.Uninstall(t.Context(), db, nil), "no tables of the queue's: nothing is removed")
		require.NoError(t, queue.Migrate(t.Context(), db))
		require.NotEqual(t, before, dump(t, db))
		q, err := queue.New(db, nil)
		require.NoError(t, err)
		// Of a sequence, so that all triggers are there.
		enqueued, err := q.Enqueue(t.Context(), ping.New(1, &queue.Options{Sequence: "s"}))
		require.NoError(t, err)
		require.ErrorIs(t, queueadmin.Uninstall(t.Context(), db, nil), queueadmin.ErrInUse)
		require.NoError(t, q.Cancel(t.Context(), enqueued.ID))
		require.NoError(t, queueadmin.Uninstall(t.Context(), db, nil))
		require.Equal(t, before, dump(t, db))
	})
}

func TestUninstallLeavesOtherPackagesTheirRecord(t *testing.T) {
	dbtest.EachEmpty(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		executeIn(t, db, "INSERT INTO postroom_migrations (package, version, name) VALUES ('other', 1, '0001_initial.sql')")
		require.NoError(t, queueadmin.Uninstall(t.Context(), db, nil))
		var left []string
		require.NoError(t, db.Reader().Select(&left, "SELECT package FROM postroom_migrations"))
		require.Equal(t, []string{"other"}, left)
	})
}

func TestUninstallRefuses(t *testing.T) {
	dbtest.EachEmpty(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		q, err := queue.New(db, nil)
		require.NoError(t, err)
		d, err := queue.NewDispatcher(q, nil)
		require.NoError(t, err)
		started := make(chan struct{})
		queue.Handle(d, ping, func(context.Context, *queue.Work[int]) error {
			close(started)
			return nil
		})
		_, err = q.Enqueue(t.Context(), ping.New(1, nil))
		require.NoError(t, err)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- d.Run(ctx) }()
		<-started
		err = queueadmin.Uninstall(t.Context(), db, nil)
		require.ErrorIs(t, err, queueadmin.ErrInUse)
		require.ErrorContains(t, err, "1 dispatchers have been running within the last minute")
		stop()
		require.NoError(t, <-ended)

		// A table of the program's refers to the jobs.
		before := dump(t, db)
		executeIn(t, db, "CREATE TABLE job_notes (job_id TEXT REFERENCES jobs (id) ON DELETE CASCADE)")
		err = queueadmin.Uninstall(t.Context(), db, &queueadmin.UninstallOptions{Force: true})
		require.ErrorContains(t, err, map[driver.Dialect]string{
			driver.SQLite:   "the table job_notes refers to jobs, and would lose its rows: drop its foreign key first",
			driver.Postgres: "the table job_notes refers to jobs, and would lose its foreign key: drop that first",
		}[db.Dialect()])
		executeIn(t, db, "DROP TABLE job_notes")
		require.Equal(t, before, dump(t, db))
		require.NoError(t, queueadmin.Uninstall(t.Context(), db, nil))
		require.Empty(t, dump(t, db))
	})
}

// What uses the queue's tables would fail at its next use: a view, and a trigger that enqueues, as in docs/sql.md.
func TestUninstallLeavesNothingThatIsBroken(t *testing.T) {
	dbtest.EachEmpty(t, func(t *testing.T, db queue.DB) {
		executeIn(t, db, "CREATE TABLE orders (id INTEGER PRIMARY KEY)", "CREATE VIEW job_enqueued AS SELECT id FROM orders")
		require.NoError(t, queue.Migrate(t.Context(), db))
		trigger := []string{
			"CREATE TRIGGER order_mail AFTER INSERT ON orders BEGIN INSERT INTO job_enqueue (type) VALUES ('mail'); END",
			"DROP TRIGGER order_mail",
		}
		words := "order_mail: no such table: main.job_enqueue"
		if db.Dialect() == driver.Postgres {
			trigger = []string{"CREATE FUNCTION order_mail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN " +
				"PERFORM job_enqueue('mail'); RETURN NEW; END $$", "DROP FUNCTION order_mail"}
			words = "the function order_mail() calls job_enqueue, and would fail: drop it first"
		}
		for _, c := range []struct{ create, drop, words string }{
			{"CREATE VIEW mine AS SELECT id FROM jobs", "DROP VIEW mine", map[driver.Dialect]string{
				driver.SQLite:   "mine: no such table: main.jobs",
				driver.Postgres: "the view mine reads jobs, and would fail: drop it first",
			}[db.Dialect()]},
			{trigger[0], trigger[1], words},
		} {
			before := dump(t, db)
			executeIn(t, db, c.create)
			err := queueadmin.Uninstall(t.Context(), db, &queueadmin.UninstallOptions{Force: true})
			require.ErrorContains(t, err, c.words)
			executeIn(t, db, c.drop)
			require.Equal(t, before, dump(t, db))
		}
		require.NoError(t, queueadmin.Uninstall(t.Context(), db, nil))
		executeIn(t, db, "INSERT INTO orders (id) VALUES (1)")
	})
}

// However a function of the program's writes the call.
func TestUninstallFindsCallsOfJobEnqueue(t *testing.T) {
	db := dbtest.Postgres(t)
	require.NoError(t, queue.Migrate(t.Context(), db))
	var schema string
	require.NoError(t, db.Reader().Get(&schema, "SELECT current_schema()"))
	for _, c := range []struct{ call, setting string }{
		{"Job_Enqueue('mail')", ""}, {`"job_enqueue" ('mail')`, ""}, {schema + " . job_enqueue('mail')", ""},
		{strings.ToUpper(schema) + ".job_enqueue('mail')", ""},
		{`"` + schema + `"."job_enqueue"('mail')`, ""}, {"job_enqueue('mail')", "SET search_path = public, " + schema},
	} {
		executeIn(t, db, "CREATE FUNCTION order_mail() RETURNS void LANGUAGE plpgsql "+c.setting+
			" AS $$ BEGIN PERFORM "+c.call+"; END $$")
		require.ErrorContains(t, queueadmin.Uninstall(t.Context(), db, nil), "the function order_mail() calls job_enqueue",
			c.call)
		executeIn(t, db, "DROP FUNCTION order_mail")
	}
	executeIn(t, db, "CREATE TABLE later (id TEXT DEFAULT job_enqueue('mail'))")
	require.ErrorContains(t, queueadmin.Uninstall(t.Context(), db, nil),
		"the default value for column id of table later calls job_enqueue, and would fail: drop it first")
	executeIn(t, db, "DROP TABLE later")
	require.NoError(t, queueadmin.Uninstall(t.Context(), db, nil))
}

// A view that was broken before hides what else would be: SQLite tells of the first.
func TestUninstallWhereAViewIsBroken(t *testing.T) {
	db := dbtest.SQLite(t)
	require.NoError(t, queue.Migrate(t.Context(), db))
	executeIn(t, db, "CREATE VIEW broken AS SELECT id FROM gone", "CREATE VIEW mine AS SELECT id FROM jobs")
	before := dump(t, db)
	for _, c := range []struct{ says, which, mend string }{
		{"something in the database is broken already, which hides what uses the queue's tables: drop or mend it first: ",
			"error in view broken: no such table: main.gone", "DROP VIEW broken"},
		{"something of the program's uses the queue's tables: drop it first: ",
			"error in view mine: no such table: main.jobs", "DROP VIEW mine"},
	} {
		err := queueadmin.Uninstall(t.Context(), db, &queueadmin.UninstallOptions{Force: true})
		require.ErrorContains(t, err, c.says)
		require.ErrorContains(t, err, c.which)
		require.Equal(t, before, dump(t, db))
		executeIn(t, db, c.mend)
		before = dump(t, db)
	}
	require.NoError(t, queueadmin.Uninstall(t.Context(), db, nil))
	require.Empty(t, dump(t, db))
}

// The names of tables that Uninstall and migrations need for a moment may be a program's.
func TestUninstallLeavesTablesOfPassingNames(t *testing.T) {
	dbtest.EachEmpty(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		executeIn(t, db, "CREATE TABLE job_turns_kept (id TEXT)", "CREATE TABLE postroom_probe (id TEXT)",
			"CREATE TABLE postroom_probed (id TEXT)")
		require.NoError(t, queueadmin.Uninstall(t.Context(), db, nil))
		for _, table := range []string{"job_turns_kept", "postroom_probe", "postroom_probed"} {
			executeIn(t, db, "DROP TABLE "+table)
		}
		require.Empty(t, dump(t, db))
	})
}

func TestUninstallByAnOlderProgramRemovesNothing(t *testing.T) {
	dbtest.EachEmpty(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		executeIn(t, db, "CREATE TABLE job_future (id TEXT)",
			"INSERT INTO postroom_migrations (package, version, name) VALUES ('queue', 99, '0099_future.sql')")
		before := dump(t, db)
		err := queueadmin.Uninstall(t.Context(), db, &queueadmin.UninstallOptions{Force: true})
		require.ErrorContains(t, err, "the database is at version 99")
		require.ErrorContains(t, err, "run a newer program")
		require.Equal(t, before, dump(t, db))
	})
}
