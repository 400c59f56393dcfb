//go:build !cgo

package sqlite

import "modernc.org/sqlite"

func watchPrepares(dc any, prepares func()) {
	dc.(sqlite.AuthorizerRegisterer).RegisterAuthorizer(func(sqlite.AuthorizerActionCode, string, string, string,
		string,
	) sqlite.AuthorizerReturnCode {
		prepares()
		return sqlite.AuthorizerOK
	})
}
