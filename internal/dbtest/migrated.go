package dbtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/postgres"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// A Migration creates the tables of one package.
type Migration = func(ctx context.Context, db queue.DB) error

// Main is for TestMain: it runs the tests of a package, and fails if they leak goroutines. From then on [Each],
// [SQLite] and [Postgres] give databases to which the migrations have been applied, and which are empty otherwise:
// migrations take most of the time of a short test. Tests still call them, as programs do.
//
// SQLite's files are copies of one. A schema of PostgreSQL is emptied after its test for the next one, and is dropped
// if that has failed or has changed more than rows.
func Main(m *testing.M, migrations ...Migration) {
	made.migrations = migrations
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if err := made.drop(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, "dropping the schemas of the tests:", err)
			code = max(code, 1)
		}
		os.Exit(code)
	}))
}

// made is what this process has migrated.
var made databases

type databases struct {
	migrations []Migration

	mu   sync.Mutex
	file []byte    // of SQLite; nil before the first test
	free []*schema // of PostgreSQL
}

func (d *databases) apply(ctx context.Context, t testing.TB, db queue.DB) {
	t.Helper()
	for _, migrate := range d.migrations {
		require.NoError(t, migrate(ctx, db))
	}
}

// sqliteFile writes a migrated database to a path.
func (d *databases) sqliteFile(t testing.TB, path string) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.file == nil {
		first := filepath.Join(t.TempDir(), "migrated.db")
		db, err := sqlite.Open(t.Context(), first, &sqlite.Config{Durability: sqlite.Normal, SingleProcess: true})
		require.NoError(t, err)
		d.apply(t.Context(), t, db)
		require.NoError(t, db.Close())
		d.file, err = os.ReadFile(first)
		require.NoError(t, err)
	}
	require.NoError(t, os.WriteFile(path, d.file, 0o600))
}

// schema returns a migrated schema for the duration of the test.
func (d *databases) schema(t testing.TB) *schema {
	t.Helper()
	s := d.take()
	if s == nil {
		s = newSchema(t)
		db, err := postgres.Open(t.Context(), s.dsn, nil)
		require.NoError(t, err)
		d.apply(t.Context(), t, db)
		err = s.remember(t.Context(), db.Reader())
		require.NoError(t, db.Close())
		require.NoError(t, err)
	}
	t.Cleanup(func() {
		t.Helper()
		again := false
		if !t.Failed() {
			var err error
			again, err = s.empty(context.Background())
			require.NoError(t, err)
		}
		if again {
			d.give(s)
			return
		}
		require.NoError(t, s.drop(context.Background()))
	})
	return s
}

func (d *databases) take() *schema {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.free) == 0 {
		return nil
	}
	s := d.free[len(d.free)-1]
	d.free = d.free[:len(d.free)-1]
	return s
}

func (d *databases) give(s *schema) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.free = append(d.free, s)
}

func (d *databases) drop(ctx context.Context) error {
	for s := d.take(); s != nil; s = d.take() {
		if err := s.drop(ctx); err != nil {
			return err
		}
	}
	return nil
}

// withServer does something on a connection of its own to PostgreSQL.
func withServer(ctx context.Context, dsn string, fn func(db *sqlx.DB) error) error {
	db, err := postgres.Open(ctx, dsn, nil)
	if err != nil {
		return fmt.Errorf("the server that %s names must answer: %w", PostgresEnv, err)
	}
	err = fn(db.Reader())
	if closed := db.Close(); err == nil {
		err = closed
	}
	return err
}
