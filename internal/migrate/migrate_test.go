package migrate_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/internal/migrate"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/postgres"
)

// files are the same migrations for both dialects.
func files(byName map[string]string) fs.FS {
	out := fstest.MapFS{}
	for name, sql := range byName {
		for _, dialect := range []string{"sqlite", "postgres"} {
			out["migrations/"+dialect+"/"+name] = &fstest.MapFile{Data: []byte(sql)}
		}
	}
	return out
}

func run(t *testing.T, db queue.DB, pkg string, files fs.FS) error {
	return migrate.Up(t.Context(), db, string(db.Dialect()), pkg, files)
}

func versions(t *testing.T, db queue.DB) []string {
	t.Helper()
	var got []string
	require.NoError(t, db.Reader().Select(&got,
		"SELECT package || ' ' || name FROM postroom_migrations ORDER BY package, version"))
	return got
}

var first = map[string]string{
	"0001_letters.sql": "-- Letters; one a row.\nCREATE TABLE letters (id INTEGER PRIMARY KEY);\n\nINSERT INTO letters (id)\nVALUES (1);\n",
}

func with(base map[string]string, name, sql string) map[string]string {
	out := maps.Clone(base)
	out[name] = sql
	return out
}

func TestRunAppliesEachMigrationOnceAndInOrder(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, run(t, db, "post", files(first)))
		require.NoError(t, run(t, db, "post", files(first)))

		grown := with(with(first, "0010_last.sql", "UPDATE letters SET size = 7;\n"), "0002_size.sql",
			"ALTER TABLE letters ADD COLUMN size INTEGER;")
		require.NoError(t, run(t, db, "post", files(grown)))
		require.NoError(t, run(t, db, "post", files(grown)))
		var sizes []int
		require.NoError(t, db.Reader().Select(&sizes, "SELECT size FROM letters"))
		require.Equal(t, []int{7}, sizes)
		require.Equal(t, []string{"post 0001_letters.sql", "post 0002_size.sql", "post 0010_last.sql"}, versions(t, db))
	})
}

func TestPackagesAreApart(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, run(t, db, "post", files(first)))
		require.NoError(t, run(t, db, "bank",
			files(map[string]string{"0001_coins.sql": "CREATE TABLE coins (id INTEGER);"})))
		require.Equal(t, []string{"bank 0001_coins.sql", "post 0001_letters.sql"}, versions(t, db))
	})
}

func TestRunRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		err   string
	}{
		"a name without a number": {map[string]string{"letters.sql": ""},
			"letters.sql: a migration's name begins with its number, as 0001_words.sql"},
		"number zero": {map[string]string{"0000_letters.sql": ""}, "begins with its number"},
		"one number twice": {with(first, "0001_parcels.sql", ""),
			": 0001_letters.sql and 0001_parcels.sql have the same number"},
		"no files": {map[string]string{}, "migrate post: no migrations for this dialect"},
	} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, db queue.DB) {
				require.ErrorContains(t, run(t, db, "post", files(c.files)), c.err)
			})
		})
	}
}

func TestRunRefusesADatabaseOfANewerProgram(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, run(t, db, "post", files(with(first, "0002_more.sql", "CREATE TABLE more (id INTEGER);"))))
		err := run(t, db, "post", files(first))
		require.EqualError(t, err, "migrate post: the database is at version 2 and this program knows 1: run a newer program")
	})
}

func TestABrokenMigrationLeavesNothingBehind(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, run(t, db, "post", files(first)))
		broken := with(with(first, "0002_good.sql", "CREATE TABLE good (id INTEGER);"), "0003_bad.sql",
			"DROP TABLE absent;")
		err := run(t, db, "post", files(broken))
		require.ErrorContains(t, err, "migrate post: 0003_bad.sql: ")
		require.ErrorContains(t, err, "DROP TABLE absent", "the statement is named")
		require.Equal(t, []string{"post 0001_letters.sql"}, versions(t, db))
		require.NoError(t, run(t, db, "post", files(with(first, "0002_good.sql", "CREATE TABLE good (id INTEGER);"))))
	})
}

func TestHostsThatStartTogether(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		errs := make([]error, 8)
		var wg sync.WaitGroup
		for i := range errs {
			wg.Go(func() { errs[i] = run(t, db, "post", files(first)) })
		}
		wg.Wait()
		for i, err := range errs {
			require.NoError(t, err, fmt.Sprint("host ", i))
		}
		require.Equal(t, []string{"post 0001_letters.sql"}, versions(t, db))
	})
}

// A Migrate at every start costs a query, and waits for nobody who writes.
func TestUpToDateMigrateOnlyReads(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, run(t, db, "post", files(first)))
		require.NoError(t, migrate.Up(t.Context(), unwritable{db}, string(db.Dialect()), "post", files(first)))
		require.ErrorIs(t, migrate.Up(t.Context(), unwritable{db}, string(db.Dialect()), "bank", files(first)),
			errUnwritable)
	})
}

var errUnwritable = errors.New("it was written")

type unwritable struct{ queue.DB }

func (unwritable) Write(context.Context, func(context.Context, queue.Tx) error) error {
	return errUnwritable
}

func execute(t *testing.T, db queue.DB, statements ...string) {
	t.Helper()
	require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		for _, s := range statements {
			if _, err := tx.ExecContext(ctx, s); err != nil {
				return err
			}
		}
		return nil
	}))
}

