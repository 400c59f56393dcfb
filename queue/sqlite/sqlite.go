package sqlite

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	_ "github.com/mattn/go-sqlite3" // registers the driver "sqlite3"

	"github.com/postroom-go/postroom/internal/joblimit"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
	_ "github.com/postroom-go/postroom/queue/sqlite/internal/cgo" // builds with cgo only
)

// A Durability is what has happened when a write returns.
type Durability string

const (
	// Full: the write has reached the disk (PRAGMA synchronous=FULL). It survives the loss of power.
	Full Durability = "FULL"
	// Normal: the write has reached the operating system (PRAGMA synchronous=NORMAL). It survives the death of the
	// process; the loss of power can take the last writes back, whole transactions at a time, and corrupts nothing.
	Normal Durability = "NORMAL"
)

// Config configures a database. The zero Config uses the defaults.
type Config struct {
	// Durability is [Full] by default.
	Durability Durability
	// Readers is the number of connections for reading. Default: the number of CPUs, at least 4. Bounds: 1 to 1000.
	Readers int
	// BusyTimeout is how long a write waits for another process to finish its own. Default 10 s; at least 1 ms.
	BusyTimeout time.Duration
	// SingleProcess says that no other process enqueues into the file while a dispatcher runs, so that the file is not
	// watched. What another one enqueues all the same, or a transaction of the program's own, is found by polling. It is needed under testing/synctest: the clock of
	// a bubble stands still while a file is watched.
	SingleProcess bool
}

func (c *Config) withDefaults() (Config, error) {
	var cfg Config
	if c != nil {
		cfg = *c
	}
	if cfg.Durability == "" {
		cfg.Durability = Full
	}
	if cfg.Readers == 0 {
		cfg.Readers = max(4, runtime.NumCPU())
	}
	if cfg.BusyTimeout == 0 {
		cfg.BusyTimeout = 10 * time.Second
	}
	switch {
	case cfg.Durability != Full && cfg.Durability != Normal:
		return cfg, fmt.Errorf("sqlite: Config.Durability is %q; use sqlite.Full or sqlite.Normal", cfg.Durability)
	case cfg.Readers < 1 || cfg.Readers > 1000:
		return cfg, fmt.Errorf("sqlite: Config.Readers is %d; it must be within 1 and 1000", cfg.Readers)
	case cfg.BusyTimeout < time.Millisecond:
		return cfg, fmt.Errorf("sqlite: Config.BusyTimeout is %v; it must be at least 1ms", cfg.BusyTimeout)
	}
	return cfg, nil
}

// ErrClosed is returned by writes after [DB.Close].
var ErrClosed = errors.New("sqlite: database is closed")

// shared has the methods that are the same on every engine.
type shared = jobsql.Store

// DB is an open database: one writer and a pool of readers. It is safe for use by many goroutines, and by several
// processes on the same file.
type DB struct {
	shared

	reader       *sqlx.DB
	writer       *writer
	candidates   candidateReader
	checkpointer *checkpointer // nil in memory
	wakers       wakers
	clock        joblimit.Clock
	file         *file // nil in memory
	watched      bool
	own          library
	joined       atomic.Pointer[driver.Tx] // the latest that was looked at
}

var _ driver.Driver = (*DB)(nil)

// Open opens the database file at path, creating it (readable by its owner alone) when it does not exist; cfg may be nil.
// The folder must exist, on a local disk: SQLite's write-ahead log does not work over a network.
func Open(ctx context.Context, path string, cfg *Config) (*DB, error) {
	c, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	if path == ":memory:" {
		return nil, errors.New("sqlite: open database: :memory: names no file; use sqlite.OpenMemory")
	}
	if strings.HasPrefix(path, "file:") {
		return nil, fmt.Errorf("sqlite: open database: %s is a URI; give the path of the file, and options in sqlite.Config", path)
	}
	if err := create(path); err != nil {
		return nil, fmt.Errorf("sqlite: open database: %w", err)
	}
	// Connections are opened later, too, when the process may stand in another folder.
	if path, err = filepath.Abs(path); err != nil {
		return nil, fmt.Errorf("sqlite: open database: %w", err)
	}
	file, err := newFile(path)
	if err != nil {
		return nil, fmt.Errorf("sqlite: open database: %w", err)
	}
	// A URI of its own keeps "?", "#" and "%" in the path from being read as options.
	uri := "file:" + (&url.URL{Path: path}).EscapedPath()
	return open(ctx, uri, url.Values{"_journal_mode": {"WAL"}, "_synchronous": {string(c.Durability)}}, file, c)
}

// create makes a file that is not there. One that is is not opened: closing it again would give up the locks that other
// handles of this process have on it.
func create(path string) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return &os.PathError{Op: "open", Path: path, Err: syscall.EISDIR}
	case !errors.Is(err, os.ErrNotExist):
		return err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil // another process was faster
	}
	if err != nil {
		return err
	}
	return file.Close()
}

