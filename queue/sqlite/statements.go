package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/jmoiron/sqlx"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
	"github.com/postroom-go/postroom/queue/internal/naming"
	"github.com/postroom-go/postroom/queue/sqlite/internal/libsqlite"
)

// maxStatements bounds the prepared statements that are kept; programs that build SQL at run time go past it.
const maxStatements = 500

// statements is a connection whose statements are prepared once. It belongs to the writer, which lends it to whose turn
// it is (see lent).
//
// It does not heed the contexts it is given: a statement that is interrupted takes its whole transaction with it, which
// others share, and what is written next would commit by itself.
type statements struct {
	conn     *sqlx.Conn
	prepared map[string]prepared
	held     *sql.DB // makes rows of values that have been read
	names    *naming.Filler

	// SQLite itself reports, whatever the text that it executes, when a transaction ends.
	taken      atomic.Bool // to a caller: nobody may commit
	rolledBack atomic.Bool // since the transaction began

	ended atomic.Bool // jobs have, in this transaction
}

type prepared struct {
	*sqlx.Stmt
	yields bool // may have rows
}

var _ driver.Tx = (*statements)(nil)

// A queryer reads: a transaction, or a connection beside it.
type queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// scanRow reads the one row of a query. It costs less than a *sql.Row, for which a transaction that is lent reads the
// row twice.
func scanRow(ctx context.Context, q queryer, query string, args []any, dest ...any) error {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	if !rows.Next() {
		return cmp.Or(rows.Err(), sql.ErrNoRows)
	}
	return errors.Join(rows.Scan(dest...), rows.Close())
}

func newStatements(conn *sqlx.Conn, names *naming.Filler) *statements {
	return &statements{conn: conn, prepared: make(map[string]prepared), held: openHeld(), names: names}
}

// prepare returns no statement for texts that are better run directly: several statements in one text, of which SQLite
// would prepare only the first, texts without any, which the driver prepares as none and crashes, and texts that SQLite
// refuses to prepare, so that the caller gets the error from running it.
func (s *statements) prepare(query string) prepared {
	if p, ok := s.prepared[query]; ok {
		return p
	}
	if len(s.prepared) >= maxStatements || strings.Contains(query, ";") || isEmpty(query) {
		return prepared{}
	}
	stmt, err := s.conn.PreparexContext(context.Background(), s.text(query))
	if err != nil {
		return prepared{}
	}
	p := prepared{Stmt: stmt, yields: yields(query)}
	s.prepared[query] = p
	return p
}

// text is what SQLite reads.
func (s *statements) text(query string) string { return numbered(s.names.Fill(query)) }

// silent are the first words of statements that have no rows, unless they are RETURNING some.
var silent = []string{
	"INSERT", "UPDATE", "DELETE", "REPLACE", "CREATE", "DROP", "ALTER", "BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT",
	"RELEASE",
}

// yields reports whether a statement may have rows; it returns true if that is unknown.
func yields(query string) bool {
	words := strings.Fields(strings.ToUpper(query))
	return len(words) == 0 || !slices.Contains(silent, words[0]) || strings.Contains(strings.ToUpper(query),
		"RETURNING")
}

// watch has SQLite refuse a commit while the connection is lent, and report each rollback.
func (s *statements) watch() error {
	return s.conn.Raw(func(dc any) error {
		conn, ok := libsqlite.ConnOf(dc)
		if !ok {
			return fmt.Errorf("the connection is a %T", dc)
		}
		libsqlite.Watch(conn, func() bool { return !s.taken.Load() }, func() { s.rolledBack.Store(true) })
		return nil
	})
}

// gone reports whether the transaction that began last has ended. Later writes would commit by themselves.
func (s *statements) gone() bool { return s.rolledBack.Load() }

func (s *statements) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	switch stmt := s.prepare(query); {
	case stmt.Stmt == nil:
		if err := single(query); err != nil {
			return nil, err
		}
		return s.conn.ExecContext(context.Background(), s.text(query), args...)
	case stmt.yields:
		return s.exhaust(ctx, query, args...)
	default:
		return stmt.ExecContext(context.Background(), args...)
	}
}

