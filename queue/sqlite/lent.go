package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

var (
	// errGone is what is told of a transaction that SQLite has rolled back by itself, as it does when the disk is full.
	errGone = errors.New("SQLite has rolled the transaction back after an error")
	errOver = fmt.Errorf("sqlite: the transaction is over: a Tx is of use only while the function given to Write runs: %w", sql.ErrTxDone)
	errEnds = errors.New("sqlite: the transaction is shared, and ends with the function given to Write: return nil to commit")
)

// A lent is the connection as one caller has it, for its turn alone: used later, it would write into the transaction of
// another, or into none. What the caller has left open by then is closed. A statement that stands half way would keep all from
// committing, and one that reads would keep the connection at what it has seen, so that it could not write any more once
// another process has.
type lent struct {
	statements *statements

	mu   sync.Mutex // the caller may have several goroutines
	over bool
	open []*sql.Rows // and some that have been closed since
}

var _ driver.Tx = (*lent)(nil)

// end takes the connection back, and tells whether the transaction is there no more.
func (l *lent) end() (gone bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	for _, rows := range l.open {
		_ = rows.Close() // what reading on would have said is of no use to anyone
	}
	l.open = nil
	return l.statements.gone()
}

// refusal is why a statement is not run.
func (l *lent) refusal(query string) error {
	switch {
	case l.over:
		return errOver
	case commits(query):
		return errEnds
	case l.statements.gone():
		return errGone
	}
	return nil
}

func commits(query string) bool {
	query = strings.TrimSpace(query)
	return hasPrefixFold(query, "COMMIT") || hasPrefixFold(query, "END")
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

func (l *lent) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.refusal(query); err != nil {
		return nil, err
	}
	return l.statements.ExecContext(ctx, query, args...)
}

func (l *lent) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.refusal(query); err != nil {
		return nil, err
	}
	rows, err := l.statements.QueryContext(ctx, query, args...) //nolint:sqlclosecheck // the caller closes them, or end does
	if err == nil {
		l.remember(rows)
	}
	return rows, err
}

func (l *lent) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.refusal(query); err != nil {
		return jobsql.RefusedRow(err)
	}
	return l.statements.QueryRowContext(ctx, query, args...)
}

// remember forgets those that have been closed before it takes more room for others.
func (l *lent) remember(rows *sql.Rows) {
	if len(l.open) == cap(l.open) {
		l.open = slices.DeleteFunc(l.open, func(rows *sql.Rows) bool {
			_, err := rows.Columns() // an error says that they are closed
			return err != nil
		})
	}
	l.open = append(l.open, rows)
}
