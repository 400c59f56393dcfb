package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/adopted"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
	"github.com/postroom-go/postroom/queue/internal/naming"
)

// A location is the location of the queue's tables as a connection sees it.
type location struct {
	database string // the server, by when it was started, and its database
	jobs     string // the table, or "" where there is none in the search_path
	reads    bool   // nothing can be written
}

// locateTimeout bounds the wait for a separate connection in a transaction of the program's, which may use all of them.
const locateTimeout = 5 * time.Second

func (l *location) is(other *location) bool {
	return other != nil && l.jobs != "" && l.jobs == other.jobs && l.database == other.database
}

// locateOn asks a connection.
func (db *engine) locateOn(ctx context.Context, on interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
},
) (l location, err error) {
	err = on.QueryRowContext(ctx, db.locates).Scan(&l.database, &l.jobs, &l.reads)
	return l, err
}

// Adopt implements [driver.Transactor]. It queries the connection of each transaction once.
func (db *engine) Adopt(ctx context.Context, tx driver.Tx, now time.Time) (*driver.WriteTx, error) {
	if w, ok := tx.(*driver.WriteTx); ok {
		if err := db.fitsWrite(ctx, w); err != nil {
			return nil, err
		}
		return db.names.Of(w, namesOf(w)), nil
	}
	_, ofPgx := tx.(pgxTx)
	known := adopted.IsOfPool(tx) || ofPgx && reflect.ValueOf(tx).Comparable()
	if known && db.seen.Has(tx) {
		return db.adopted(tx, now), nil
	}
	if err := db.fits(ctx, tx); err != nil {
		return nil, err
	}
	if known {
		db.seen.Add(tx)
	} else if err := begun(ctx, tx); err != nil {
		return nil, err
	}
	return db.adopted(tx, now), nil
}

func (db *engine) adopted(tx driver.Tx, now time.Time) *driver.WriteTx {
	if own, ok := tx.(pgxTx); ok {
		own.names = db.names
		return driver.NewAdoptedTx(own, driver.Postgres, now)
	}
	return driver.NewAdoptedTx(db.names.Tx(tx), driver.Postgres, now)
}

// namesOf are the names that a transaction fills in.
func namesOf(w *driver.WriteTx) *naming.Filler {
	switch own := adopted.Innermost(w).(type) {
	case *transaction:
		return own.of.names
	case pgxTx:
		return own.names
	case naming.Named:
		return own.Filler
	}
	return nil
}

// fitsWrite is fits for a transaction that a driver has begun, or adopted.
func (db *engine) fitsWrite(ctx context.Context, w *driver.WriteTx) error {
	if w.Dialect() != driver.Postgres {
		return fmt.Errorf("%w; it is one of %s, the queue is on PostgreSQL", driver.ErrOtherDatabase, w.Dialect())
	}
	if own, ok := adopted.Innermost(w).(*transaction); ok && own.of == db {
		return nil
	}
	return db.fits(ctx, w)
}

// fits refuses a transaction that sees other tables of the queue, or none.
func (db *engine) fits(ctx context.Context, tx driver.Tx) error {
	theirs, err := db.locateOn(ctx, tx)
	if err != nil {
		return unlocated(ctx, tx, err)
	}
	if theirs.reads {
		return errors.New("the transaction may only read: begin it without ReadOnly, on a server that takes writes")
	}
	if theirs.is(db.place.Load()) {
		return nil
	}
	own, err := db.locate(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("it cannot be found out whether the transaction is one of the queue's database: %w", err)
	case theirs.database != own.database:
		return driver.ErrOtherDatabase
	case own.jobs == "":
		return driver.ErrNoTables
	case theirs.jobs != own.jobs:
		return fmt.Errorf("%w, with the same search_path: its own finds other tables, or none", driver.ErrOtherDatabase)
	}
	return nil
}

// locate finds the tables again. They may have been created since, also by another process, or the server may have been
// restarted.
func (db *engine) locate(ctx context.Context) (location, error) {
	ctx, cancel := context.WithTimeout(ctx, locateTimeout)
	defer cancel()
	own, err := db.locateOn(ctx, db.db)
	if err == nil {
		db.place.Store(&own)
	}
	return own, err
}

// learn finds the tables while there is a connection at hand: a transaction of the program's may have the last one.
func (db *engine) learn(ctx context.Context, t *transaction) {
	if known := db.place.Load(); known != nil && known.jobs != "" {
		return
	}
	if own, err := db.locateOn(ctx, t.conn); err == nil { // what it says is of no use to who has written
		db.place.Store(&own)
	}
}