// exhaust executes a statement whose rows are not needed. The driver would leave a prepared statement at its first row:
// no transaction of the connection could then commit, or release its snapshot.
func (s *statements) exhaust(ctx context.Context, query string, args ...any) (sql.Result, error) {
	rows, err := s.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		continue
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, err
	}
	var r changes
	err = s.QueryRowContext(ctx, "SELECT changes(), last_insert_rowid()").Scan(&r.rows, &r.id)
	return r, err
}

// changes are the result of an INSERT, UPDATE or DELETE.
type changes struct{ rows, id int64 }

func (c changes) RowsAffected() (int64, error) { return c.rows, nil }
func (c changes) LastInsertId() (int64, error) { return c.id, nil }

func (s *statements) QueryContext(_ context.Context, query string, args ...any) (*sql.Rows, error) {
	if stmt := s.prepare(query); stmt.Stmt != nil {
		return stmt.QueryContext(context.Background(), args...)
	}
	if err := single(query); err != nil {
		return nil, err
	}
	return s.conn.QueryContext(context.Background(), s.text(query), args...)
}

func (s *statements) QueryRowContext(_ context.Context, query string, args ...any) *sql.Row {
	if stmt := s.prepare(query); stmt.Stmt != nil {
		return stmt.QueryRowContext(context.Background(), args...)
	}
	if err := single(query); err != nil {
		return jobsql.RefusedRow(err)
	}
	return s.conn.QueryRowContext(context.Background(), s.text(query), args...)
}

func (s *statements) close() error {
	var errs []error
	for _, stmt := range s.prepared {
		errs = append(errs, stmt.Close())
	}
	s.prepared = nil
	return errors.Join(append(errs, s.held.Close())...)
}

// heldRows are rows that have been read already. A *sql.Row comes only from a query, and a query on the connection
// itself would keep its statement open, and the connection from being closed, until somebody scans the row.
type heldRows struct {
	names []string
	rows  [][]any
	err   error
}

type heldRowsKey struct{}

// openHeld makes a database that answers any query with the heldRows of its context.
func openHeld() *sql.DB { return sql.OpenDB(nowhere{}) }

// row is the first of the rows.
func (h *heldRows) row(held *sql.DB) *sql.Row {
	return held.QueryRowContext(context.WithValue(context.Background(), heldRowsKey{}, h), "")
}

// readAll reads the rows and closes them.
func readAll(rows *sql.Rows, err error) *heldRows {
	if err != nil {
		return &heldRows{err: err}
	}
	defer rows.Close()
	h := &heldRows{}
	if h.names, h.err = rows.Columns(); h.err != nil {
		return h
	}
	dest := make([]any, len(h.names))
	for rows.Next() {
		values := make([]any, len(dest))
		for i := range values {
			dest[i] = &values[i]
		}
		if h.err = rows.Scan(dest...); h.err != nil {
			return h
		}
		h.rows = append(h.rows, values)
	}
	h.err = rows.Err()
	return h
}

// Columns implements [sqldriver.Rows].
func (h *heldRows) Columns() []string { return h.names }

// Close implements [sqldriver.Rows].
func (h *heldRows) Close() error { return nil }

// Next implements [sqldriver.Rows].
func (h *heldRows) Next(dest []sqldriver.Value) error {
	if len(h.rows) == 0 {
		return io.EOF
	}
	for i, v := range h.rows[0] {
		dest[i] = v
	}
	h.rows = h.rows[1:]
	return nil
}

// A nowhere is a connection to nothing.
type nowhere struct{}

// QueryContext implements [sqldriver.QueryerContext].
func (nowhere) QueryContext(ctx context.Context, _ string, _ []sqldriver.NamedValue) (sqldriver.Rows, error) {
	h, _ := ctx.Value(heldRowsKey{}).(*heldRows)
	return h, h.err
}

func (nowhere) Connect(context.Context) (sqldriver.Conn, error) { return nowhere{}, nil }
func (nowhere) Driver() sqldriver.Driver                        { return nil }
func (nowhere) Prepare(string) (sqldriver.Stmt, error)          { return nil, sqldriver.ErrSkip }
func (nowhere) Begin() (sqldriver.Tx, error)                    { return nil, sqldriver.ErrSkip }
func (nowhere) Close() error                                    { return nil }
