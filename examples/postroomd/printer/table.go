// Package printer prints tables, reports, messages and progress for people, as wide as the terminal is, and JSON for
// scripts.
package printer

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"
)

// A Table has named columns. If it is wider than the terminal, it has a block for each row.
type Table struct {
	out     io.Writer
	width   int // of the terminal; 0: none
	columns []string
	rows    [][]string
}

// NewTable makes a table with these columns.
func NewTable(out io.Writer, columns ...string) *Table {
	return &Table{out: out, width: TerminalWidth(out), columns: columns}
}

// TerminalWidth returns 0 for an output that is not a terminal.
func TerminalWidth(out io.Writer) int {
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

// Row adds a row.
func (t *Table) Row(cells ...any) {
	texts := make([]string, len(cells))
	for i, c := range cells {
		texts[i] = Printable(fmt.Sprint(c))
	}
	t.rows = append(t.rows, texts)
}

// Flush prints the table, or the text for an empty one.
func (t *Table) Flush(empty string) error {
	if len(t.rows) == 0 {
		_, err := io.WriteString(t.out, WrapLines(empty+"\n", t.width))
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
func (t *Table) lines() string {
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

// blocks is each row as lines of names and values, wrapped to the terminal. The first value of a row is its name,
// such as an id, which people copy: it is never broken.
func (t *Table) blocks() string {
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
