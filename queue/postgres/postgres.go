package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/jmoiron/sqlx"

	"github.com/postroom-go/postroom/internal/joblimit"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
	"github.com/postroom-go/postroom/queue/internal/within"
)

// Config configures a database. The zero Config uses the defaults.
type Config struct {
	// Pooled is for a server behind a pooler that gives each transaction another connection, such as PgBouncer in
	// transaction mode. It keeps no state in sessions: no prepared statements, and no LISTEN, so that jobs which other
	// processes enqueue are found at the next poll. Parameters of the DSN that set something in the session
	// (search_path, …) do not work there: set them for the role or the database.
	Pooled bool
}

// shared has the methods that are the same on every engine.
type shared = jobsql.Store

// DB is an open database. It is safe for use by many goroutines.
type DB struct {
	shared

	pool   *pgxpool.Pool
	db     *sqlx.DB
	news   *news
	pooled bool
	// release closes the pool, if that is ours.
	release func()
	guard   within.Guard
	// limited reports whether the last claim found limits, so that the next need not find out. It costs the time of a claim
	// where it is wrong, and nothing else.
	limited atomic.Bool
	// busy reports whether the last claim got all that it asked for.
	busy   atomic.Bool
	claims atomic.Uint32 // of those that were busy
	clock  joblimit.Clock
	server serverClock
	// theirs are the settings of planTheirs.
	theirs []any
}

var (
	_ driver.Driver        = (*DB)(nil)
	_ driver.LockTimeouter = (*DB)(nil)
	_ driver.Fencer        = (*DB)(nil)
	_ driver.WriteChecker  = (*DB)(nil)
)

