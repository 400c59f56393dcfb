package postgres

import (
	"context"
	"database/sql"
	"strconv"
	"strings"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// Stats implements [driver.Inspector].
func (db *engine) Stats(ctx context.Context, query driver.StatsQuery) (*driver.Stats, error) {
	workers, err := db.Workers(ctx)
	if err != nil {
		return nil, err
	}
	conn, err := await(ctx, db, db.db.Connx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	// One snapshot, so that the figures belong together.
	tx, err := conn.BeginTxx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer tx.Rollback() //nolint:errcheck // it has only read
	if _, err := tx.ExecContext(ctx, planOurs); err != nil {
		return nil, err
	}
	return jobsql.ReadStats(ctx, db.names.Reader(tx), driver.Postgres, query, workers)
}

// read runs a query outside of transactions.
func read[T any](
	ctx context.Context, db *engine, scan func(jobsql.Scanner) (T, error), query string, args ...any,
) ([]T, error) {
	answer, err := db.query(ctx, query, args...)
	return jobsql.Collect(answer, err, scan)
}

// portable converts lists to text: a driver of database/sql need not support arrays, and every one sends text.
func portable(args []any) []any {
	out := make([]any, len(args))
	for i, arg := range args {
		switch list := arg.(type) {
		case []string:
			out[i] = array(list, quote)
		case []*string:
			out[i] = array(list, orNull(quote))
		case []int:
			out[i] = array(list, strconv.Itoa)
		case []bool:
			out[i] = array(list, strconv.FormatBool)
		case []time.Time:
			out[i] = array(list, instant)
		case []*time.Time:
			out[i] = array(list, orNull(instant))
		default:
			out[i] = arg
		}
	}
	return out
}

// array formats a list for PostgreSQL: https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO.
func array[T any](list []T, text func(T) string) string {
	var b strings.Builder
	b.WriteByte('{')
	for i := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(text(list[i]))
	}
	b.WriteByte('}')
	return b.String()
}

var escaped = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

func quote(s string) string { return `"` + escaped.Replace(s) + `"` }

func instant(t time.Time) string { return quote(t.Format(time.RFC3339Nano)) }

func orNull[T any](text func(T) string) func(*T) string {
	return func(v *T) string {
		if v == nil {
			return "NULL"
		}
		return text(*v)
	}
}