// A package has replaced its migrations by one: a database that began with those is refused, whatever its version, and
// nothing in it changes.
func TestADatabaseFromBeforeTheBaselineIsRefused(t *testing.T) {
	initial := map[string]string{"0001_initial.sql": "CREATE TABLE letters (id INTEGER PRIMARY KEY, size INTEGER);"}
	for name, before := range map[string]map[string]string{
		"at the same version":     first,
		"at a later version":      with(first, "0002_size.sql", "ALTER TABLE letters ADD COLUMN size INTEGER;"),
		"and the new one goes on": with(first, "0003_more.sql", "CREATE TABLE more (id INTEGER);"),
	} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, db queue.DB) {
				require.NoError(t, run(t, db, "post", files(before)))
				was := versions(t, db)
				err := run(t, db, "post", files(initial))
				require.ErrorIs(t, err, migrate.ErrOutdated)
				require.ErrorContains(t, err, "migrate post: this database was made by a version before 0.1")
				require.ErrorIs(t, run(t, db, "post",
					files(with(initial, "0002_more.sql", "CREATE TABLE more (id INTEGER);"))), migrate.ErrOutdated)
				require.Equal(t, was, versions(t, db))
				require.NoError(t, run(t, db, "bank",
					files(map[string]string{"0001_initial.sql": "CREATE TABLE coins (id INTEGER);"})),
					"another package may")
			})
		})
	}
}

func TestADatabaseWithTheOldTableOfVersionsIsRefused(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		execute(t, db,
			"CREATE TABLE postroom_migrations (room TEXT NOT NULL, version INTEGER NOT NULL, name TEXT NOT NULL, PRIMARY KEY (room, version))",
			"INSERT INTO postroom_migrations VALUES ('post', 1, '0001_letters.sql')",
			"CREATE TABLE letters (id INTEGER)")
		require.ErrorIs(t, run(t, db, "post", files(first)), migrate.ErrOutdated)
		require.ErrorIs(t, run(t, db, "bank",
			files(map[string]string{"0001_coins.sql": "CREATE TABLE coins (id INTEGER);"})), migrate.ErrOutdated)
	})
}

func TestATableOfAnotherProgramIsNotTaken(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		execute(t, db, "CREATE TABLE letters (sender TEXT)")
		err := run(t, db, "post", files(first))
		require.ErrorContains(t, err,
			"migrate post: the database has a table letters already, which is not this package's: give package post ")
		require.NotContains(t, err.Error(), "\n")
		execute(t, db, "DROP TABLE letters")
		require.NoError(t, run(t, db, "post", files(first)))
	})
}

func TestWhatKeepsARoleFromMigratingIsSaid(t *testing.T) {
	dsn := dbtest.PostgresDSN(t)
	owner := open(t, dsn)
	require.NoError(t, run(t, owner, "post", files(first)))
	var schema string
	require.NoError(t, owner.Reader().Get(&schema, "SELECT current_schema()"))
	role := "reader_" + schema
	execute(t, owner, "CREATE ROLE "+role, "GRANT USAGE ON SCHEMA "+schema+" TO "+role,
		"GRANT SELECT ON ALL TABLES IN SCHEMA "+schema+" TO "+role)
	t.Cleanup(func() {
		_, err := open(t, dsn).Reader().Exec("DROP OWNED BY " + role + "; DROP ROLE " + role)
		require.NoError(t, err)
	})

	reader := open(t, dbtest.With(t, dsn, "role", role))
	require.NoError(t, run(t, reader, "post", files(first)), "it is up to date")
	require.EqualError(t, run(t, reader, "post",
		files(with(first, "0002_more.sql", "CREATE TABLE more (id INTEGER);"))),
		fmt.Sprintf("migrate post: the tables are not up to date, and role %[1]s may not create any in schema %[2]s: "+
			"run Migrate once as a role that may, or GRANT CREATE ON SCHEMA %[2]s TO %[1]s", role, schema))

	execute(t, owner, "REVOKE USAGE ON SCHEMA "+schema+" FROM "+role)
	require.EqualError(t, run(t, reader, "post", files(first)),
		fmt.Sprintf("migrate post: role %[1]s may not use schema %[2]s: "+
			"run Migrate once as a role that may, and GRANT USAGE ON SCHEMA %[2]s TO %[1]s", role, schema))

	astray := open(t, dbtest.With(t, dsn, "search_path", "nowhere"))
	require.EqualError(t, run(t, astray, "post", files(first)),
		"migrate post: there is no schema to create tables in (search_path is nowhere): run CREATE SCHEMA, or correct search_path")
}

func open(t *testing.T, dsn string) *postgres.DB {
	t.Helper()
	db, err := postgres.Open(context.Background(), dsn, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// What is known of a database is asked of it once; what is to be done is done all the same.
func TestWhatIsKnownIsNotAskedAgain(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		up := func(ctx context.Context, byName map[string]string) error {
			return migrate.Up(ctx, db, string(db.Dialect()), "post", files(byName))
		}
		ctx := migrate.WithKnown(t.Context(), db.Reader(), string(db.Dialect()))
		require.NoError(t, up(ctx, first))
		require.NoError(t, up(ctx, first), "it is older than what another has done meanwhile")

		ctx = migrate.WithKnown(t.Context(), db.Reader(), string(db.Dialect()))
		grown := with(first, "0002_size.sql", "ALTER TABLE letters ADD COLUMN size INTEGER;")
		require.NoError(t, up(ctx, grown))
		require.ErrorContains(t, up(migrate.WithKnown(t.Context(), db.Reader(), string(db.Dialect())), first),
			"run a newer program")
		require.Equal(t, []string{"post 0001_letters.sql", "post 0002_size.sql"}, versions(t, db))

		require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			_, err := tx.ExecContext(ctx, "DROP TABLE postroom_migrations")
			return err
		}))
		require.NoError(t, up(ctx, first), "nothing is asked of the database")
		require.ErrorContains(t, run(t, db, "post", files(first)), "a table letters already")
	})
}
