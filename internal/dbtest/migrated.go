package dbtest

import (
	"context"
	"errors"
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
	goleak.VerifyTestMain(thenDrop{m, migrations},
		goleak.IgnoreTopFunction("go.opencensus.io/stats/view.(*worker).start")) // it begins with the program
}

// Run is Main for a package that has more to do when its tests have ended: it returns the code to end with, and looks
// for no goroutines.
func Run(m *testing.M, migrations ...Migration) (code int) { return thenDrop{m, migrations}.Run() }

// thenDrop are tests after which the schemas are dropped, before goleak looks.
type thenDrop struct {
	tests      *testing.M
	migrations []Migration
}

// Run implements [goleak.TestingM].
func (t thenDrop) Run() int {
	made.migrations = t.migrations
	code := t.tests.Run()
	if err := made.close(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "dropping the schemas of the tests:", err)
		return max(code, 1)
	}
	return code
}

// made is what this process has migrated.
var made databases

type databases struct {
	migrations []Migration

	mu     sync.Mutex
	file   []byte       // of SQLite; nil before the first test
	free   []*schema    // of PostgreSQL
	server *postgres.DB // for all schemas: a server takes longer to begin a connection than to empty a schema
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
		s = newSchema(t, d.connect(t))
		db, err := postgres.Open(t.Context(), s.dsn, nil)
		require.NoError(t, err)
		d.apply(t.Context(), t, db)
		require.NoError(t, db.Close())
		require.NoError(t, s.remember(t.Context()))
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

// connect returns connections to the PostgreSQL server that all tests of the process use.
func (d *databases) connect(t testing.TB) *sqlx.DB {
	t.Helper()
	// What it asks of the catalog is little, though the catalog may be large: to start other processes takes longer.
	dsn := With(t, quick(t, server(t)), "max_parallel_workers_per_gather", "0")
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.server == nil {
		db, err := postgres.Open(context.Background(), dsn, nil)
		require.NoError(t, err, "the server that %s names must answer", PostgresEnv)
		d.server = db
	}
	return d.server.Reader()
}

// close drops the schemas that are left.
func (d *databases) close(ctx context.Context) error {
	var err error
	for s := d.take(); s != nil; s = d.take() {
		err = errors.Join(err, s.drop(ctx))
	}
	if d.server != nil {
		err = errors.Join(err, d.server.Close())
	}
	return err
}
