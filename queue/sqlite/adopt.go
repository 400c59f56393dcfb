package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/adopted"
	"github.com/postroom-go/postroom/queue/internal/naming"
	"github.com/postroom-go/postroom/queue/sqlite/internal/libsqlite"
)

// A library is the SQLite library of a connection, and its configuration.
type library struct {
	file, source, options string
	foreignKeys, reads    bool
}

const selectLibrary = `
SELECT (SELECT file FROM pragma_database_list WHERE name = 'main'),
  sqlite_source_id(),
  (SELECT group_concat(compile_options) FROM pragma_compile_options),
  (SELECT foreign_keys FROM pragma_foreign_keys),
  (SELECT query_only FROM pragma_query_only)`

func readLibrary(ctx context.Context, on interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
},
) (l library, err error) {
	var options sql.NullString
	err = on.QueryRowContext(ctx, selectLibrary).Scan(&l.file, &l.source, &options, &l.foreignKeys, &l.reads)
	l.options = options.String
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
	if !adopted.IsOfPool(tx) {
		return db.adopted(tx, now), db.fits(ctx, tx)
	}
	if !db.seen.Has(tx) {
		if err := db.fits(ctx, tx); err != nil {
			return nil, err
		}
		db.seen.Add(tx)
	}
	return db.adopted(tx, now), nil
}

func (db *engine) adopted(tx driver.Tx, now time.Time) *driver.WriteTx {
	return driver.NewAdoptedTx(db.names.Tx(numberedTx{tx}), driver.SQLite, now)
}

// A numberedTx is a program's own transaction. It binds the parameters of the queue's statements by their numbers,
// where the pool of the program would by the order in which they appear.
type numberedTx struct{ driver.Tx }

// Given is for txlock.
func (t numberedTx) Given() driver.Tx { return t.Tx }

// ExecContext implements [driver.Tx].
func (t numberedTx) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	return t.Tx.ExecContext(ctx, numbered(query), args...)
}

// QueryContext implements [driver.Tx].
func (t numberedTx) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return t.Tx.QueryContext(ctx, numbered(query), args...)
}

// QueryRowContext implements [driver.Tx].
func (t numberedTx) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	return t.Tx.QueryRowContext(ctx, numbered(query), args...)
}

// namesOf are the names that a transaction fills in.
func namesOf(w *driver.WriteTx) *naming.Filler {
	if own := ownStatements(w); own != nil {
		return own.names
	}
	if own, ok := adopted.Innermost(w).(naming.Named); ok {
		return own.Filler
	}
	return nil
}

// ownStatements are the statements of the writer that has begun the transaction, or nil.
func ownStatements(w *driver.WriteTx) *statements {
	if own, ok := adopted.Innermost(w).(*callerTx); ok {
		return own.statements
	}
	return nil
}

// fitsWrite is fits for a transaction that a driver has begun, or adopted.
func (db *engine) fitsWrite(ctx context.Context, w *driver.WriteTx) error {
	if w.Dialect() != driver.SQLite {
		return fmt.Errorf("%w; it is one of %s, the queue is on SQLite", driver.ErrOtherDatabase, w.Dialect())
	}
	if ownStatements(w) == db.writer.statements {
		return nil
	}
	return db.sameDatabase(ctx, w)
}

// fits refuses a transaction of another database, one that would write this database wrongly, and a value that is not a
// transaction.
func (db *engine) fits(ctx context.Context, tx driver.Tx) error {
	if err := db.sameDatabase(ctx, tx); err != nil {
		return err
	}
	// Inside a transaction BEGIN fails, and the statements after it are not run.
	if _, err := tx.ExecContext(ctx, "BEGIN; END"); err == nil {
		return fmt.Errorf("%w: what a %T writes commits by itself", driver.ErrNoTransaction, tx)
	}
	return nil
}

func (db *engine) sameDatabase(ctx context.Context, tx driver.Tx) error {
	theirs, err := readLibrary(ctx, tx)
	switch {
	case errors.Is(err, sql.ErrTxDone):
		return err
	case errors.As(err, new(stated)):
		return fmt.Errorf("%w; it is none of SQLite, where the queue is", driver.ErrOtherDatabase)
	case err != nil:
		return fmt.Errorf("the transaction's connection cannot be queried, so it is none of SQLite or it has failed: %w", err)
	case db.file == nil:
		return fmt.Errorf(
			"%w; that is in memory, where no other connection reaches it: use the transactions of its DB.Write, or sqlite.Open with a file", driver.ErrOtherDatabase)
	case !sameFile(theirs.file, db.own.file):
		return fmt.Errorf("%w; it is one of %s, the queue is in %s", driver.ErrOtherDatabase, orMemory(theirs.file),
			db.own.file)
	case theirs.source != db.own.source || theirs.options != db.own.options:
		return errors.New(
			"the transaction is one of another SQLite library, and two in one process corrupt the file: open it with " +
				libsqlite.Path + ", as the queue does")
	case theirs.reads:
		return errors.New("the transaction may only read: begin it on a pool of the program's own, or use DB.Write")
	case !theirs.foreignKeys:
		return errors.New(
			"foreign keys are off in the transaction, so that rows which belong to a job would outlive it: open its pool with _foreign_keys=1")
	}
	return nil
}

// A stated error has an SQLSTATE code, like those of PostgreSQL's drivers and unlike those of SQLite's.
type stated interface {
	error
	SQLState() string
}

func orMemory(file string) string {
	if file == "" {
		return "a database in memory"
	}
	return file
}

func sameFile(a, b string) bool {
	if a == b {
		return true
	}
	one, errOne := os.Stat(a)
	other, errOther := os.Stat(b)
	return errOne == nil && errOther == nil && os.SameFile(one, other)
}
