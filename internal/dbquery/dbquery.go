// Package dbquery reads rows into structs by their db tags, from a pool or within a transaction of any library.
package dbquery

import (
	"context"
	"database/sql"
	"errors"
	"reflect"
	"slices"

	"github.com/postroom-go/postroom/internal/dbvalue"
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

// storable returns the arguments with their texts in a form that every database accepts; see [dbvalue.Clean].
// PostgreSQL otherwise fails the statement, even one that only searches for such a text.
func storable(args []any) []any {
	copied := false
	for i, arg := range args {
		text, ok := arg.(string)
		if !ok {
			continue
		}
		if cleaned := dbvalue.Clean(text); cleaned != text {
			if !copied {
				args, copied = slices.Clone(args), true
			}
			args[i] = cleaned
		}
	}
	return args
}

// Exec runs a statement and returns the number of rows that it changed.
func Exec(ctx context.Context, e Execer, statement string, args ...any) (changed int64, err error) {
	result, err := e.ExecContext(ctx, statement, storable(args)...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// Select reads all rows into the slice that dest points to. Its elements are structs with db tags, or values of one
// column.
func Select(ctx context.Context, q Querier, dest any, query string, args ...any) error {
	all := reflect.ValueOf(dest)
	if all.Kind() != reflect.Pointer || all.IsNil() || all.Elem().Kind() != reflect.Slice {
		return errors.New("dbquery: Select needs a pointer to a slice")
	}
	rows, err := q.QueryContext(ctx, query, storable(args)...)
	if err != nil {
		return err
	}
	list := all.Elem()
	list.SetLen(0)
	return each(rows, list.Type().Elem(), func(r *reading) error {
		n := list.Len()
		list.Grow(1)
		list.SetLen(n + 1)
		list.Index(n).SetZero()
		return r.scan(list.Index(n))
	})
}

// Get reads the first row into the value that dest points to. The error is [sql.ErrNoRows] if there is none.
func Get(ctx context.Context, q Querier, dest any, query string, args ...any) error {
	one := reflect.ValueOf(dest)
	if one.Kind() != reflect.Pointer || one.IsNil() {
		return errors.New("dbquery: Get needs a pointer")
	}
	rows, err := q.QueryContext(ctx, query, storable(args)...)
	if err != nil {
		return err
	}
	found := false
	err = each(rows, one.Type().Elem(), func(r *reading) error {
		if found {
			return nil
		}
		found = true
		one.Elem().SetZero()
		return r.scan(one.Elem())
	})
	if err == nil && !found {
		err = sql.ErrNoRows
	}
	return err
}
