// Package libsqlite is the SQLite that package sqlite uses: with cgo the C library, in github.com/mattn/go-sqlite3, and
// without it the same C code translated to Go, in modernc.org/sqlite. Both take the same options in a DSN.
package libsqlite

import sqldriver "database/sql/driver"

// A Conn is a connection of the library.
type Conn interface {
	sqldriver.Conn
	sqldriver.QueryerContext
	sqldriver.ExecerContext
	sqldriver.ConnPrepareContext
	sqldriver.ConnBeginTx
	sqldriver.Pinger
}

// A Code is a result code of SQLite (https://sqlite.org/rescode.html).
type Code int

// The codes that package sqlite looks for.
const (
	General    Code = 1 // SQLITE_ERROR, as of a statement that names no table
	Busy       Code = 5
	Locked     Code = 6
	ReadOnly   Code = 8
	IOError    Code = 10
	Corrupt    Code = 11
	Full       Code = 13
	CommitHook Code = 531 // SQLITE_CONSTRAINT_COMMITHOOK
)

// Primary returns the primary code of an extended one.
func (c Code) Primary() Code { return c & 0xff }
