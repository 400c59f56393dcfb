package driver

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/postroom-go/postroom/internal/dbtime"
)

// A Dialect is the SQL dialect of a database.
type Dialect string

// The dialects.
const (
	SQLite   Dialect = "sqlite"
	Postgres Dialect = "postgres"
)

// A Tx executes statements in a transaction. It is a *sql.Tx, a *sqlx.Tx, the connection pool of a GORM transaction, a
// DBTX of sqlc, or the transaction of [DB.Write].
type Tx interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// A DB is a database with the tables of the queue and of other stores.
//
// Statements that run on both dialects number their parameters $1, $2, …. They are bound by these numbers; a Reader
// that is the program's own pool of SQLite binds them in the order of their first appearance.
type DB interface {
	Dialect() Dialect

	// Reader is the pool for queries. It refuses to write if the engine supports that.
	Reader() *sqlx.DB

	// Write runs fn in a write transaction and returns when fn's writes are durable. All of fn's writes take effect, or
	// none: if fn returns an error or panics, they are undone. Several callers may share one commit, so fn must only do
	// database work and must not wait for anything else.
	//
	// The Tx is a [*WriteTx]. It is valid until fn returns: later statements, from any goroutine, are refused with an
	// error that is [sql.ErrTxDone]. Its calls from several goroutines run one after the other. A statement that would
	// end the transaction is refused before it is run; if it is a ROLLBACK, Write undoes everything and fails.
	//
	// ctx bounds the wait for the transaction to begin; once begun, the transaction is not interrupted, see [Begun].
	// The ctx given to fn carries the transaction. Calling Write from within fn, with that context or on that goroutine
	// with any other, returns [ErrNestedWrite] at once. If fn starts a goroutine, waits for it, and the goroutine
	// writes under a context of its own, Write cannot recognize that: on an engine with one writer, such as SQLite, the
	// goroutine gets an error after 30 s.
	Write(ctx context.Context, fn func(ctx context.Context, tx Tx) error) error
}

// A WriteTx is a transaction in the form that the methods of a [Driver] take: statements, one frozen clock, and
// functions to run at its end.
type WriteTx struct {
	Tx
	dialect Dialect
	now     time.Time
	adopted bool

	mu         sync.Mutex
	atEnd      []func(ctx context.Context) error
	onCommit   []func()
	onRollback []func()
}

// NewWriteTx makes a WriteTx from the statements of a transaction. Its clock is frozen at now. The caller that ends the
// transaction must call [WriteTx.Ending] before the commit and [WriteTx.Committed] after it, or [WriteTx.RolledBack]
// before the rollback.
func NewWriteTx(tx Tx, dialect Dialect, now time.Time) *WriteTx {
	return &WriteTx{Tx: tx, dialect: dialect, now: dbtime.Truncate(now)}
}

// NewAdoptedTx is [NewWriteTx] for a transaction that the program has begun and will end: nobody reports its end.
func NewAdoptedTx(tx Tx, dialect Dialect, now time.Time) *WriteTx {
	w := NewWriteTx(tx, dialect, now)
	w.adopted = true
	return w
}

// Adopted reports whether the transaction is the program's own; see [Transactor].Join.
func (tx *WriteTx) Adopted() bool { return tx.adopted }

// Dialect returns the SQL that the transaction speaks.
func (tx *WriteTx) Dialect() Dialect { return tx.dialect }

// Now returns the instant of the transaction, which is the same for all its writes.
func (tx *WriteTx) Now() time.Time { return tx.now }

// AtEnd registers fn to run before the commit, after all other writes, so that it reads the final state. Its error
// undoes everything. fn does not run if nobody calls [WriteTx.Ending], as for a transaction of the program's own.
func (tx *WriteTx) AtEnd(fn func(ctx context.Context) error) {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	tx.atEnd = append(tx.atEnd, fn)
}

// Ending runs the functions that [WriteTx.AtEnd] has registered, once, and those that these register, until the first
// error. The caller that ends the transaction must call it before the commit.
func (tx *WriteTx) Ending(ctx context.Context) error {
	for {
		tx.mu.Lock()
		fns := tx.atEnd
		tx.atEnd = nil
		tx.mu.Unlock()
		if len(fns) == 0 {
			return nil
		}
		for _, fn := range fns {
			if err := fn(ctx); err != nil {
				return err
			}
		}
	}
}

// OnCommit registers fn to run after the commit. If fn panics, the others still run, and the panic then goes on to the
// caller of the write, which is committed. It does not run if nobody calls [WriteTx.Committed], as for a
// transaction of the program's own.
func (tx *WriteTx) OnCommit(fn func()) { tx.register(&tx.onCommit, fn) }

// OnRollback registers fn to run before the rollback.
func (tx *WriteTx) OnRollback(fn func()) { tx.register(&tx.onRollback, fn) }

func (tx *WriteTx) register(registered *[]func(), fn func()) {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	*registered = append(*registered, fn)
}

// Committed runs the functions that [WriteTx.OnCommit] has registered, once.
func (tx *WriteTx) Committed() { tx.end(&tx.onCommit) }

// RolledBack runs the functions that [WriteTx.OnRollback] has registered, once. It does nothing after
// [WriteTx.Committed].
func (tx *WriteTx) RolledBack() { tx.end(&tx.onRollback) }

func (tx *WriteTx) end(registered *[]func()) {
	tx.mu.Lock()
	fns := *registered
	tx.onCommit, tx.onRollback = nil, nil
	tx.mu.Unlock()
	callAll(fns)
}

// callAll calls the functions in order, also those after one that panics or calls runtime.Goexit.
func callAll(fns []func()) {
	if len(fns) == 0 {
		return
	}
	defer func() { callAll(fns[1:]) }()
	fns[0]()
}

// Write is [DB.Write] for callers that pass the transaction to methods of a [Driver].
func Write(ctx context.Context, db DB, fn func(ctx context.Context, tx *WriteTx) error) error {
	if ctx == nil {
		return ErrNilContext
	}
	return db.Write(ctx, func(ctx context.Context, tx Tx) error {
		w, ok := tx.(*WriteTx)
		if !ok {
			return fmt.Errorf("the transaction is a %T; Write of a %T must give a *driver.WriteTx", tx, db)
		}
		return fn(ctx, w)
	})
}
