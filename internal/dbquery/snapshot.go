package dbquery

import (
	"context"
	"database/sql"
	"errors"

	"github.com/jmoiron/sqlx"
)

// A Tx is a queue.Tx.
type Tx interface {
	Querier
	Execer
}

// Snapshot runs fn on one state of the database: later commits are not visible. fn must not write.
func Snapshot(ctx context.Context, db *sqlx.DB, fn func(tx Tx) error) error {
	tx, err := db.BeginTxx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return err
	}
	return errors.Join(fn(tx), tx.Rollback())
}
