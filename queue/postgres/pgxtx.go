package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// Tx adapts a transaction of pgx to the calls of the queue that take a transaction. The program begins and ends it as usual:
//
//	q.EnqueueTx(ctx, postgres.Tx(tx), job)
//
// For a nil tx it returns a nil Tx, which those calls refuse.
func Tx(tx pgx.Tx) driver.Tx {
	if tx == nil {
		return nil
	}
	return pgxTx{tx}
}

// A pgxTx has the methods of database/sql. The driver's own statements use pgx below them. Two of the same pgx.Tx are equal.
type pgxTx struct{ tx pgx.Tx }

var _ driver.Tx = pgxTx{}

// affected is the number of rows that a statement has changed.
type affected int64

func (a affected) RowsAffected() (int64, error) { return int64(a), nil }
func (a affected) LastInsertId() (int64, error) {
	return 0, errors.New("postgres: there is no last insert id; use RETURNING")
}

func (t pgxTx) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if err := t.ended(); err != nil {
		return nil, err
	}
	tag, err := t.tx.Exec(ctx, query, args...)
	return affected(tag.RowsAffected()), finished(err)
}

func (t pgxTx) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	db := sql.OpenDB(bridge{t})
	defer func() { _ = db.Close() }() // what it has given out goes on without it
	return db.QueryContext(ctx, query, args...)
}

func (t pgxTx) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	db := sql.OpenDB(bridge{t})
	defer func() { _ = db.Close() }() // what it has given out goes on without it
	return db.QueryRowContext(ctx, query, args...)
}

// query is for the driver's own statements.
func (t pgxTx) query(ctx context.Context, query string, args ...any) (jobsql.Rows, error) {
	if err := t.ended(); err != nil {
		return nil, err
	}
	answer, err := t.tx.Query(ctx, query, args...)
	return rows{answer}, finished(err)
}

// ended refuses a transaction that a statement of the program has ended, such as COMMIT: pgx does not notice that, and later
// writes would commit by themselves.
func (t pgxTx) ended() error {
	if conn := t.tx.Conn(); conn != nil && !conn.IsClosed() && gone(conn) {
		return sql.ErrTxDone
	}
	return nil
}

// finished converts pgx's error to that of database/sql.
func finished(err error) error {
	if errors.Is(err, pgx.ErrTxClosed) {
		return fmt.Errorf("%w: %w", sql.ErrTxDone, err)
	}
	return err
}

// queryTx runs a statement of the driver's own in a transaction of the program's.
func queryTx(ctx context.Context, tx *driver.WriteTx, query string, args ...any) (jobsql.Rows, error) {
	if own, ok := tx.Tx.(pgxTx); ok {
		return own.query(ctx, query, args...)
	}
	return tx.QueryContext(ctx, query, portable(args)...)
}
