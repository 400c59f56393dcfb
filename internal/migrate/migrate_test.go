package migrate_test

import (
	"context"
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

func run(t *testing.T, db queue.DB, room string, files fs.FS) error {
	return db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		return migrate.Run(ctx, tx, string(db.Dialect()), room, files)
	})
}

func versions(t *testing.T, db queue.DB) []string {
	t.Helper()
	var got []string
	require.NoError(t, db.Reader().Select(&got, "SELECT room || ' ' || name FROM postroom_migrations ORDER BY room, version"))
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

		grown := with(with(first, "0010_last.sql", "UPDATE letters SET size = 7;\n"), "0002_size.sql", "ALTER TABLE letters ADD COLUMN size INTEGER;")
		require.NoError(t, run(t, db, "post", files(grown)))
		require.NoError(t, run(t, db, "post", files(grown)))
		var sizes []int
		require.NoError(t, db.Reader().Select(&sizes, "SELECT size FROM letters"))
		require.Equal(t, []int{7}, sizes)
		require.Equal(t, []string{"post 0001_letters.sql", "post 0002_size.sql", "post 0010_last.sql"}, versions(t, db))
	})
}

func TestRoomsAreApart(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, run(t, db, "post", files(first)))
		require.NoError(t, run(t, db, "bank", files(map[string]string{"0001_coins.sql": "CREATE TABLE coins (id INTEGER);"})))
		require.Equal(t, []string{"bank 0001_coins.sql", "post 0001_letters.sql"}, versions(t, db))
	})
}

func TestRunRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		err   string
	}{
		"a name without a number": {map[string]string{"letters.sql": ""}, "letters.sql: a migration's name begins with its number, as 0001_words.sql"},
		"number zero":             {map[string]string{"0000_letters.sql": ""}, "begins with its number"},
		"one number twice":        {with(first, "0001_parcels.sql", ""), ": 0001_letters.sql and 0001_parcels.sql have the same number"},
		"no files":                {map[string]string{}, "migrate post: no migrations for this dialect"},
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
		broken := with(with(first, "0002_good.sql", "CREATE TABLE good (id INTEGER);"), "0003_bad.sql", "CREATE TABLE good (id INTEGER);")
		err := run(t, db, "post", files(broken))
		require.ErrorContains(t, err, "migrate post: 0003_bad.sql: ")
		require.ErrorContains(t, err, "CREATE TABLE good", "the statement is named")
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
