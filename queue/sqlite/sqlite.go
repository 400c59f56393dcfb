package sqlite

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/naming"
	"github.com/postroom-go/postroom/queue/sqlite/internal/libsqlite"
)

// A Durability is the state of a write when it returns.
type Durability string

const (
	// Full: the write has reached the disk (PRAGMA synchronous=FULL). It survives a power failure.
	Full Durability = "FULL"
	// Normal: the write has reached the operating system (PRAGMA synchronous=NORMAL). It survives a crash of the
	// process. A power failure can undo the last writes, whole transactions at a time, and corrupts nothing.
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
	// SingleProcess reports that no other process enqueues into the file while a dispatcher runs, so that the file is
	// not watched. If another process, or a transaction of the program's own, enqueues nevertheless, polling finds the
	// jobs. It is needed under testing/synctest: the clock of a bubble stands still while a file is watched.
	SingleProcess bool
	// TablePrefix begins the names of the queue's tables, indexes and triggers, so that a table jobs of the program's own
	// is no obstacle, and two queues may share a file. It is of lower-case letters, digits and underscores, at most 32,
	// as in mail_. Default: none. Another prefix finds other tables: it does not rename them.
	TablePrefix string
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
	return cfg, naming.CheckPrefix("sqlite: Config.TablePrefix", cfg.TablePrefix)
}

// DriverName is the name under which database/sql knows the SQLite library that this package is built with, for pools
// that are given to [OpenDB] and transactions that are given to a queue: "sqlite3" of github.com/mattn/go-sqlite3 with
// cgo, and "sqlite" of modernc.org/sqlite without. This package imports the library. Both take the same options in a
// DSN. A program that uses another SQLite library on the same file loses data: closing a file releases the locks of
// all.
const DriverName = libsqlite.DriverName

// ErrClosed is returned by writes after [DB.Close].
var ErrClosed = fmt.Errorf("sqlite: %w", driver.ErrClosed)

// ErrWriteBlocked is returned by a write that has waited 30 s for another write of this program whose function has not
// returned. Nothing is written.
var ErrWriteBlocked = errors.New("sqlite: the function given to another Write has not returned for 30s: " +
	"if it waits for this call, made by another goroutine, use the calls that take its transaction, such as EnqueueTx; else have it do less")

// DB is an open database: one writer and a pool of readers. It is safe for concurrent use, and several processes may
// open the same file.
type DB struct{ engine *engine }

// Close waits for the current write, refuses waiting ones, and closes all connections. A second call does nothing.
func (db *DB) Close() error { return db.engine.close() }

// Dialect is [driver.SQLite].
func (db *DB) Dialect() driver.Dialect { return driver.SQLite }

// Reader is the pool for queries; it refuses to write. It binds $1, $2, … by their numbers, except for a pool that the
// program has given to [OpenDB].
func (db *DB) Reader() *sqlx.DB { return db.engine.reader }

// Write runs fn in a write transaction and returns when fn's writes are committed; see [driver.DB]. Writes of
// concurrent callers are grouped into one commit.
func (db *DB) Write(ctx context.Context, fn func(ctx context.Context, tx driver.Tx) error) error {
	return db.engine.Write(ctx, fn)
}

// Driver returns the driver for a queue; programs do not need it.
func (db *DB) Driver() driver.Driver {
	if db == nil || db.engine == nil {
		return nil
	}
	return db.engine
}

// Open opens the database file at path. It creates the file, readable only by its owner, if it does not exist. cfg may
// be nil. The folder must exist and be on a local disk: SQLite's write-ahead log does not work over a network.
func Open(ctx context.Context, path string, cfg *Config) (*DB, error) {
	c, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	switch path {
	case "":
		return nil, errors.New("sqlite: open database: the path is empty: name a file, or use sqlite.OpenMemory")
	case ":memory:":
		return nil, errors.New("sqlite: open database: :memory: names no file; use sqlite.OpenMemory")
	}
	if strings.HasPrefix(path, "file:") {
		return nil,
			fmt.Errorf("sqlite: open database: %s is a URI; give the path of the file, and options in sqlite.Config", path)
	}
	if err := create(path); err != nil {
		return nil, fmt.Errorf("sqlite: open database: %w", err)
	}
	// Connections are opened later as well, when the process may have another working directory.
	if path, err = filepath.Abs(path); err != nil {
		return nil, fmt.Errorf("sqlite: open database: %w", err)
	}
	file, err := newFile(path)
	if err != nil {
		return nil, fmt.Errorf("sqlite: open database: %w", err)
	}
	// A URI of its own keeps "?", "#" and "%" in the path from being read as options.
	uri := "file:" + (&url.URL{Path: path}).EscapedPath()
	return opened(open(ctx, newConnections(uri,
		url.Values{"_journal_mode": {"WAL"}, "_synchronous": {string(c.Durability)}}, c), file, c))
}

// create creates a missing file. It does not open an existing one: closing it would release the locks of other handles
// of this process.
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

// OpenMemory opens a new, empty database in memory that is gone after Close. A transaction sees the same as in a file,
// but readers and the writer wait for each other, 10 s at most: do not read through [DB.Reader] inside a write, and do
// not write while rows read through it are open.
func OpenMemory(ctx context.Context) (*DB, error) {
	c, err := (*Config)(nil).withDefaults()
	if err != nil {
		return nil, err
	}
	// The memdb file system, unlike a shared cache, locks as files do. A name that begins with "/" is shared by the
	// pool.
	return opened(open(ctx, newConnections("file:/postroom-"+uuid.NewString(), url.Values{"vfs": {"memdb"}}, c), nil,
		c))
}

func opened(engine *engine, err error) (*DB, error) {
	if err != nil {
		return nil, err
	}
	return &DB{engine: engine}, nil
}
