package postgres

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/jmoiron/sqlx"

	"github.com/postroom-go/postroom/queue/driver"
)

// patience is how long a call waits for a connection while writes use all of them and none of those ends. Their
// functions may wait for this call, made by themselves or by goroutines that they have started, which cannot be
// detected.
const patience = 30 * time.Second

// ErrWriteBlocked is returned by a write, and by a read of the queue or of [DB.Reader], that has waited 30 s for a
// connection while other writes of this program used the whole pool and none of them ended. Nothing is written.
var ErrWriteBlocked = errors.New(
	"postgres: writes have all connections of the pool, and none of them has ended for 30s: " +
		"if their functions wait for this call, use the calls that take their transactions, such as EnqueueTx, and read before the write; " +
		"else have them do less, or give the pool more connections (pool_max_conns)")

// writes are the writes that use a connection of the pool.
type writes struct {
	patience time.Duration

	mu      sync.Mutex
	running int
	changed time.Time // when the latest of them began or ended
}

func (w *writes) count(more int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running += more
	w.changed = time.Now()
}

// standstill returns how long the given number of writes has been running without any of them beginning or ending; zero
// if there are fewer.
func (w *writes) standstill(all int32) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running < int(all) {
		return 0
	}
	return time.Since(w.changed)
}

// connect returns a connection for a write, and a function that releases it.
func (db *engine) connect(ctx context.Context) (*sqlx.Conn, func() error, error) {
	conn, err := db.db.Connx(ctx)
	if err != nil {
		return nil, nil, db.refusal(ctx, err)
	}
	db.writes.count(1)
	return conn, func() error {
		defer db.writes.count(-1)
		return conn.Close()
	}, nil
}

// A connector gives the connections of the pool to [DB.Reader].
type connector struct {
	sqldriver.Connector
	db *engine
}

func (c connector) Connect(ctx context.Context) (sqldriver.Conn, error) {
	return await(ctx, c.db, c.Connector.Connect)
}

// open opens the database of [DB.Reader]. It keeps no connections, which the pool does.
func (db *engine) open() *sqlx.DB {
	reader := sql.OpenDB(connector{stdlib.GetPoolConnector(db.pool), db})
	reader.SetMaxIdleConns(0)
	return sqlx.NewDb(reader, "pgx")
}

// acquire returns a connection for a read, or for a single statement.
func (db *engine) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	return await(ctx, db, db.pool.Acquire)
}

// await takes a connection, and waits for it no longer than writes that have them all may take.
func await[Conn any](ctx context.Context, db *engine, take func(context.Context) (Conn, error)) (Conn, error) {
	arrived := time.Now()
	for wait := db.writes.patience; ; {
		limited, cancel := context.WithTimeout(ctx, wait)
		conn, err := take(limited)
		over := limited.Err() != nil && ctx.Err() == nil
		cancel()
		if err == nil || !over {
			return conn, db.refusal(ctx, err)
		}
		still := min(db.writes.standstill(db.pool.Stat().MaxConns()), time.Since(arrived))
		if still >= db.writes.patience {
			return conn, ErrWriteBlocked
		}
		wait = db.writes.patience - still
	}
}

// refusal is why there is no connection: once the database is closed, that.
func (db *engine) refusal(ctx context.Context, err error) error {
	if err != nil && ctx.Err() == nil && db.closed.Load() {
		return fmt.Errorf("postgres: %w", driver.ErrClosed)
	}
	return err
}
