package sqlite_test

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver/drivertest"
	"github.com/postroom-go/postroom/queue/sqlite"
	"github.com/postroom-go/postroom/queue/sqlite/internal/libsqlite"
)

// asAsked are the options that OpenDB asks for.
const asAsked = "?_journal_mode=WAL&_txlock=immediate&_busy_timeout=10000&_foreign_keys=1&_synchronous=NORMAL"

// openPool opens a pool of the program's own, which is closed with the test.
func openPool(t testing.TB, dsn string) *sql.DB {
	t.Helper()
	pool, err := sql.Open(sqlite.DriverName, dsn)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, pool.Close()) })
	return pool
}

func openOn(t testing.TB, pool *sql.DB, cfg *sqlite.Config) *sqlite.DB {
	t.Helper()
	db, err := sqlite.OpenDB(t.Context(), pool, cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

func TestDriverOnAPoolOfTheProgram(t *testing.T) {
	drivertest.Run(t, func(t *testing.T) queue.DB {
		pool := openPool(t, filepath.Join(t.TempDir(), "test.db")+asAsked)
		return openOn(t, pool, &sqlite.Config{Durability: sqlite.Normal, SingleProcess: true})
	})
}

func TestOpenDBRefuses(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "test.db")
	sql.Register("wrapped", wrapping{libsqlite.Driver()})
	few := func(pool *sql.DB) { pool.SetMaxOpenConns(3) }
	for name, c := range map[string]struct {
		driver, dsn string
		cfg         *sqlite.Config
		change      func(pool *sql.DB)
		want        string
	}{
		"no log": {dsn: filepath.Join(folder, "fresh.db") + "?_txlock=immediate&_foreign_keys=1",
			want: "add _journal_mode=WAL"},
		"no options": {dsn: filepath.Join(folder, "bare.db"),
			want: "(it needs all of ?_journal_mode=WAL&_txlock=immediate&_busy_timeout=10000&_foreign_keys=1)"},
		"deferred transactions": {dsn: path + "?_journal_mode=WAL&_foreign_keys=1&_busy_timeout=10000", want: "add _txlock=immediate"},
		"no foreign keys":       {dsn: path + "?_journal_mode=WAL&_txlock=immediate&_busy_timeout=10000", want: "add _foreign_keys=1"},
		"no wait": {dsn: path + "?_journal_mode=WAL&_txlock=immediate&_foreign_keys=1&_busy_timeout=0",
			want: "add _busy_timeout=10000"},
		"read only": {dsn: path + asAsked + "&_query_only=1", want: "leave _query_only out"},
		"exclusive": {dsn: path + asAsked + "&_locking_mode=EXCLUSIVE&_pragma=locking_mode(EXCLUSIVE)",
			want: "leave _locking_mode=exclusive out"},
		"memory": {dsn: ":memory:" + asAsked, want: "use sqlite.OpenMemory"},
		"shared memory": {dsn: "file:shared?mode=memory&cache=shared&_foreign_keys=1",
			want: "use sqlite.OpenMemory"},
		"memory as a file system": {dsn: "file:/opendb?vfs=memdb&_foreign_keys=1", want: "use sqlite.OpenMemory"},
		"another driver": {driver: "wrapped", dsn: path + asAsked,
			want: "the pool's connections are a sqlite_test.wrappedConn"},
		"too few connections": {dsn: path + asAsked, change: few, want: "set SetMaxOpenConns to 4 or more"},
		"a number of readers": {dsn: path + asAsked, cfg: &sqlite.Config{Readers: 2},
			want: "use its SetMaxOpenConns"},
		"a setting out of bounds": {dsn: path + asAsked, cfg: &sqlite.Config{BusyTimeout: 1},
			want: "Config.BusyTimeout is 1ns"},
		"a pool that is closed": {dsn: path + asAsked, change: func(pool *sql.DB) { _ = pool.Close() },
			want: "database is closed"},
		"a folder that is missing": {dsn: filepath.Join(folder, "none", "x.db") + asAsked,
			want: "unable to open database file"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.driver == "" {
				c.driver = sqlite.DriverName
			}
			pool, err := sql.Open(c.driver, c.dsn)
			require.NoError(t, err)
			defer pool.Close()
			if c.change != nil {
				c.change(pool)
			}
			db, err := sqlite.OpenDB(t.Context(), pool, c.cfg)
			require.Nil(t, db)
			require.ErrorContains(t, err, c.want)
			require.Zero(t, pool.Stats().InUse, "it has given all connections back")
		})
	}
	_, err := sqlite.OpenDB(t.Context(), nil, nil)
	require.EqualError(t, err, "sqlite: the pool is nil: give one of sql.Open, or use sqlite.Open")
}