// Open connects to the server that dsn names: a URL or keywords and values, as libpq takes them, with pgxpool's own
// parameters. Of these, pool_max_conns is the number of connections: the greater of 4 and the number of CPUs by default; a
// dispatcher wants about as many as it has handlers that write at once. A listening dispatcher has one more. cfg may be nil.
func Open(ctx context.Context, dsn string, cfg *Config) (*DB, error) {
	if cfg == nil {
		cfg = &Config{}
	}
	options, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	if cfg.Pooled {
		options.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	}
	pool, err := pgxpool.NewWithConfig(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	db, err := OpenPool(ctx, pool, cfg)
	if err != nil {
		pool.Close()
		return nil, err
	}
	db.release = pool.Close
	return db, nil
}

// OpenPool is [Open] on a pool that the program has opened, and closes after [DB.Close]. A listening dispatcher takes one of
// its connections for good, in whose place the pool opens another. cfg may be nil; with [Config].Pooled the pool must not use
// prepared statements. The pool must be one to a server that takes writes, and its connections must find the queue's tables by
// their search_path.
func OpenPool(ctx context.Context, pool *pgxpool.Pool, cfg *Config) (*DB, error) {
	if pool == nil {
		return nil, errors.New("postgres: the pool is nil: give one of pgxpool.New, or use postgres.Open")
	}
	if cfg == nil {
		cfg = &Config{}
	}
	if mode := pool.Config().ConnConfig.DefaultQueryExecMode; cfg.Pooled && mode == pgx.QueryExecModeCacheStatement {
		return nil, errors.New("postgres: Config.Pooled is set, but the pool prepares statements, which a pooler loses: " +
			"add default_query_exec_mode=cache_describe to its DSN")
	}
	theirs, err := settings(ctx, pool)
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	db := &DB{
		pool: pool, db: sqlx.NewDb(stdlib.OpenDBFromPool(pool), "pgx"), pooled: cfg.Pooled, release: func() {},
		server: serverClock{machine: time.Now}, theirs: theirs,
	}
	if err := db.setClock(ctx); err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	db.news = startNews(pool)
	db.shared = shared{Engine: driver.Postgres, Query: db.query, MarkKeys: markWaitingKeys, KeyIsOpen: keyIsOpen}
	return db, nil
}

// settings asks the server how it plans a program's own statements.
func settings(ctx context.Context, pool *pgxpool.Pool) ([]any, error) {
	found, err := pool.Query(ctx, selectSettings)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(found, func(row pgx.CollectableRow) (value any, err error) {
		var text string
		err = row.Scan(&text)
		return text, err
	})
}

// Close waits for what is under way and closes all connections, except those of a pool given to [OpenPool]. A second call does
// nothing.
func (db *DB) Close() error {
	db.news.close()
	err := db.db.Close()
	db.release()
	return err
}

// Dialect is [driver.Postgres].
func (db *DB) Dialect() driver.Dialect { return driver.Postgres }

// Reader is the pool for queries.
func (db *DB) Reader() *sqlx.DB { return db.db }

// SetLockTimeout implements [driver.LockTimeouter].
func (db *DB) SetLockTimeout(ctx context.Context, tx *driver.WriteTx) error {
	return later(ctx, tx, hasten)
}

type writeKey struct{}

// Write implements [driver.DB].
func (db *DB) Write(ctx context.Context, fn func(ctx context.Context, tx driver.Tx) error) error {
	return db.write(ctx, func(ctx context.Context, tx *driver.WriteTx) error { return fn(ctx, tx) })
}

// Join implements [driver.Transactor].
func (db *DB) Join(_ context.Context, tx driver.Tx, now time.Time) (*driver.WriteTx, error) {
	return driver.NewJoinedTx(tx, driver.Postgres, now), nil
}

// query runs a statement outside of transactions.
func (db *DB) query(ctx context.Context, query string, args ...any) (jobsql.Rows, error) {
	answer, err := db.pool.Query(ctx, query, args...)
	return rows{answer}, err
}

// InWrite implements [driver.WriteChecker].
func (db *DB) InWrite(ctx context.Context) bool {
	return ctx.Value(writeKey{}) != nil || db.guard.Inside()
}

// run runs what the transaction is for, and takes it back, also from goroutines that fn has left behind.
func (db *DB) run(t *transaction, fn func() error) (err error) {
	defer t.close()
	db.guard.Run(func() { err = fn() })
	return err
}

// deadlocked marks what PostgreSQL has ended in favour of another transaction.
func deadlocked(err error) error {
	const deadlockDetected, lockNotAvailable = "40P01", "55P03"
	if e := (*pgconn.PgError)(nil); errors.As(err, &e) && (e.Code == deadlockDetected || e.Code == lockNotAvailable) {
		return fmt.Errorf("%w: %w", driver.ErrDeadlock, err)
	}
	return err
}

func (db *DB) write(ctx context.Context, fn func(ctx context.Context, tx *driver.WriteTx) error) (err error) {
	if db.InWrite(ctx) {
		return driver.ErrNestedWrite
	}
	db.resetClock(ctx)
	conn, err := db.db.Connx(ctx)
	if err != nil {
		return err
	}
	defer func() {
		// Where the connection was lost, that has been said.
		if closed := conn.Close(); !errors.Is(closed, sql.ErrConnDone) {
			err = errors.Join(err, closed)
		}
	}()
	// Once begun, it is not interrupted half way: whether it has committed would be anyone's guess.
	ctx = context.WithoutCancel(ctx)
	t := &transaction{conn: conn, theirs: db.theirs}
	tx := driver.NewWriteTx(t, driver.Postgres, db.Now())
	committing := false
	// Also for a panic or a Goexit in fn.
	defer func() {
		if !committing || err != nil {
			tx.RolledBack()
			err = deadlocked(errors.Join(err, t.rollback(ctx)))
		}
	}()
	if err := db.run(t, func() error { return fn(context.WithValue(ctx, writeKey{}, true), tx) }); err != nil {
		if t.failed != nil && !errors.Is(err, t.failed) {
			err = errors.Join(err, t.failed)
		}
		return err
	}
	committing = true
	if err := t.commit(ctx); err != nil {
		return err
	}
	tx.Committed()
	return nil
}
