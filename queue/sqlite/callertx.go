package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/txend"
	"github.com/postroom-go/postroom/queue/sqlite/internal/libsqlite"
)

var (
	// errGone is the error of a transaction that SQLite has rolled back by itself, as it does on a full disk.
	errGone = errors.New("SQLite has rolled the transaction back after an error")
	errOver = fmt.Errorf(
		"sqlite: the transaction is over: a Tx is of use only while the function given to Write runs: %w", sql.ErrTxDone)
	errEnded = errors.New(
		"sqlite: the statement has ended the transaction, which is shared and ends with the function given to Write, " +
			"so that all of it is undone: return nil to commit, an error to roll back, or use a savepoint to undo a part")
)

// A callerTx is the connection as one caller has it during its turn. Later use would write into another transaction, or
// into none. Anything that the caller has left open is closed: an unfinished statement would prevent a commit, and an
// unfinished read would pin the connection's snapshot, so that it could not write after another process has.
type callerTx struct {
	statements *statements

	mu   sync.Mutex // the caller may have several goroutines
	over bool
	open []*sql.Rows // and some that have been closed since
	// failed: the caller has asked for a rollback, and must have one.
	failed error
}

var _ driver.Tx = (*callerTx)(nil)

// end takes the connection back. It reports whether the transaction has ended, or returns the reason why the caller's
// writes are undone.
func (l *callerTx) end() (gone bool, failed error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	for _, rows := range l.open {
		_ = rows.Close() // an error of further reads is of no use to anyone
	}
	l.open = nil
	l.statements.taken.Store(false)
	return l.statements.gone(), l.failed
}

// newCallerTx makes the connection a caller's.
func newCallerTx(s *statements) *callerTx {
	s.taken.Store(true)
	return &callerTx{statements: s}
}

// refusal is why a statement is not run.
func (l *callerTx) refusal(query string) error {
	switch {
	case l.over:
		return errOver
	case l.statements.gone():
		return errGone
	}
	undoes, err := txend.Refuse(driver.SQLite, query)
	if undoes && l.failed == nil {
		l.failed = err
	}
	return cmp.Or(err, l.failed)
}

func (l *callerTx) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.refusal(query); err != nil {
		return nil, err
	}
	res, err := l.statements.ExecContext(ctx, query, args...)
	return res, l.ended(err)
}

// ended reports in the place of err that the statement which returned it has ended the transaction, which its text did
// not show.
func (l *callerTx) ended(err error) error {
	code, _ := libsqlite.ErrorOf(err)
	switch {
	case !l.statements.gone():
		return err
	case err == nil, code == libsqlite.CommitHook:
		return errEnded
	}
	return err
}

func (l *callerTx) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.refusal(query); err != nil {
		return nil, err
	}
	rows, err := l.statements.QueryContext(ctx, query, args...)
	if err == nil {
		l.remember(rows)
	}
	return rows, err
}

// QueryRowContext executes the statement at once, whether or not the row is scanned.
func (l *callerTx) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := &heldRows{err: l.refusal(query)}
	if h.err == nil {
		h = readAll(l.statements.QueryContext(ctx, query, args...))
		h.err = l.ended(h.err)
	}
	return h.row(l.statements.held)
}

// remember forgets those that have been closed before it takes more room for others.
func (l *callerTx) remember(rows *sql.Rows) {
	if len(l.open) == cap(l.open) {
		l.open = slices.DeleteFunc(l.open, func(rows *sql.Rows) bool {
			_, err := rows.Columns() // an error says that they are closed
			return err != nil
		})
	}
	l.open = append(l.open, rows)
}
