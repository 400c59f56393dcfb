package sqlite

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/postroom-go/postroom/internal/dbtime"
)

// jsonRows is an array of rows as one argument of a statement, which json_each splits: binding it costs one call into C
// instead of one for each field.
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

// list is a list of values as a statement's argument, read there with json_each.
func list[V ~string | int64](values []V) string {
	if len(values) == 0 {
		return "[]"
	}
	b, err := json.Marshal(values)
	if err != nil {
		panic(err) // such values always marshal
	}
	return string(b)
}

// maxRows is how many rows one statement takes at most: enough to share its cost, few enough to bind.
const maxRows = 32

// valueStatements are a statement for each number of rows of values from 1 to [maxRows]. A row has so many parameters,
// of which it is told the first.
func valueStatements(
	head, tail string, first int, row func(first int) string, parameters int,
) (texts [maxRows + 1]string) {
	var values strings.Builder
	for n := 1; n <= maxRows; n++ {
		if n > 1 {
			values.WriteString(", ")
		}
		values.WriteString(row(first + (n-1)*parameters))
		texts[n] = head + values.String() + tail
	}
	return texts
}
