package sqlite

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"io"
)

// heldRows are rows that have been read already. A *sql.Row comes only from a query, and a query on the connection itself would
// keep its statement open, and the connection from being closed, until somebody scans the row.
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
