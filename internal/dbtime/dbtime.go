// Package dbtime stores instants in UTC, to the microsecond: as text of fixed width on SQLite, so that text order is
// time order, and as timestamptz on PostgreSQL, which reads the same text.
package dbtime

import (
	"database/sql/driver"
	"fmt"
	"time"
)

// Layout has a fixed width; ISO 8601, always UTC.
const Layout = "2006-01-02T15:04:05.000000Z"

// Time is a time.Time as a column; the zero time is NULL.
type Time struct{ time.Time }

// Of wraps t for a statement's argument.
func Of(t time.Time) Time { return Time{t} }

// Format formats t in the stored form.
func Format(t time.Time) string {
	t = t.UTC()
	year, month, day := t.Date()
	if year < 0 || year > 9999 {
		return t.Format(Layout)
	}
	// Several times are formatted for a row: this takes a third of the time of a layout.
	hour, minute, second := t.Clock()
	text := [len(Layout)]byte([]byte(Layout))
	for _, field := range [...]struct{ end, value int }{
		{4, year}, {7, int(month)}, {10, day}, {13, hour}, {16, minute}, {19, second}, {26, t.Nanosecond() / 1000},
	} {
		for at, left := field.end-1, field.value; at >= 0 && text[at] >= '0' && text[at] <= '9'; at, left = at-1, left/10 {
			text[at] = byte('0' + left%10)
		}
	}
	return string(text[:])
}

// Truncate truncates t to the precision of the database, in UTC and without a monotonic reading.
func Truncate(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// Value implements driver.Valuer.
func (t Time) Value() (driver.Value, error) {
	switch {
	case t.IsZero():
		return nil, nil
	case t.Before(first):
		return Format(first), nil
	case t.After(last):
		return Format(last), nil
	}
	return Format(t.Time), nil
}

// The bounds of a column: other years do not fit the width, and PostgreSQL has no year 0. A time beyond them is
// stored as the bound, so that it still sorts before or after all others.
var first, last = time.UnixMicro(-62135596800_000_000 + 1).UTC(), time.UnixMicro(253402300799_999_999).UTC()

// Scan implements sql.Scanner for text and for timestamps.
func (t *Time) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		t.Time = time.Time{}
	case time.Time:
		t.Time = v.UTC()
	case string:
		return t.parse(v)
	case []byte:
		return t.parse(string(v))
	default:
		return fmt.Errorf("dbtime: cannot read a time from %T", src)
	}
	return nil
}

func (t *Time) parse(s string) error {
	parsed, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return fmt.Errorf("dbtime: %q is no stored time: %w", s, err)
	}
	t.Time = parsed.UTC()
	return nil
}
