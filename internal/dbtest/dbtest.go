// Package dbtest runs a test on every database that stores support.
package dbtest

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/postgres"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// PostgresEnv names the environment variable with the URL of a PostgreSQL server for tests.
const PostgresEnv = "POSTROOM_TEST_POSTGRES"

// Each runs fn on a new SQLite file and on a schema of the PostgreSQL server, which are empty but for what the
// package has given to [Main]. Without a server the second run is skipped, except under CI, where it fails.
func Each(t *testing.T, fn func(t *testing.T, db queue.DB)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { fn(t, SQLite(t)) })
	t.Run("postgres", func(t *testing.T) { fn(t, Postgres(t)) })
}

// EachEmpty is [Each] on databases without tables, whatever the package has given to [Main].
func EachEmpty(t *testing.T, fn func(t *testing.T, db queue.DB)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { fn(t, openFile(t, filepath.Join(t.TempDir(), "empty.db"))) })
	t.Run("postgres", func(t *testing.T) { fn(t, openDSN(t, PostgresDSN(t))) })
}

// SQLite opens a new file for the duration of the test.
func SQLite(t testing.TB) *sqlite.DB {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.db")
	MigratedFile(t, path)
	return openFile(t, path)
}

func openFile(t testing.TB, path string) *sqlite.DB {
	t.Helper()
	db, err := sqlite.Open(t.Context(), path, &sqlite.Config{Durability: sqlite.Normal, SingleProcess: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// Postgres opens a schema that no other test uses, and that is dropped with the test or emptied for the next.
func Postgres(t testing.TB) *postgres.DB {
	t.Helper()
	return openSchema(t, "")
}

// OneConnection is [Postgres] with a pool of one connection: what is read beside a write, instead of in its
// transaction, waits for that write, and fails after 30 s.
func OneConnection(t testing.TB) *postgres.DB {
	t.Helper()
	return openSchema(t, "1")
}

// MigratedDSN returns the URL of a schema as Postgres opens it, for programs that open it themselves.
func MigratedDSN(t testing.TB) string {
	t.Helper()
	if made.migrations == nil {
		return PostgresDSN(t)
	}
	return made.schema(t).dsn
}

// MigratedFile writes a file as SQLite opens it, for programs that open it themselves. Its folder must exist.
func MigratedFile(t testing.TB, path string) {
	t.Helper()
	if made.migrations != nil {
		made.sqliteFile(t, path)
	}
}

// openSchema opens a schema with a pool of so many connections; empty for the default.
func openSchema(t testing.TB, connections string) *postgres.DB {
	t.Helper()
	switch {
	case connections != "":
		return openDSN(t, With(t, MigratedDSN(t), "pool_max_conns", connections))
	case made.migrations == nil:
		return openDSN(t, PostgresDSN(t))
	}
	return openPool(t, made.schema(t).pool)
}

func openPool(t testing.TB, pool *pgxpool.Pool) *postgres.DB {
	t.Helper()
	db, err := postgres.OpenPool(t.Context(), pool, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

func openDSN(t testing.TB, dsn string) *postgres.DB {
	t.Helper()
	db, err := postgres.Open(t.Context(), dsn, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// KeptPostgres opens a schema that is not dropped; it is created unless it exists.
func KeptPostgres(t testing.TB, schema string) *postgres.DB {
	t.Helper()
	dsn := server(t)
	execute(t.Context(), t, dsn, `CREATE SCHEMA IF NOT EXISTS "`+schema+`"`)
	return openDSN(t, inSchema(t, dsn, schema))
}

// PostgresDSN returns the URL of a new, empty schema that is dropped with the test.
func PostgresDSN(t testing.TB) string {
	t.Helper()
	dsn := server(t)
	schema := "test_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	execute(t.Context(), t, quick(t, dsn), "CREATE SCHEMA "+schema)
	t.Cleanup(func() { execute(context.Background(), t, quick(t, dsn), "DROP SCHEMA "+schema+" CASCADE") })
	return inSchema(t, dsn, schema)
}

// server returns the URL of the server. If there is none, the test is skipped, except under CI, where it fails.
func server(t testing.TB) string {
	t.Helper()
	dsn := os.Getenv(PostgresEnv)
	if dsn == "" {
		message := "PostgreSQL is not tested: set " + PostgresEnv +
			" to the URL of a server, as postgres://root@127.0.0.1:5432/test"
		if os.Getenv("CI") != "" {
			t.Fatal(message)
		}
		t.Skip(message)
	}
	return dsn
}

// inSchema returns dsn with the schema for all tables.
func inSchema(t testing.TB, dsn, schema string) string {
	t.Helper()
	return quick(t, With(t, dsn, "search_path", schema))
}

// quick returns dsn without waits for the disk: the data of a test need not survive its server, and the waits would
// dominate the time of tests. It also turns the compiler of queries off, which takes a third of the server's time where
// tables have no statistics and few rows; the plans are the same. Nothing is encrypted unless dsn asks for it.
func quick(t testing.TB, dsn string) string {
	t.Helper()
	dsn = With(t, With(t, dsn, "synchronous_commit", "off"), "jit", "off")
	if !strings.Contains(dsn, "sslmode=") {
		dsn = With(t, dsn, "sslmode", "disable")
	}
	return dsn
}

// With returns dsn, which must be a URL, with another parameter.
func With(t testing.TB, dsn, name, value string) string {
	t.Helper()
	scoped, err := url.Parse(dsn)
	require.NoError(t, err, "%s must be a URL", PostgresEnv)
	query := scoped.Query()
	query.Set(name, value)
	scoped.RawQuery = query.Encode()
	return scoped.String()
}

func execute(ctx context.Context, t testing.TB, dsn, statement string) {
	t.Helper()
	db, err := postgres.Open(ctx, dsn, nil)
	require.NoError(t, err, "the server that %s names must answer", PostgresEnv)
	defer func() { require.NoError(t, db.Close()) }()
	_, err = db.Reader().ExecContext(ctx, statement)
	require.NoError(t, err)
}

// Analyze has the engine look at the tables of db, and at no others of its server: their own tests may not have filled
// them, and would then be planned for as if they were empty.
func Analyze(t testing.TB, db queue.DB) {
	t.Helper()
	require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		tables := "" // of SQLite: all
		if db.Dialect() == driver.Postgres {
			err := tx.QueryRowContext(ctx, `
SELECT string_agg(quote_ident(tablename), ', ') FROM pg_tables WHERE schemaname = current_schema()`).Scan(&tables)
			if err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, "ANALYZE "+tables)
		return err
	}))
}
