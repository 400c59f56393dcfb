package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/postroom-go/postroom/queue"
)

// A table is columns under their names.
type table struct {
	out  io.Writer
	w    *tabwriter.Writer
	rows int
}

func newTable(out io.Writer, columns ...string) *table {
	t := &table{out: out, w: tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)}
	t.line(strings.Join(columns, "\t"))
	return t
}

func (t *table) row(cells ...any) {
	t.rows++
	texts := make([]string, len(cells))
	for i, c := range cells {
		texts[i] = printable(fmt.Sprint(c))
	}
	t.line(strings.Join(texts, "\t"))
}

// line only fills the table's buffer; flush returns the errors.
func (t *table) line(s string) { _, _ = fmt.Fprintln(t.w, strings.TrimRight(s, " ")) }

// flush prints the table or, when it is empty, what is said instead.
func (t *table) flush(empty string) error {
	if t.rows == 0 {
		_, err := fmt.Fprintln(t.out, empty)
		return err
	}
	return t.w.Flush()
}

// fields are names and values, one a line; empty ones are left out.
type fields struct{ w *tabwriter.Writer }

func newFields(w io.Writer) *fields { return &fields{w: tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)} }

func (f *fields) add(name string, value any) {
	text := strings.TrimSpace(fmt.Sprint(value))
	if text == "" {
		return
	}
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			name = ""
		}
		_, _ = fmt.Fprintf(f.w, "%s\t%s\n", name, printable(line))
	}
}

func (f *fields) flush() error { return f.w.Flush() }

// printable keeps what strangers wrote from steering the terminal or hiding in it.
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

// short cuts s to at most n characters.
func short(s string, n int) string {
	runes := []rune(s)
	if len(runes) <= n {
		return s
	}
	return string(runes[:n-1]) + "…"
}

func clock(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04:05")
}

// noJob turns an id that names no job into a fault of what was typed.
func noJob(err error, id, listing string) error {
	if errors.Is(err, queue.ErrJobNotFound) {
		return usage("there is no job %s; '%s' lists them", id, listing)
	}
	return err
}
