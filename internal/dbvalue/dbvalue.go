// Package dbvalue makes values storable in every database.
package dbvalue

import (
	"strings"
	"unicode/utf8"
)

// Clean returns s as every database keeps it: PostgreSQL refuses NUL characters and invalid UTF-8. Each NUL and each
// invalid byte becomes U+FFFD, so that a reader sees that something stood there.
func Clean(s string) string {
	if utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 {
		return s
	}
	return strings.Map(func(r rune) rune { // which gives invalid bytes as U+FFFD, one by one
		if r == 0 {
			return utf8.RuneError
		}
		return r
	}, s)
}

// Number returns the form of a boolean in an INTEGER column: 1 for true, 0 for false.
func Number(b bool) int {
	if b {
		return 1
	}
	return 0
}
