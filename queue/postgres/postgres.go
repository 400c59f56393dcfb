package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/jmoiron/sqlx"

	"github.com/postroom-go/postroom/internal/joblimit"
	"github.com/postroom-go/postroom/queue"
)

// Config says how to open a database; the zero value is the usual.
type Config struct {
	// Pooled is for a server behind a pooler that gives each transaction another connection, such as PgBouncer in
	// transaction mode. It keeps no state in sessions: no prepared statements, and no LISTEN, so that jobs which other
	// processes enqueue are found at the next poll. Parameters of the DSN that set something in the session
	// (search_path, …) do not work there: set them for the role or the database.
	Pooled bool
}

// DB is an open database. It is safe for use by many goroutines.
type DB struct {
	pool   *pgxpool.Pool
	db     *sqlx.DB
	news   *news
	pooled bool
	// limited tells whether the last claim found limits, so that the next need not find out. It costs the time of a claim
	// where it is wrong, and nothing else.
	limited atomic.Bool
	// busy tells whether the last claim got all that it asked for.
	busy   atomic.Bool
	claims atomic.Uint32 // of those that were busy
	clock  joblimit.Clock
	// theirs are the settings of planTheirs.
	theirs []any
}

var (
	_ queue.Driver   = (*DB)(nil)
	_ queue.Hastener = (*DB)(nil)
	_ queue.Fencer   = (*DB)(nil)
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
	theirs, err := settings(ctx, pool)
	if err != nil {
		pool.Close()
		return nil, fmt.Errorf("postgres: %w", err)
	}
	return &DB{
		pool: pool, db: sqlx.NewDb(stdlib.OpenDBFromPool(pool), "pgx"), news: startNews(pool), pooled: cfg.Pooled, theirs: theirs,
	}, nil
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

// Close waits for what is under way and closes all connections. A second call does nothing.
func (db *DB) Close() error {
	db.news.close()
	err := db.db.Close()
	db.pool.Close()
	return err
}

// Dialect is [queue.Postgres].
func (db *DB) Dialect() queue.Dialect { return queue.Postgres }

// Reader is the pool for queries.
func (db *DB) Reader() *sqlx.DB { return db.db }

// Hasten implements [queue.Hastener].
func (db *DB) Hasten(ctx context.Context, tx *queue.Tx) error { return later(ctx, tx, hasten) }

type writeKey struct{}

// Write implements [queue.DB].
func (db *DB) Write(ctx context.Context, fn func(ctx context.Context, tx *queue.Tx) error) (err error) {
	if ctx.Value(writeKey{}) != nil {
		return queue.ErrNestedWrite
	}
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
	tx := queue.NewTx(t, queue.Postgres, time.Now())
	committing := false
	// Also for a panic or a Goexit in fn.
	defer func() {
		if !committing || err != nil {
			tx.RolledBack()
			err = errors.Join(err, t.rollback(ctx))
		}
	}()
	if err := fn(context.WithValue(ctx, writeKey{}, true), tx); err != nil {
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