// The pool is the program's: it is as it was after Close, and none of its connections is as the queue has set it up.
func TestOpenDBLeavesThePoolAsItWas(t *testing.T) {
	pool := openPool(t, filepath.Join(t.TempDir(), "test.db")+asAsked)
	pool.SetMaxOpenConns(4)
	pool.SetMaxIdleConns(4)
	db := openOn(t, pool, nil)
	require.Equal(t, 3, pool.Stats().InUse)
	require.NoError(t, queue.Migrate(t.Context(), db))
	require.NoError(t, db.Close())
	require.ErrorIs(t, db.Write(t.Context(), func(context.Context, queue.Tx) error { return nil }), sqlite.ErrClosed)
	require.Zero(t, pool.Stats().InUse)
	for range 4 {
		conn, err := pool.Conn(t.Context())
		require.NoError(t, err)
		defer conn.Close()
		var patience, synchronous, reads int
		require.NoError(t, conn.QueryRowContext(t.Context(), `SELECT (SELECT timeout FROM pragma_busy_timeout),
  (SELECT synchronous FROM pragma_synchronous), (SELECT query_only FROM pragma_query_only)`).Scan(&patience, &synchronous, &reads))
		require.Equal(t, []int{10000, 1, 0}, []int{patience, synchronous, reads})
		_, err = conn.ExecContext(t.Context(),
			"INSERT INTO job_workers (id, beat, beat_at) VALUES (hex(randomblob(8)), 0, '')")
		require.NoError(t, err)
	}
}

// A program that closes its pool first has its mistake, and Close still ends all that the queue has begun.
func TestOpenDBWithAPoolThatIsClosedFirst(t *testing.T) {
	pool := openPool(t, filepath.Join(t.TempDir(), "test.db")+asAsked)
	db := openOn(t, pool, nil)
	require.NoError(t, pool.Close())
	require.NoError(t, db.Close())
}

// What the program writes in a transaction of the pool and a job for it are one, and a dispatcher finds it.
func TestJobsInATransactionOfThePool(t *testing.T) {
	pool := openPool(t, filepath.Join(t.TempDir(), "test.db")+asAsked)
	db := openOn(t, pool, nil)
	require.NoError(t, queue.Migrate(t.Context(), db))
	createNotes(t, db)
	q, err := queue.New(db, nil)
	require.NoError(t, err)
	d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{PollInterval: time.Hour})
	require.NoError(t, err)
	ran := make(chan int, 1)
	queue.Handle(d, joined, func(_ context.Context, w *queue.Work[int]) error {
		ran <- w.Payload
		return nil
	})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()

	for n, end := range map[int]func(*sql.Tx) error{1: (*sql.Tx).Rollback, 2: (*sql.Tx).Commit} {
		tx, err := pool.BeginTx(t.Context(), nil)
		require.NoError(t, err)
		_, err = tx.ExecContext(t.Context(), "INSERT INTO notes (n) VALUES ($1)", n)
		require.NoError(t, err)
		_, err = q.EnqueueTx(t.Context(), tx, joined.New(n, nil))
		require.NoError(t, err)
		require.NoError(t, end(tx))
	}
	require.Equal(t, 2, <-ran)
	require.Equal(t, 1, countNotes(t, db))
	stop()
	require.NoError(t, <-ended)
	require.Empty(t, ran)
}

// wrapping is a driver as those that trace or measure another one are.
type wrapping struct{ sqldriver.Driver }

func (w wrapping) Open(name string) (sqldriver.Conn, error) {
	conn, err := w.Driver.Open(name)
	return wrappedConn{conn}, err
}

type wrappedConn struct{ sqldriver.Conn }

func (wrappedConn) BeginTx(context.Context, sqldriver.TxOptions) (sqldriver.Tx, error) {
	return nil, errors.New("not asked for")
}
