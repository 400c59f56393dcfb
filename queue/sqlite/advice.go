package sqlite

import (
	"errors"
	"fmt"

	"github.com/mattn/go-sqlite3"
)

// advice is an error that a person has to resolve, although the program retries. Nothing of the transaction was written.
var advice = map[sqlite3.ErrNo]string{
	sqlite3.ErrFull:     "make room on its disk",
	sqlite3.ErrReadonly: "let this program write the file and its folder",
	sqlite3.ErrIoErr:    "see what its disk and the system's log say",
	sqlite3.ErrCorrupt:  "stop all programs, keep a copy, and restore a backup or use the recover command of SQLite's shell",
}

// advise adds a hint to an error that a person has to resolve.
func advise(err error, what string) error {
	var e sqlite3.Error
	if !errors.As(err, &e) || advice[e.Code] == "" {
		return err
	}
	return fmt.Errorf("%w (%s: %s)", err, what, advice[e.Code])
}