// unlocated returns the reason why a transaction could not be queried.
func unlocated(ctx context.Context, tx driver.Tx, err error) error {
	var version string
	switch refused := stated(nil); {
	case errors.Is(err, sql.ErrTxDone):
		return err
	case errors.As(err, &refused) && refused.SQLState() == "25P02":
		return fmt.Errorf("the transaction has failed, and takes nothing more: roll it back: %w", err)
	case refused == nil && tx.QueryRowContext(ctx, "SELECT sqlite_version()").Scan(&version) == nil:
		return fmt.Errorf("%w; it is one of SQLite, the queue is on PostgreSQL", driver.ErrOtherDatabase)
	}
	return fmt.Errorf(
		"the transaction's connection cannot be asked where the queue's tables are, so it is none of PostgreSQL or it has failed: %w", err)
}

// begun refuses a value that begins a transaction for each statement.
func begun(ctx context.Context, tx driver.Tx) error {
	_, err := tx.ExecContext(ctx, "SAVEPOINT postroom_adopt; RELEASE SAVEPOINT postroom_adopt")
	const noTransaction = "25P01"
	if refused := stated(nil); errors.As(err, &refused) && refused.SQLState() == noTransaction {
		return fmt.Errorf("%w: what a %T writes commits by itself", driver.ErrNoTransaction, tx)
	}
	return err
}

// A stated error has an SQLSTATE code: it comes from a PostgreSQL server, not from SQLite.
type stated interface {
	error
	SQLState() string
}

var _ stated = (*pgconn.PgError)(nil)

// Tx adapts a transaction of pgx to the calls of the queue that take a transaction. The program begins and ends it as
// usual:
//
//	q.EnqueueTx(ctx, postgres.Tx(tx), job)
//
// For a nil tx it returns a nil Tx, which those calls refuse.
func Tx(tx pgx.Tx) driver.Tx {
	if tx == nil {
		return nil
	}
	return pgxTx{tx: tx}
}

// A pgxTx has the methods of database/sql. The driver's own statements use pgx below them. Two of the same pgx.Tx are
// equal.
type pgxTx struct {
	tx    pgx.Tx
	names *naming.Filler
}

var _ driver.Tx = pgxTx{}

// affected is the number of rows that a statement has changed.
type affected int64

func (a affected) RowsAffected() (int64, error) { return int64(a), nil }
func (a affected) LastInsertId() (int64, error) {
	return 0, errors.New("postgres: there is no last insert id; use RETURNING")
}

func (t pgxTx) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if err := t.ended(); err != nil {
		return nil, err
	}
	tag, err := t.tx.Exec(ctx, t.names.Fill(query), args...)
	return affected(tag.RowsAffected()), finished(err)
}

func (t pgxTx) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	db := sql.OpenDB(bridge{t})
	defer func() { _ = db.Close() }() // what it has given out goes on without it
	return db.QueryContext(ctx, query, args...)
}

func (t pgxTx) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	db := sql.OpenDB(bridge{t})
	defer func() { _ = db.Close() }() // what it has given out goes on without it
	return db.QueryRowContext(ctx, query, args...)
}

// query is for the driver's own statements.
func (t pgxTx) query(ctx context.Context, query string, args ...any) (jobsql.Rows, error) {
	if err := t.ended(); err != nil {
		return nil, err
	}
	answer, err := t.tx.Query(ctx, t.names.Fill(query), args...)
	return rows{answer}, finished(err)
}

// ended refuses a transaction that a statement of the program has ended, such as COMMIT: pgx does not notice that, and
// later writes would commit by themselves.
func (t pgxTx) ended() error {
	if conn := t.tx.Conn(); conn != nil && !conn.IsClosed() && gone(conn) {
		return sql.ErrTxDone
	}
	return nil
}

// finished converts pgx's error to that of database/sql.
func finished(err error) error {
	if errors.Is(err, pgx.ErrTxClosed) {
		return fmt.Errorf("%w: %w", sql.ErrTxDone, err)
	}
	return err
}

// queryTx runs a statement of the driver's own in a transaction of the program's.
func queryTx(ctx context.Context, tx *driver.WriteTx, query string, args ...any) (jobsql.Rows, error) {
	if own, ok := tx.Tx.(pgxTx); ok {
		return own.query(ctx, query, args...)
	}
	return tx.QueryContext(ctx, query, portable(args)...)
}
