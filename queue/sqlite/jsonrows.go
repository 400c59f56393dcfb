package sqlite

import (
	"strconv"
	"time"

	"github.com/postroom-go/postroom/internal/dbtime"
)

// jsonRows is an array of rows as one argument of a statement, which json_each splits: binding it costs one call into C instead
// of one for each field.
type jsonRows struct {
	buf   []byte
	field bool
}

func (r *jsonRows) begin() {
	if len(r.buf) == 0 {
		r.buf = append(r.buf, "[["...)
	} else {
		r.buf = append(r.buf, "],["...)
	}
	r.field = false
}

func (r *jsonRows) empty() bool { return len(r.buf) == 0 }

// pair is a row of two texts.
func (r *jsonRows) pair(a, b string) {
	r.begin()
	r.text(a)
	r.text(b)
}

func (r *jsonRows) end() string {
	if len(r.buf) == 0 {
		return "[]"
	}
	return string(append(r.buf, "]]"...))
}

func (r *jsonRows) next() {
	if r.field {
		r.buf = append(r.buf, ',')
	}
	r.field = true
}

func (r *jsonRows) int(n int) {
	r.next()
	r.buf = strconv.AppendInt(r.buf, int64(n), 10)
}

// text is null for the empty string.
func (r *jsonRows) text(s string) {
	r.next()
	switch {
	case s == "":
		r.buf = append(r.buf, "null"...)
	case plain(s):
		r.buf = append(r.buf, '"')
		r.buf = append(r.buf, s...)
		r.buf = append(r.buf, '"')
	default:
		one := list([]string{s})
		r.buf = append(r.buf, one[1:len(one)-1]...)
	}
}

// time is null for the zero time.
func (r *jsonRows) time(t time.Time) {
	r.next()
	if t.IsZero() {
		r.buf = append(r.buf, "null"...)
		return
	}
	r.buf = append(r.buf, '"')
	r.buf = t.UTC().AppendFormat(r.buf, dbtime.Layout)
	r.buf = append(r.buf, '"')
}

// plain reports whether s needs no escapes.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
