package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/term"
	"golang.org/x/text/width"

	"github.com/postroom-go/postroom/queue"
)

// A table has named columns. If it is wider than the terminal, it has a block for each row.
type table struct {
	out     io.Writer
	width   int // of the terminal; 0: none
	columns []string
	rows    [][]string
}

func newTable(out io.Writer, columns ...string) *table {
	return &table{out: out, width: terminalWidth(out), columns: columns}
}

// terminalWidth returns 0 for an output that is not a terminal.
func terminalWidth(out io.Writer) int {
	file, ok := out.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return 0
	}
	return width
}

func (t *table) row(cells ...any) {
	texts := make([]string, len(cells))
	for i, c := range cells {
		texts[i] = printable(fmt.Sprint(c))
	}
	t.rows = append(t.rows, texts)
}

// flush prints the table, or the text for an empty one.
func (t *table) flush(empty string) error {
	if len(t.rows) == 0 {
		_, err := io.WriteString(t.out, wrapLines(empty+"\n", t.width))
		return err
	}
	text := t.lines()
	if t.width > 0 && widest(text) > t.width {
		text = t.blocks()
	}
	_, err := io.WriteString(t.out, text)
	return err
}

// lines is the table as columns.
func (t *table) lines() string {
	rows := slices.Insert(slices.Clone(t.rows), 0, t.columns)
	widths := make([]int, len(t.columns))
	for _, row := range rows {
		for c, value := range row {
			widths[c] = max(widths[c], columns(value))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		cells := slices.Clone(row)
		for c, value := range row {
			cells[c] = padded(value, widths[c])
		}
		b.WriteString(strings.TrimRight(strings.Join(cells, "  "), " ") + "\n")
	}
	return b.String()
}

// blocks is each row as lines of names and values, wrapped to the terminal. The first value of a row is its name, such as an id, which
// people copy: it is never broken.
func (t *table) blocks() string {
	name := 0
	for _, c := range t.columns {
		name = max(name, columns(c))
	}
	var b strings.Builder
	for i, row := range t.rows {
		if i > 0 {
			b.WriteByte('\n')
		}
		for c, value := range row {
			if value == "" {
				continue
			}
			block(&b, strings.ToLower(t.columns[c]), value, name+2, t.width, c == 0)
		}
	}
	return b.String()
}

func longestWord(text string) int {
	longest := 0
	for word := range strings.FieldsSeq(text) {
		longest = max(longest, columns(word))
	}
	return longest
}

func widest(text string) int {
	most := 0
	for line := range strings.Lines(text) {
		most = max(most, columns(strings.TrimRight(line, "\n")))
	}
	return most
}

// columns is how many columns of a terminal the text takes.
func columns(text string) int {
	n := 0
	for _, r := range text {
		n += columnsOf(r)
	}
	return n
}

// columnsOf returns 2 for wide characters, such as those of East Asia, and 0 for accents that are set above the one before.
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

// fit splits text after as many characters as fit into n columns, and at least one.
func fit(text string, n int) (head, rest string) {
	for i, r := range text {
		if n -= columnsOf(r); n < 0 && i > 0 {
			return text[:i], text[i:]
		}
	}
	return text, ""
}

// printable keeps untrusted text from controlling the terminal or hiding in it.
func printable(s string) string {
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

// printableLines is printable for text of several lines.
func printableLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = printable(line)
	}
	return strings.Join(lines, "\n")
}

// short cuts s to at most n columns.
func short(s string, n int) string {
	if columns(s) <= n {
		return s
	}
	head, _ := fit(s, n-1)
	return head + "…"
}

// count is a number and what it counts, in the words for one or for any other number.
func count[N int | int64](n N, one, many string) string {
	if n == 1 {
		many = one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// unless returns text if cond is false.
func unless(cond bool, text string) string {
	if cond {
		return ""
	}
	return text
}

func clock(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04:05")
}

// noJob converts the error for an unknown job id into a usage error.
func noJob(err error, id, listing string) error {
	if errors.Is(err, queue.ErrJobNotFound) {
		return usage("there is no job %s; '%s' lists them", id, listing)
	}
	return err
}
