//go:build cgo

package libsqlite

import (
	sqldriver "database/sql/driver"
	"errors"

	"github.com/mattn/go-sqlite3"
)

const (
	// Path is the import path of the library.
	Path = "github.com/mattn/go-sqlite3"
	// DriverName is the name under which it registers its driver.
	DriverName = "sqlite3"
	// SleepsInGo reports whether SQLite sleeps by package time while it waits for a lock. In a bubble of testing/synctest
	// that moves the clock.
	SleepsInGo = false
)

// Driver returns the library's driver.
func Driver() sqldriver.Driver { return &sqlite3.SQLiteDriver{} }

// ConnOf returns a connection if it is one of the library itself.
func ConnOf(dc any) (Conn, bool) {
	conn, ok := dc.(*sqlite3.SQLiteConn)
	return conn, ok
}

// Watch has SQLite ask mayCommit before each commit of a connection, and call rolledBack after each rollback.
func Watch(c Conn, mayCommit func() bool, rolledBack func()) {
	conn, ok := c.(*sqlite3.SQLiteConn)
	if !ok {
		return
	}
	conn.RegisterCommitHook(func() int {
		if mayCommit() {
			return 0
		}
		return 1
	})
	conn.RegisterRollbackHook(rolledBack)
}

// ErrorOf returns the extended code of the error of the library in err, and that error; 0 and nil if there is none.
func ErrorOf(err error) (Code, error) {
	var e sqlite3.Error
	if !errors.As(err, &e) {
		return 0, nil
	}
	return max(Code(e.ExtendedCode), Code(e.Code)), e
}
