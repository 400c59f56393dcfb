package queue

import (
	"context"
	"embed"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/migrate"
)

// A Dialect is the SQL that a database speaks.
type Dialect string

// The dialects.
const (
	SQLite   Dialect = "sqlite"
	Postgres Dialect = "postgres"
)

// A DB is a database in which the queue and its neighbours keep their tables. The packages queue/sqlite and
// queue/postgres open one.
//
// Statements that run on both dialects number their parameters $1, $2, … in the order of their first appearance.
type DB interface {
	Dialect() Dialect

	// Reader is the pool for queries. It refuses to write where the engine can.
	Reader() *sqlx.DB

	// Write runs fn in a write transaction and returns when what fn wrote is durable. All of fn's writes happen, or none:
	// when fn returns an error or panics, they are undone. Several callers may share one commit, so fn does database work
	// only and never waits for anything else.
	//
	// ctx bounds the wait for the transaction to begin; once begun, it is not interrupted half way. The ctx given to fn
	// carries the transaction: calling Write with it is an error, [ErrNestedWrite]. Use it for everything in fn: a call that
	// writes under another context waits, on SQLite, for a turn that does not come before fn returns.
	Write(ctx context.Context, fn func(ctx context.Context, tx *Tx) error) error
}

// Statements is what executes SQL: a *sqlx.Tx, a *sqlx.Conn, a *sqlx.DB, a [Tx].
type Statements interface {
	sqlx.QueryerContext
	sqlx.ExecerContext
}

// A Tx is a write transaction: statements, one frozen clock, and what to do once it has committed.
type Tx struct {
	Statements
	dialect    Dialect
	now        time.Time
	onCommit   []func()
	onRollback []func()
}

// NewTx makes a Tx of a transaction that the caller begins and commits, such as a *sqlx.Tx. Its clock stands at now. The
// caller calls [Tx.Committed] after the commit, or [Tx.RolledBack] before the rollback.
func NewTx(tx Statements, dialect Dialect, now time.Time) *Tx {
	return &Tx{Statements: tx, dialect: dialect, now: dbtime.Truncate(now)}
}

// Dialect is the SQL that the transaction speaks.
func (tx *Tx) Dialect() Dialect { return tx.dialect }

// Now is the instant of the transaction: the same for all it writes.
func (tx *Tx) Now() time.Time { return tx.now }

// OnCommit registers fn to run once the transaction has committed. It never runs for a Tx made by a caller who does not
// call [Tx.Committed].
func (tx *Tx) OnCommit(fn func()) { tx.onCommit = append(tx.onCommit, fn) }

// Committed runs what OnCommit has registered, once. It is called by whoever committed the transaction.
func (tx *Tx) Committed() {
	fns := tx.onCommit
	tx.onCommit, tx.onRollback = nil, nil
	for _, fn := range fns {
		fn()
	}
}

// RolledBack lets go of what waits for the commit. It is called before the rollback, so that nobody can see that without
// this, and does nothing after [Tx.Committed].
func (tx *Tx) RolledBack() {
	fns := tx.onRollback
	tx.onCommit, tx.onRollback = nil, nil
	for _, fn := range fns {
		fn()
	}
}

//go:embed migrations
var migrations embed.FS

// Migrate creates the queue's tables (jobs, job_keys, job_steps, job_attempts, job_logs, job_workers, job_schedules and those of
// limits) or brings them up to date. It may be called at every start, by several processes at once.
func Migrate(ctx context.Context, db DB) error {
	return db.Write(ctx, func(ctx context.Context, tx *Tx) error {
		return migrate.Run(ctx, tx, string(tx.Dialect()), "queue", migrations)
	})
}
