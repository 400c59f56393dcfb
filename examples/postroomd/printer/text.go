package printer

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/width"
)

// columns is how many columns of a terminal the text takes.
func columns(text string) int {
	n := 0
	for _, r := range text {
		n += columnsOf(r)
	}
	return n
}

// columnsOf returns 2 for wide characters, such as those of East Asia, and 0 for accents that are set above the one
// before.
func columnsOf(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	default:
		return 1
	}
}

func padded(text string, n int) string { return text + strings.Repeat(" ", max(n-columns(text), 0)) }

// Printable keeps untrusted text from controlling the terminal or hiding in it.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, s)
}

// PrintableLines is printable for text of several lines.
func PrintableLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = Printable(line)
	}
	return strings.Join(lines, "\n")
}

// Short cuts s to at most n columns.
func Short(s string, n int) string {
	if columns(s) <= n {
		return s
	}
	head, _ := fit(s, n-1)
	return head + "…"
}

// Count is a number and what it counts, in the words for one or for any other number.
func Count[N int | int64](n N, one, many string) string {
	if n == 1 {
		many = one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Unless returns text if cond is false.
func Unless(cond bool, text string) string {
	if cond {
		return ""
	}
	return text
}

// shownOfID is how much of an id is shown in lists: its random end, which is as good as unique.
const shownOfID = 8

// ShortID is the end of an id of ours, which commands take in its place. Other ids are left as they are.
func ShortID(id string) string {
	if len(id) != 36 || strings.Count(id, "-") != 4 {
		return id
	}
	return id[len(id)-shownOfID:]
}

// Minute is a time of this machine's zone to the minute, for tables; empty for the zero time.
func Minute(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04")
}

// Clock is a time of this machine's zone; empty for the zero time.
func Clock(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04:05")
}
