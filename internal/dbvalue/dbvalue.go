// Package dbvalue converts values to a form that every database can store.
package dbvalue

import (
	"strings"
	"unicode/utf8"
)

// Clean returns s in a form that every database can store: PostgreSQL refuses NUL characters and invalid UTF-8. Each
// NUL and each invalid byte becomes U+FFFD, so that a reader sees that something was there.
func Clean(s string) string {
	if utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 {
		return s
	}
	return strings.Map(func(r rune) rune { // invalid bytes become U+FFFD, one by one
		if r == 0 {
			return utf8.RuneError
		}
		return r
	}, s)
}

// Number returns a boolean for an INTEGER column: 1 for true, 0 for false.
func Number(b bool) int {
	if b {
		return 1
	}
	return 0
}
