// Package dbquery reads rows into structs by their db tags, from a pool or within a transaction of any library.
package dbquery

import (
	"context"
	"database/sql"
	"errors"
	"reflect"

	"github.com/jmoiron/sqlx"
	"github.com/jmoiron/sqlx/reflectx"
)

// A Querier runs queries: a *sqlx.DB, a *sql.Tx, a queue.Tx.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// An Execer runs statements: a *sqlx.DB, a *sql.Tx, a queue.Tx.
type Execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// Exec runs a statement and returns the number of rows that it changed.
func Exec(ctx context.Context, e Execer, statement string, args ...any) (changed int64, err error) {
	result, err := e.ExecContext(ctx, statement, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// Select reads all rows into the slice that dest points to: of structs, by their db tags, or of values of one column.
func Select(ctx context.Context, q Querier, dest any, query string, args ...any) error {
	return sqlx.SelectContext(ctx, queryer{q}, dest, query, args...)
}

// Get reads the first row into what dest points to. Without one the error is [sql.ErrNoRows].
func Get(ctx context.Context, q Querier, dest any, query string, args ...any) error {
	one := reflect.ValueOf(dest)
	if one.Kind() != reflect.Pointer || one.IsNil() {
		return errors.New("dbquery: Get needs a pointer")
	}
	rows := reflect.New(reflect.SliceOf(one.Type().Elem()))
	if err := Select(ctx, q, rows.Interface(), query, args...); err != nil {
		return err
	}
	if rows.Elem().Len() == 0 {
		return sql.ErrNoRows
	}
	one.Elem().Set(rows.Elem().Index(0))
	return nil
}

var mapper = reflectx.NewMapperFunc("db", sqlx.NameMapper)

// queryer is what sqlx asks for.
type queryer struct{ Querier }

func (q queryer) QueryxContext(ctx context.Context, query string, args ...any) (*sqlx.Rows, error) {
	rows, err := q.QueryContext(ctx, query, args...) //nolint:rowserrcheck // sqlx does
	if err != nil {
		return nil, err
	}
	return &sqlx.Rows{Rows: rows, Mapper: mapper}, nil
}

// QueryRowxContext is there because sqlx wants it; Select does not call it.
func (q queryer) QueryRowxContext(context.Context, string, ...any) *sqlx.Row { return &sqlx.Row{} }
