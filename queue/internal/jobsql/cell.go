package jobsql

import (
	"database/sql"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
)

// A jobReader reads the columns of one row after the other into its job.
type jobReader struct {
	job   driver.Job
	cells []cell
	dest  []any // of a row, in the order of the columns
}

// add has the columns read, too. It is called once.
func (r *jobReader) add(columns []column) {
	cells := 0
	for _, c := range columns {
		if !direct(c.kind, c.field(&r.job)) {
			cells++
		}
	}
	r.cells = make([]cell, 0, cells) // their addresses are kept
	for _, c := range columns {
		field := c.field(&r.job)
		if direct(c.kind, field) {
			r.dest = append(r.dest, field)
			continue
		}
		r.cells = append(r.cells, cell{field: field})
		r.dest = append(r.dest, r.cells[len(r.cells)-1].dest())
	}
}

// direct reports whether a column can be scanned into its field. JSON cannot: engines read a json.RawMessage in ways of
// their own.
func direct(k kind, field any) bool {
	_, isJSON := field.(*json.RawMessage)
	return k == number || k == text && !isJSON
}

func (r *jobReader) read(row Scanner) error {
	r.job = driver.Job{}
	err := row.Scan(r.dest...)
	if rows, ok := row.(*sql.Rows); ok && err != nil {
		err = rows.Scan(tolerant(r.dest)...)
	}
	if err != nil {
		return err
	}
	for i := range r.cells {
		r.cells[i].set()
	}
	return nil
}

// tolerant scans numbers as [integer] does.
func tolerant(dest []any) []any {
	dest = slices.Clone(dest)
	for i := range dest {
		if n, ok := dest[i].(*int); ok {
			dest[i] = (*integer)(n)
		}
	}
	return dest
}

// A cell is where a column is read to that its field cannot be scanned into.
type cell struct {
	field any // its address
	text  sql.NullString
	json  []byte
	at    Instant
}

func (c *cell) dest() any {
	switch c.field.(type) {
	case *json.RawMessage:
		return &c.json
	case *time.Time:
		return &c.at
	default:
		return &c.text
	}
}

// set gives the field what has been read.
func (c *cell) set() {
	switch f := c.field.(type) {
	case *json.RawMessage:
		*f = c.json
	case *time.Time:
		*f = c.at.Time
	default:
		if c.text.Valid {
			assign(c.field, c.text.String)
		}
	}
}

// assign gives a field the text that is stored of it.
func assign(field any, stored string) {
	switch f := field.(type) {
	case *string:
		*f = stored
	case *driver.KeyScope:
		*f = driver.KeyScope(stored)
	case *json.RawMessage:
		*f = json.RawMessage(stored)
	case *[]string:
		if json.Unmarshal([]byte(stored), f) != nil {
			*f = nil // like an invalid [Instant]
		}
	case *time.Duration:
		*f, _ = time.ParseDuration(stored) // like an invalid [Instant]
	case *bool:
		*f = stored == trueText(true)
	case *int:
		*f, _ = strconv.Atoi(stored) // as well
	case *time.Time:
		var at Instant
		_ = at.Scan(stored) // never fails
		*f = at.Time
	}
}
