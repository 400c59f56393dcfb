package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/postroom-go/postroom/queue/sqlite/internal/libsqlite"
)

// A connection is one that a part of the engine owns.
type connection struct {
	*sqlx.Conn
	// release closes the connection and everything that was opened for it, once.
	release func() error
}

func newConnection(conn *sqlx.Conn, release func() error) *connection {
	return &connection{Conn: conn, release: sync.OnceValue(release)}
}

// Connections provide an engine's own connections: the engine opens them, or takes them from a pool of the program's.
type connections interface {
	// writer returns the writing connection.
	writer(ctx context.Context) (*connection, error)
	// beside returns a connection that reads concurrently with the writer, or copies the log back.
	beside(ctx context.Context) (*connection, error)
	// readers returns the pool for queries, and a function that closes it if it is the engine's own.
	readers() (pool *sqlx.DB, closePool func() error, err error)
	// name of the database, for people.
	name() string
}

// ownConnections are those that the engine opens by a URI.
type ownConnections struct {
	uri     string
	options url.Values
	cfg     Config
	// yields: who finds a lock taken lets other goroutines run and tries again, and SQLite does not sleep. In memory,
	// readers and the writer wait for each other for moments, also in a bubble of testing/synctest.
	yields bool
}

func newConnections(uri string, options url.Values, cfg Config) ownConnections {
	options.Set("_foreign_keys", "1")
	// database/sql gives a connection to one goroutine at a time.
	options.Set("_mutex", "no")
	return ownConnections{uri: uri, options: options, cfg: cfg,
		yields: libsqlite.SleepsInGo && options.Get("vfs") == "memdb"}
}

func (o ownConnections) name() string { return o.uri }

// with returns the options with a busy timeout, and one more.
func (o ownConnections) with(busyTimeout int64, name, value string) url.Values {
	options := maps.Clone(o.options)
	if o.yields {
		busyTimeout = 0
	}
	options.Set("_busy_timeout", strconv.FormatInt(busyTimeout, 10))
	if name != "" {
		options.Set(name, value)
	}
	return options
}

func (o ownConnections) writer(ctx context.Context) (*connection, error) {
	return o.connect(ctx, o.with(writerPatience, "", ""))
}

func (o ownConnections) beside(ctx context.Context) (*connection, error) {
	return o.connect(ctx, o.reading())
}

func (o ownConnections) reading() url.Values {
	return o.with(o.cfg.BusyTimeout.Milliseconds(), "_query_only", "1")
}

// keptStatements is the number of prepared statements that each reader caches: preparing one takes longer than reading
// a row with it.
const keptStatements = 100

func (o ownConnections) readers() (*sqlx.DB, func() error, error) {
	options := o.reading()
	options.Set("_stmt_cache_size", strconv.Itoa(keptStatements))
	pool := sqlx.NewDb(sql.OpenDB(readerConnector{dsn(o.uri, options), o.yields}), "sqlite3")
	keepOpen(pool, o.cfg.Readers)
	return pool, pool.Close, nil
}

func (o ownConnections) connect(ctx context.Context, options url.Values) (*connection, error) {
	pool, err := openPool(o.uri, options, 1)
	if err != nil {
		return nil, err
	}
	conn, err := connect(ctx, pool, o.cfg.BusyTimeout)
	if err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	return newConnection(conn, func() error { return errors.Join(conn.Close(), pool.Close()) }), nil
}

// connect retries while another process changes the journal mode of a new file.
func connect(ctx context.Context, pool *sqlx.DB, patience time.Duration) (*sqlx.Conn, error) {
	for deadline := time.Now().Add(patience); ; {
		conn, err := pool.Connx(ctx)
		if err == nil || !busy(err) || time.Now().After(deadline) {
			return conn, err
		}
	}
}

// openPool makes a pool of at most the given number of connections, all of which it keeps. It opens none yet.
func openPool(uri string, options url.Values, connections int) (*sqlx.DB, error) {
	pool, err := sqlx.Open(DriverName, dsn(uri, options))
	if err != nil {
		return nil, err
	}
	keepOpen(pool, connections)
	return pool, nil
}

func dsn(uri string, options url.Values) string { return uri + "?" + options.Encode() }

func keepOpen(pool *sqlx.DB, connections int) {
	pool.SetMaxOpenConns(connections)
	pool.SetMaxIdleConns(connections)
}
