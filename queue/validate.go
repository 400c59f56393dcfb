package queue

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/postroom-go/postroom/queue/driver"
)

const (
	defaultMaxAttempts = 5
	maxMaxAttempts     = 1000
	maxNameLength      = 200
	maxKeyLength       = 1000
	maxTags            = 20
	maxTagLength       = 100
	defaultMaxPayload  = 1 << 20
	maxMaxPayload      = 64 << 20 // PostgreSQL takes 1 GiB in a statement, SQLite 1 GB in a value
)

// lastInstant is the last instant that is stored in a fixed width; the first is the zero time.
var lastInstant = time.Date(9999, time.December, 31, 23, 59, 59, 0, time.UTC)

func validTime(kind error, field string, t time.Time) error {
	if t.Before(time.Time{}) || t.After(lastInstant) {
		return fmt.Errorf("%w: %s is %v; it must be within the years 1 and 9999", kind, field, t)
	}
	return nil
}

// validContext refuses a nil context. Package database/sql panics on one, some of its calls with the pool's lock held:
// whoever recovered from that would wait for ever at the next call.
func validContext(ctx context.Context) error {
	if ctx == nil {
		return driver.ErrNilContext
	}
	return nil
}

func validMaxPayload(bytes int) error {
	if bytes < 1 || bytes > maxMaxPayload {
		return fmt.Errorf("MaxPayload is %d; it must be within 1 and %d", bytes, maxMaxPayload)
	}
	return nil
}

// validText reports whether every database takes s as text, and s is no longer than a name should be.
func validText(field, s string, limit int) error { return validTextOf(ErrInvalidJob, field, s, limit) }

func validTextOf(kind error, field, s string, limit int) error {
	switch {
	case len(s) > limit:
		return fmt.Errorf("%w: %s has %d bytes; at most %d are allowed", kind, field, len(s), limit)
	case !isText(s):
		return noText(kind, field, s)
	}
	return nil
}

// isText reports whether every database takes s as text.
func isText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

func noText(kind error, field, s string) error {
	return fmt.Errorf("%w: %s %q holds bytes that are no text", kind, field, s)
}

// lookup returns the id or name to query. Invalid UTF-8 matches no row, and neither does the empty string.
func lookup(id string) string {
	if isText(id) {
		return id
	}
	return ""
}

func validTypes(types []string) error {
	for _, name := range types {
		if name == "" || validText("Types", name, maxNameLength) != nil {
			return fmt.Errorf("one of Types is %q; a type is a text of 1 to %d bytes", name, maxNameLength)
		}
	}
	return nil
}
