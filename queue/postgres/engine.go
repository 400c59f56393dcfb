package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jmoiron/sqlx"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/adopted"
	"github.com/postroom-go/postroom/queue/internal/joblimit"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
	"github.com/postroom-go/postroom/queue/internal/naming"
	"github.com/postroom-go/postroom/queue/internal/nestedwrite"
)

// shared has the methods that are the same on every engine.
type shared = jobsql.Store

// An engine is the driver of a [DB].
type engine struct {
	shared

	pool   *pgxpool.Pool
	db     *sqlx.DB
	news   *news
	pooled bool
	// release closes the pool, if it is the engine's own.
	release func()
	// patience is how long the server may take to answer.
	patience time.Duration
	probe    time.Duration // see listenProbe
	guard    nestedwrite.Guard
	writes   writes
	// limited reports whether the last claim found limits, so that the next need not check. If it is wrong, it costs
	// only the time of a claim.
	limited atomic.Bool
	// typed reports whether there were limits of types.
	typed atomic.Bool
	// busy reports whether the last claim got all requested jobs.
	busy atomic.Bool
	// turns reports whether this process has changed sequences since its last claim, which then gives turns before it
	// looks for jobs. If it is wrong, it costs only the time of a claim.
	turns  atomic.Bool
	claims atomic.Uint32 // of those that were busy
	// dueHeld is how many claims in a row have found that others held what was due.
	dueHeld atomic.Uint32
	held    heldJobs
	clock   joblimit.Clock
	server  serverClock
	// theirs are the settings of planTheirs.
	theirs []any
	// place is the location of the tables; nil before they are found.
	place atomic.Pointer[location]
	// locates is selectLocation for any transaction.
	locates string
	names   *naming.Filler
	seen    adopted.Seen
	// closed: errors about connections are then permanent.
	closed atomic.Bool
}

var (
	_ driver.Driver        = (*engine)(nil)
	_ driver.LockTimeouter = (*engine)(nil)
	_ driver.Fencer        = (*engine)(nil)
	_ driver.WriteChecker  = (*engine)(nil)
	_ driver.Namer         = (*engine)(nil)
)

// settings queries the planner settings for a program's own statements.
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

func (db *engine) close() error {
	db.closed.Store(true)
	db.news.close()
	err := db.db.Close()
	db.release()
	return err
}

// Dialect implements [driver.DB].
func (db *engine) Dialect() driver.Dialect { return driver.Postgres }

// Names implements [driver.Namer].
func (db *engine) Names() driver.Names { return db.names.Names() }

// Reader implements [driver.DB].
func (db *engine) Reader() *sqlx.DB { return db.db }

// SetLockTimeout implements [driver.LockTimeouter].
func (db *engine) SetLockTimeout(ctx context.Context, tx *driver.WriteTx) error {
	return later(ctx, tx, setLockTimeout)
}

type writeKey struct{}

// Write implements [driver.DB].
func (db *engine) Write(ctx context.Context, fn func(ctx context.Context, tx driver.Tx) error) error {
	if fn == nil {
		return driver.ErrNilFunc
	}
	return db.write(ctx, func(ctx context.Context, tx *driver.WriteTx) error { return fn(ctx, tx) })
}

// query runs a statement outside of transactions.
func (db *engine) query(ctx context.Context, query string, args ...any) (jobsql.Rows, error) {
	if ctx == nil {
		return nil, driver.ErrNilContext
	}
	conn, err := db.acquire(ctx)
	if err != nil {
		return nil, err
	}
	answer, err := conn.Query(ctx, db.names.Fill(query), args...)
	if err != nil {
		conn.Release()
		return nil, err
	}
	return connRows{rows{answer}, conn}, nil
}

// connRows release their connection when they are closed.
type connRows struct {
	rows
	conn *pgxpool.Conn
}

func (r connRows) Close() error {
	defer r.conn.Release()
	return r.rows.Close()
}

// InWrite implements [driver.WriteChecker].
func (db *engine) InWrite(ctx context.Context) bool {
	return ctx.Value(writeKey{}) != nil || db.guard.Inside()
}

// run runs the function of the transaction, and ends its use, also by goroutines that fn has left behind.
func (db *engine) run(t *transaction, fn func() error) (err error) {
	defer t.close()
	db.guard.Run(func() { err = fn() })
	return err
}

// SQLSTATEs of transactions that the server has ended in favor of others.
const (
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
	lockNotAvailable     = "55P03"
	idleInTransaction    = "25P03"
)

// deadlocked marks the error of a transaction that PostgreSQL has ended in favor of others.
func deadlocked(err error) error { return yielded(err, serializationFailure, deadlockDetected) }

// unavailable marks the error of a statement of the driver's own that has waited too long for others, or whose
// transaction was idle for too long. The program's own NOWAIT and timeouts are its own failures.
func unavailable(err error) error { return yielded(err, lockNotAvailable, idleInTransaction) }

func yielded(err error, codes ...string) error {
	if e := (*pgconn.PgError)(nil); errors.As(err, &e) && slices.Contains(codes, e.Code) {
		return fmt.Errorf("%w: %w", driver.ErrDeadlock, err)
	}
	return err
}

func write(ctx context.Context, tx *driver.WriteTx, fn func(ctx context.Context, tx *driver.WriteTx) error) error {
	if err := fn(ctx, tx); err != nil {
		return err
	}
	return tx.Ending(ctx)
}

func (db *engine) write(ctx context.Context, fn func(ctx context.Context, tx *driver.WriteTx) error) (err error) {
	if ctx == nil {
		return driver.ErrNilContext
	}
	if db.InWrite(ctx) {
		return driver.ErrNestedWrite
	}
	db.resetClock(ctx)
	conn, release, err := db.connect(ctx)
	if err != nil {
		return err
	}
	defer func() {
		// Where the connection was lost, that has been said.
		if closed := release(); !errors.Is(closed, sql.ErrConnDone) {
			err = errors.Join(err, closed)
		}
	}()
	// Once begun, it is interrupted only by a caller that stops: whether it has committed would be unknown.
	ctx = driver.Begun(ctx)
	t := &transaction{of: db, conn: conn, theirs: db.theirs}
	tx := driver.NewWriteTx(t, driver.Postgres, db.Now())
	committing := false
	// Also for a panic or a Goexit in fn.
	defer func() {
		if !committing || err != nil {
			tx.RolledBack()
			err = deadlocked(errors.Join(err, t.rollback(ctx)))
		}
	}()
	if err := db.run(t, func() error { return write(context.WithValue(ctx, writeKey{}, true), tx, fn) }); err != nil {
		if t.failed != nil && !errors.Is(err, t.failed) {
			err = errors.Join(err, t.failed)
		}
		return err
	}
	committing = true
	if err := t.commit(ctx); err != nil {
		return err
	}
	db.learn(ctx, t)
	tx.Committed()
	return nil
}

// maxTries bounds how often a transaction that yielded to others is begun again.
const maxTries = 20

// writeAgain is write for a fn of the driver's own that may run again.
func (db *engine) writeAgain(ctx context.Context, fn func(ctx context.Context, tx *driver.WriteTx) error) (err error) {
	for range maxTries {
		if err = db.write(ctx, fn); !errors.Is(err, driver.ErrDeadlock) {
			return err
		}
	}
	return err
}
