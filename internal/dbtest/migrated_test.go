package dbtest_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/postgres"
)

func TestMain(m *testing.M) { dbtest.Main(m, migrate) }

var migrated = map[string]int{}

// migrate does nothing with a database that has the tables.
func migrate(ctx context.Context, db queue.DB) error {
	var there int
	if err := db.Reader().GetContext(ctx, &there, "SELECT COUNT(*) FROM settings"); err == nil {
		return nil
	}
	migrated[string(db.Dialect())]++
	return db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		id := "INTEGER PRIMARY KEY AUTOINCREMENT"
		if db.Dialect() == "postgres" {
			id = "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
		}
		for _, statement := range []string{
			"CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
			"INSERT INTO settings VALUES ('whose', 'it''s ours')",
			"CREATE TABLE letters (id " + id + ", name TEXT NOT NULL REFERENCES settings (name))",
			"CREATE TABLE stamps (letter BIGINT NOT NULL REFERENCES letters (id))",
		} {
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	})
}

func exec(t *testing.T, db queue.DB, statements ...string) {
	t.Helper()
	require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		for _, statement := range statements {
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	}))
}

// requireNew requires that no test can tell the database from a new one.
func requireNew(t *testing.T, db queue.DB) {
	t.Helper()
	var settings []string
	require.NoError(t, db.Reader().SelectContext(t.Context(), &settings, "SELECT name || ': ' || value FROM settings"))
	require.Equal(t, []string{"whose: it's ours"}, settings)
	exec(t, db, "INSERT INTO letters (name) VALUES ('whose')")
	var ids []int
	require.NoError(t, db.Reader().SelectContext(t.Context(), &ids, "SELECT id FROM letters"))
	require.Equal(t, []int{1}, ids)
	var stamps int
	require.NoError(t, db.Reader().GetContext(t.Context(), &stamps, "SELECT COUNT(*) FROM stamps"))
	require.Zero(t, stamps)
}

func TestADatabaseIsMigratedOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) { requireNew(t, db) })
	before := migrated["postgres"]
	for range 3 {
		dbtest.Each(t, func(t *testing.T, db queue.DB) {
			requireNew(t, db)
			exec(t, db, "INSERT INTO settings VALUES ('a', 'b')", "UPDATE settings SET value = 'lost' WHERE name = 'whose'",
				"INSERT INTO letters (name) VALUES ('a')", "INSERT INTO stamps VALUES (2)")
		})
	}
	require.Equal(t, 1, migrated["sqlite"])
	require.Equal(t, before, migrated["postgres"])
}

func TestATruncatedTableIsFilledAgain(t *testing.T) {
	for range 2 {
		t.Run("", func(t *testing.T) {
			db := dbtest.Postgres(t)
			requireNew(t, db)
			exec(t, db, "TRUNCATE settings CASCADE")
		})
	}
}

func TestTestsAtOnceHaveTheirOwn(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		requireNew(t, db)
		dbtest.Each(t, func(t *testing.T, db queue.DB) { requireNew(t, db) })
	})
}

func TestAChangedSchemaIsNotUsedAgain(t *testing.T) {
	dbtest.PostgresDSN(t) // without a server, all of it is skipped
	for name, statement := range map[string]string{
		"table":      "CREATE TABLE more (n INTEGER)",
		"no table":   "DROP TABLE stamps",
		"column":     "ALTER TABLE letters ADD COLUMN n INTEGER",
		"default":    "ALTER TABLE settings ALTER COLUMN value SET DEFAULT ''",
		"index":      "CREATE INDEX more ON letters (name)",
		"constraint": "ALTER TABLE stamps DROP CONSTRAINT stamps_letter_fkey",
		"privilege":  "GRANT SELECT ON letters TO PUBLIC",
		"statistics": "ANALYZE settings",
		"function":   "CREATE FUNCTION one() RETURNS INTEGER LANGUAGE sql AS 'SELECT 1'",
		"large":      "INSERT INTO settings SELECT n, repeat('x', 1000) FROM generate_series(1, 2000) n",
	} {
		t.Run(name, func(t *testing.T) {
			var before, after string
			t.Run("changes", func(t *testing.T) {
				db := dbtest.Postgres(t)
				before = schemaOf(t, db)
				exec(t, db, statement)
			})
			t.Run("follows", func(t *testing.T) {
				db := dbtest.Postgres(t)
				after = schemaOf(t, db)
				requireNew(t, db)
			})
			require.NotEqual(t, before, after)
		})
	}
}

func schemaOf(t *testing.T, db *postgres.DB) (name string) {
	t.Helper()
	require.NoError(t, db.Reader().GetContext(t.Context(), &name, "SELECT current_schema"))
	require.True(t, strings.HasPrefix(name, "test_"), name)
	return name
}

func TestAnEmptyDatabaseHasNoTables(t *testing.T) {
	dbtest.EachEmpty(t, func(t *testing.T, db queue.DB) {
		var there int
		require.Error(t, db.Reader().Get(&there, "SELECT COUNT(*) FROM settings"))
	})
}
