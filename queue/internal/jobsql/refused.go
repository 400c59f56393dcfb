package jobsql

import (
	"context"
	"database/sql"
	"database/sql/driver"
)

// RefusedRow returns a row that carries the error, which only a query makes.
func RefusedRow(err error) *sql.Row {
	db := sql.OpenDB(refusing{err})
	defer func() { _ = db.Close() }() // it has no connection
	return db.QueryRowContext(context.Background(), "")
}

// refusing connects to nothing.
type refusing struct{ err error }

func (r refusing) Connect(context.Context) (driver.Conn, error) { return nil, r.err }
func (r refusing) Driver() driver.Driver                        { return nil }