// OpenMemory opens a new, empty database in memory that is gone after Close. A transaction sees the same there as in a
// file, but readers and the writer wait for each other, 10 s at most: do not read through [DB.Reader] inside a write, and
// do not write while rows read through it are open.
func OpenMemory(ctx context.Context) (*DB, error) {
	c, err := (*Config)(nil).withDefaults()
	if err != nil {
		return nil, err
	}
	// The memdb file system, unlike a shared cache, locks as files do. A name that begins with "/" is shared by the pool.
	return open(ctx, "file:/postroom-"+uuid.NewString(), url.Values{"vfs": {"memdb"}}, nil, c)
}

func open(ctx context.Context, uri string, options url.Values, file *file, cfg Config) (*DB, error) {
	options.Set("_foreign_keys", "1")
	// database/sql gives a connection to one goroutine at a time.
	options.Set("_mutex", "no")
	options.Set("_busy_timeout", strconv.Itoa(writerPatience))
	db := &DB{file: file, watched: file != nil && !cfg.SingleProcess}
	var err error
	db.writer, err = openWriter(ctx, uri, options.Encode(), file, cfg.BusyTimeout, db.wakers.wake)
	if err != nil {
		return nil, fmt.Errorf("sqlite: open %s: %w", uri, err)
	}
	options.Set("_query_only", "1")
	options.Set("_busy_timeout", strconv.FormatInt(cfg.BusyTimeout.Milliseconds(), 10))
	if err := db.openReaders(uri, options, cfg); err != nil {
		return nil, errors.Join(fmt.Errorf("sqlite: open %s: %w", uri, err), db.Close())
	}
	db.shared = shared{Engine: driver.SQLite, Query: db.query, MarkKeys: markKeys, KeyIsOpen: keyIsOpen}
	if err := db.check(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("sqlite: open %s: %w", uri, err), db.Close())
	}
	return db, nil
}

// openReaders makes the connections beside the writer's. In memory there is no log to be copied, and nothing can be read while
// the writer writes.
func (db *DB) openReaders(uri string, options url.Values, cfg Config) (err error) {
	if db.reader, err = openPool(uri, options, cfg.Readers); err != nil || db.file == nil {
		return err
	}
	if db.candidates.pool, err = openPool(uri, options, 1); err != nil {
		return err
	}
	pool, err := openPool(uri, options, 1)
	if err == nil {
		db.checkpointer = startCheckpointer(pool, db.writer)
	}
	return err
}

// openPool makes a pool of at most so many connections, all of which it keeps. It opens none yet.
func openPool(uri string, options url.Values, connections int) (*sqlx.DB, error) {
	pool, err := sqlx.Open("sqlite3", uri+"?"+options.Encode())
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(connections)
	pool.SetMaxIdleConns(connections)
	return pool, nil
}

// oldest is the first SQLite in which a write-ahead log that is reset while another process writes cannot be corrupted.
var oldest = [3]int{3, 51, 3}

func (db *DB) check(ctx context.Context) error {
	var version string
	if err := db.reader.GetContext(ctx, &version, "SELECT sqlite_version()"); err != nil {
		return err
	}
	if err := checkVersion(version); err != nil {
		return err
	}
	var err error
	db.own, err = look(ctx, db.reader)
	return err
}

func checkVersion(version string) error {
	var v [3]int
	for i, part := range strings.SplitN(version, ".", 3) {
		v[i], _ = strconv.Atoi(part)
	}
	for i := range v {
		if v[i] > oldest[i] {
			return nil
		}
		if v[i] < oldest[i] {
			return fmt.Errorf("SQLite %s can corrupt a write-ahead log; 3.51.3 or newer is needed (build without the tag libsqlite3)", version)
		}
	}
	return nil
}

// Close waits for the write under way, refuses those that wait, and closes all connections. A second call does nothing.
func (db *DB) Close() error {
	var err error
	if db.checkpointer != nil {
		err = db.checkpointer.close()
	}
	err = errors.Join(err, db.writer.close(), db.candidates.close())
	if db.reader != nil {
		err = errors.Join(err, db.reader.Close())
	}
	return err
}

// Dialect is [driver.SQLite].
func (db *DB) Dialect() driver.Dialect { return driver.SQLite }

// Reader is the pool for queries; it refuses to write.
func (db *DB) Reader() *sqlx.DB { return db.reader }

// Write implements [driver.DB]: what concurrent callers ask for is grouped into one commit.
func (db *DB) Write(ctx context.Context, fn func(ctx context.Context, tx driver.Tx) error) error {
	return db.write(ctx, func(ctx context.Context, tx *driver.WriteTx) error { return fn(ctx, tx) })
}

func (db *DB) write(ctx context.Context, fn func(ctx context.Context, tx *driver.WriteTx) error) error {
	return db.writer.write(ctx, fn)
}

// errReadInside: in memory a reader would wait for the write that waits for it.
var errReadInside = fmt.Errorf("%w: a database in memory cannot be read inside one either, except by the transaction", driver.ErrNestedWrite)

// query runs a statement on the readers.
func (db *DB) query(ctx context.Context, query string, args ...any) (jobsql.Rows, error) {
	if db.file == nil && db.InWrite(ctx) {
		return nil, errReadInside
	}
	return db.reader.QueryContext(ctx, query, args...)
}
