//go:build !cgo

package libsqlite

import (
	sqldriver "database/sql/driver"
	"errors"

	"modernc.org/sqlite"
)

const (
	// Path is the import path of the library.
	Path = "modernc.org/sqlite"
	// DriverName is the name under which it registers its driver.
	DriverName = "sqlite"
	// SleepsInGo reports whether SQLite sleeps by package time while it waits for a lock. In a bubble of testing/synctest
	// that moves the clock.
	SleepsInGo = true
)

// Driver returns a driver of the library.
func Driver() sqldriver.Driver { return &sqlite.Driver{} }

// ConnOf returns a connection if it is one of the library itself.
func ConnOf(dc any) (Conn, bool) {
	if _, ok := dc.(sqlite.HookRegisterer); !ok {
		return nil, false
	}
	conn, ok := dc.(Conn)
	return conn, ok
}

// Watch has SQLite ask mayCommit before each commit of a connection, and call rolledBack after each rollback.
func Watch(c Conn, mayCommit func() bool, rolledBack func()) {
	conn, ok := c.(sqlite.HookRegisterer)
	if !ok {
		return
	}
	conn.RegisterCommitHook(func() int32 {
		if mayCommit() {
			return 0
		}
		return 1
	})
	conn.RegisterRollbackHook(rolledBack)
}

// ErrorOf returns the extended code of the error of the library in err, and that error; 0 and nil if there is none.
func ErrorOf(err error) (Code, error) {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return Code(e.Code()), e
	}
	return 0, nil
}
