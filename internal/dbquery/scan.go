package dbquery

import (
	"cmp"
	"database/sql"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/jmoiron/sqlx"
	"github.com/jmoiron/sqlx/reflectx"
)

var (
	mapper  = reflectx.NewMapperFunc("db", sqlx.NameMapper)
	scanner = reflect.TypeFor[sql.Scanner]()

	// layouts are the known []*layout of each type.
	layouts sync.Map
)

// A layout maps the columns of a query to the fields of a type. Computing it takes longer than reading a row.
type layout struct {
	columns []string
	fields  [][]int // nil: the value is the one column
}

// layoutOf returns the layout for the columns and the type.
func layoutOf(t reflect.Type, columns []string) (*layout, error) {
	known, _ := layouts.Load(t)
	all, _ := known.([]*layout)
	for _, l := range all {
		if slices.Equal(l.columns, columns) {
			return l, nil
		}
	}
	l, err := newLayout(t, columns)
	if err == nil {
		// a layout that another goroutine has stored meanwhile is computed again
		layouts.Store(t, append(slices.Clip(all), l))
	}
	return l, err
}

func newLayout(t reflect.Type, columns []string) (*layout, error) {
	if t.Kind() != reflect.Struct || reflect.PointerTo(t).Implements(scanner) || len(mapper.TypeMap(t).Index) == 0 {
		if len(columns) != 1 {
			return nil, fmt.Errorf("dbquery: %d columns for a %v, which is one", len(columns), t)
		}
		return &layout{columns: columns}, nil
	}
	fields := mapper.TraversalsByName(t, columns)
	for i, field := range fields {
		if len(field) == 0 {
			return nil, fmt.Errorf("dbquery: %v has no field for the column %s", t, columns[i])
		}
	}
	return &layout{columns: columns, fields: fields}, nil
}

// A reading reads the rows of a query.
type reading struct {
	*layout
	rows  *sql.Rows
	cells []any
}

func newReading(rows *sql.Rows, t reflect.Type) (*reading, error) {
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	l, err := layoutOf(t, columns)
	if err != nil {
		return nil, err
	}
	return &reading{layout: l, rows: rows, cells: make([]any, len(columns))}, nil
}

// scan reads the current row into the value.
func (r *reading) scan(v reflect.Value) error {
	if r.fields == nil {
		return r.rows.Scan(v.Addr().Interface())
	}
	for i, field := range r.fields {
		r.cells[i] = reflectx.FieldByIndexes(v, field).Addr().Interface()
	}
	return r.rows.Scan(r.cells...)
}

// each calls fn with each row. It reads the rows to their end even if fn needs only the first: a statement that
// writes may not have written all before.
func each(rows *sql.Rows, t reflect.Type, fn func(*reading) error) (err error) {
	defer func() { err = cmp.Or(err, rows.Close()) }()
	r, err := newReading(rows, t)
	if err != nil {
		return err
	}
	for rows.Next() {
		if err := fn(r); err != nil {
			return err
		}
	}
	return rows.Err()
}
