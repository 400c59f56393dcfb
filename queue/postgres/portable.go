package postgres

import (
	"strconv"
	"strings"
	"time"
)

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
