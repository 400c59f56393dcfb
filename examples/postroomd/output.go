package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"

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
		_, err := fmt.Fprintln(t.out, empty)
		return err
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range slices.Insert(slices.Clone(t.rows), 0, t.columns) {
		_, _ = fmt.Fprintln(w, strings.TrimRight(strings.Join(row, "\t"), " "))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if t.width > 0 && widest(b.String()) > t.width {
		return t.blocks()
	}
	_, err := io.WriteString(t.out, b.String())
	return err
}

func widest(text string) int {
	most := 0
	for line := range strings.Lines(text) {
		most = max(most, utf8.RuneCountInString(strings.TrimRight(line, "\n")))
	}
	return most
}

// blocks prints each row as lines of names and values, cut to the terminal.
func (t *table) blocks() error {
	name := 0
	for _, c := range t.columns {
		name = max(name, len(c))
	}
	var b strings.Builder
	for i, row := range t.rows {
		if i > 0 {
			b.WriteByte('\n')
		}
		for c, value := range row {
			if value != "" {
				fmt.Fprintf(&b, "%-*s  %s\n", name, strings.ToLower(t.columns[c]), short(value, max(t.width-name-2, 8)))
			}
		}
	}
	_, err := io.WriteString(t.out, b.String())
	return err
}

// fields prints names and values, one a line, without empty ones.
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

// short cuts s to at most n characters.
func short(s string, n int) string {
	runes := []rune(s)
	if len(runes) <= n {
		return s
	}
	return string(runes[:n-1]) + "…"
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
