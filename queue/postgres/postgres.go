package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jmoiron/sqlx"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/naming"
)

// Config configures a database. The zero Config uses the defaults.
type Config struct {
	// Pooled is for a server behind a pooler that gives each transaction another connection, such as PgBouncer in
	// transaction mode. The driver then keeps no state in sessions: no prepared statements, and no LISTEN, so that jobs
	// of other processes are found at the next poll. Parameters of the DSN that set session state (search_path, …) do
	// not work there: set them for the role or the database.
	Pooled bool
	// Schema is the schema of the queue's tables, which must exist before [queue.Migrate]; see CREATE SCHEMA. Statements
	// name it, so that neither the connections nor the program's own transactions need it in their search_path, two
	// queues may share a database, and a table jobs of the program's own is no obstacle. It is of lower-case letters,
	// digits and underscores, at most 48. Default: the tables are found by the search_path of each connection.
	//
	// [queue.Migrate]: https://pkg.go.dev/github.com/postroom-go/postroom/queue#Migrate
	Schema string
}

// DB is an open database. It is safe for concurrent use.
type DB struct{ engine *engine }

// Close waits for active calls and closes all connections, except those of a pool given to [OpenPool]. If the server
// does not answer, it takes up to half a minute. A second call does nothing.
func (db *DB) Close() error { return db.engine.close() }

// Dialect is [driver.Postgres].
func (db *DB) Dialect() driver.Dialect { return driver.Postgres }

// Reader is the pool for queries. Inside the function of a write, query through its transaction instead: a query
// through the pool needs another connection, and while writes use all of them it waits as long as its context allows.
func (db *DB) Reader() *sqlx.DB { return db.engine.db }

// Write runs fn in a write transaction and returns when fn's writes are committed; see [driver.DB].
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

// Open connects to the server of dsn: a URL or keywords and values, as in libpq, with pgxpool's own parameters. Missing
// values come from environment variables such as PGHOST, or from libpq's defaults; an empty dsn has no values.
// pool_max_conns is pgxpool's number of connections: by default the greater of 4 and the number of CPUs. A dispatcher
// needs about as many as it has handlers that write at once, and one more to listen. cfg may be nil.
//
// The server must not be a standby; of several hosts the first that is none is taken. Sessions do not inherit settings
// that the queue relies on from the role or the database: the isolation is READ COMMITTED and the time zone UTC, dates
// are in ISO form, and there are no timeouts. Behind a pooler only the isolation is set, with each transaction.
func Open(ctx context.Context, dsn string, cfg *Config) (*DB, error) {
	if cfg == nil {
		cfg = &Config{}
	}
	if err := naming.CheckSchema("postgres: Config.Schema", cfg.Schema); err != nil {
		return nil, err
	}
	options, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("postgres: %w: give a URL, such as postgres://user@host/database, "+
			"or keywords and values, such as host=/run/postgresql dbname=mail", err)
	}
	if cfg.Pooled {
		options.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	}
	pin(options, cfg.Pooled)
	pool, err := pgxpool.NewWithConfig(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	db, err := OpenPool(ctx, pool, cfg)
	if err != nil {
		pool.Close()
		return nil, err
	}
	db.engine.release = pool.Close
	return db, nil
}

// OpenPool is [Open] on a pool that the program has opened, and closes after [DB.Close]. A listening dispatcher keeps
// one of its connections, which the pool replaces. cfg may be nil. With [Config].Pooled the pool must not use prepared
// statements. The settings of its sessions stay the program's, but for the isolation of the queue's transactions, READ
// COMMITTED: give it no short statement_timeout. The pool's server must accept writes, and its connections must
// find the queue's tables by their search_path, or [Config].Schema be set.
func OpenPool(ctx context.Context, pool *pgxpool.Pool, cfg *Config) (*DB, error) {
	if pool == nil {
		return nil, errors.New("postgres: the pool is nil: give one of pgxpool.New, or use postgres.Open")
	}
	if cfg == nil {
		cfg = &Config{}
	}
	if err := naming.CheckSchema("postgres: Config.Schema", cfg.Schema); err != nil {
		return nil, err
	}
	if mode := pool.Config().ConnConfig.DefaultQueryExecMode; cfg.Pooled && mode == pgx.QueryExecModeCacheStatement {
		return nil, errors.New("postgres: Config.Pooled is set, but the pool prepares statements, which a pooler loses: " +
			"add default_query_exec_mode=cache_describe to its DSN")
	}
	theirs, err := settings(ctx, pool)
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	db := &engine{
		pool: pool, pooled: cfg.Pooled, release: func() {},
		server: serverClock{machine: time.Now}, theirs: theirs, writes: writes{patience: patience},
		patience: answerTimeout,
		names:    naming.New(driver.Names{Schema: cfg.Schema}),
		probe:    listenProbe,
	}
	db.locates = db.names.Whole(selectLocation)
	db.db = db.open()
	if err := db.startClock(ctx); err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	db.news = startNews(db.notify)
	db.shared = shared{
		Engine: driver.Postgres, Query: db.query, MarkKeys: markWaitingKeys, HoldClaims: holdClaims, OpenKeys: openKeys,
		CancelJobs: db.CancelJobs, RetryJob: db.Retry, GiveTurns: giveTurnsNow, KeyIsOpen: keyIsOpen,
		SelectUnfound: selectUnfound,
	}
	return &DB{engine: db}, nil
}
