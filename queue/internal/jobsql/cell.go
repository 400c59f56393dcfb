package jobsql

import (
	"database/sql"
	"encoding/json"
	"time"

	"github.com/postroom-go/postroom/internal/dbtime"
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

// direct reports whether a column can be scanned into its field. JSON cannot: engines read a json.RawMessage in ways of their
// own.
func direct(k kind, field any) bool {
	_, isJSON := field.(*json.RawMessage)
	return k == number || k == text && !isJSON
}

func (r *jobReader) read(row Scanner) error {
	r.job = driver.Job{}
	if err := row.Scan(r.dest...); err != nil {
		return err
	}
	for i := range r.cells {
		if err := r.cells[i].set(); err != nil {
			return err
		}
	}
	return nil
}

// A cell is where a column is read to that its field cannot be scanned into.
type cell struct {
	field any // its address
	text  sql.NullString
	json  []byte
	at    dbtime.Time
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
func (c *cell) set() error {
	switch f := c.field.(type) {
	case *json.RawMessage:
		*f = c.json
	case *time.Time:
		*f = c.at.Time
	default:
		if c.text.Valid {
			return assign(c.field, c.text.String)
		}
	}
	return nil
}

// assign gives a field the text that is stored of it.
func assign(field any, stored string) error {
	switch f := field.(type) {
	case *string:
		*f = stored
	case *driver.KeyScope:
		*f = driver.KeyScope(stored)
	case *json.RawMessage:
		*f = json.RawMessage(stored)
	case *[]string:
		return json.Unmarshal([]byte(stored), f)
	case *time.Time:
		var at dbtime.Time
		err := at.Scan(stored)
		*f = at.Time
		return err
	}
	return nil
}
