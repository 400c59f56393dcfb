package maildb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/queue"
)

// The seconds of the first and the last time that every database keeps.
const (
	FirstInstant int64 = -62135596800 // of the year 1
	LastInstant  int64 = 253402300799 // of the year 9999
)

// Get reads one row; no row is [postroom.ErrNotFound], with what as its name.
func Get(ctx context.Context, q dbquery.Querier, dest any, what, query string, args ...any) error {
	err := dbquery.Get(ctx, q, dest, query, args...)
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("gmail: %s: %w", what, postroom.ErrNotFound)
	}
	if err != nil {
		return fmt.Errorf("gmail: %s: %w", what, err)
	}
	return nil
}

// IgnoreMissing returns nil for a row that is not there, and any other error unchanged.
func IgnoreMissing(err error) error {
	if errors.Is(err, postroom.ErrNotFound) {
		return nil
	}
	return err
}

// Exec runs a statement and returns the number of rows that it changed.
func Exec(ctx context.Context, tx queue.Tx, what, statement string, args ...any) (int64, error) {
	changed, err := dbquery.Exec(ctx, tx, statement, args...)
	if err != nil {
		return 0, fmt.Errorf("gmail: %s: %w", what, err)
	}
	return changed, nil
}

// MustExec is [Exec] for a row that has to be there.
func MustExec(ctx context.Context, tx queue.Tx, what, statement string, args ...any) error {
	changed, err := Exec(ctx, tx, what, statement, args...)
	if err == nil && changed == 0 {
		err = fmt.Errorf("gmail: %s: %w", what, postroom.ErrNotFound)
	}
	return err
}
