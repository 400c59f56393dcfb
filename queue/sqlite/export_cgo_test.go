//go:build cgo

package sqlite

import "github.com/mattn/go-sqlite3"

func watchPrepares(dc any, prepares func()) {
	dc.(*sqlite3.SQLiteConn).RegisterAuthorizer(func(int, string, string, string) int {
		prepares()
		return sqlite3.SQLITE_OK
	})
}
