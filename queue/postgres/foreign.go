package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/postroom-go/postroom/queue/driver"
)

// A foreignTx is a transaction that the program has begun with database/sql, or with what has its methods. What kind of database it
// is one of shows when a statement fails: until then nobody pays for the question.
type foreignTx struct{ driver.Tx }

func (t foreignTx) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	result, err := t.Tx.ExecContext(ctx, query, args...)
	return result, t.explain(ctx, err)
}

func (t foreignTx) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	rows, err := t.Tx.QueryContext(ctx, query, args...)
	return rows, t.explain(ctx, err)
}

// explain returns another error in place of one that comes of a transaction of SQLite.
func (t foreignTx) explain(ctx context.Context, err error) error {
	var version string
	if err == nil || errors.As(err, new(stated)) || t.QueryRowContext(ctx, "SELECT sqlite_version()").Scan(&version) != nil {
		return err
	}
	return fmt.Errorf("%w; it is one of SQLite, the queue is on PostgreSQL", driver.ErrOtherEngine)
}

// A stated error has one of the codes of the SQL standard: a server has answered, and it is none of SQLite.
type stated interface {
	error
	SQLState() string
}
