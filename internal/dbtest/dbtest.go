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
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/postgres"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// PostgresEnv names the environment variable with the URL of a PostgreSQL server for tests.
const PostgresEnv = "POSTROOM_TEST_POSTGRES"

// Each runs fn on a new, empty SQLite file and on a new, empty schema of the PostgreSQL server. Without a server the
// second run is skipped, except under CI, where it fails.
func Each(t *testing.T, fn func(t *testing.T, db queue.DB)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { fn(t, SQLite(t)) })
	t.Run("postgres", func(t *testing.T) { fn(t, Postgres(t)) })
}

// SQLite opens a new file for the duration of the test.
func SQLite(t testing.TB) *sqlite.DB {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "test.db"),
		&sqlite.Config{Durability: sqlite.Normal, SingleProcess: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// Postgres opens a new schema that is dropped with the test.
func Postgres(t testing.TB) *postgres.DB {
	t.Helper()
	db, err := postgres.Open(t.Context(), PostgresDSN(t), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// KeptPostgres opens a schema that is not dropped; it is created unless it exists.
func KeptPostgres(t testing.TB, schema string) *postgres.DB {
	t.Helper()
	dsn := server(t)
	execute(t.Context(), t, dsn, `CREATE SCHEMA IF NOT EXISTS "`+schema+`"`)
	db, err := postgres.Open(t.Context(), inSchema(t, dsn, schema), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// PostgresDSN returns the URL of a new schema that is dropped with the test.
func PostgresDSN(t testing.TB) string {
	t.Helper()
	dsn := server(t)
	schema := "test_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	execute(t.Context(), t, dsn, "CREATE SCHEMA "+schema)
	t.Cleanup(func() { execute(context.Background(), t, dsn, "DROP SCHEMA "+schema+" CASCADE") })
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
	// The data of a test need not survive its server, and syncing the disk would dominate the time of tests.
	return With(t, With(t, dsn, "search_path", schema), "synchronous_commit", "off")
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
