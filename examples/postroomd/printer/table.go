// Package printer prints tables, reports, messages and progress for people, as wide as the terminal is, and JSON for
// scripts.
package printer

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/term"
)

// A Table has named columns. What does not fit the terminal is cut, the last column first; names in the first column,
// times and numbers never are. If that is not enough, it has a block for each row.
type Table struct {
	out     io.Writer
	width   int // of the terminal
	columns []string
	rows    [][]string
}

// NewTable makes a table with these columns.
func NewTable(out io.Writer, columns ...string) *Table {
	return &Table{out: out, width: tableWidth(out), columns: columns}
}

// unknownWidth is the width of a table whose reader's terminal is not known, unless COLUMNS says it.
const unknownWidth = 80

func tableWidth(out io.Writer) int {
	if width := TerminalWidth(out); width > 0 {
		return width
	}
	if width, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && width > 0 {
		return width
	}
	return unknownWidth
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
	text := t.blocks()
	if widths, ok := t.widths(); ok {
		text = t.lines(widths)
	}
	_, err := io.WriteString(t.out, text)
	return err
}

const (
	comfortable = 20 // columns that the last column keeps before others are cut
	narrowest   = 8  // columns that every column keeps
)

// widths returns the widths of the columns, and whether the table fits the terminal with them.
func (t *Table) widths() ([]int, bool) {
	widths, over := make([]int, len(t.columns)), 2*(len(t.columns)-1)-t.width
	least := make([]int, len(t.columns))
	for c, name := range t.columns {
		widths[c] = columns(name)
		whole := c == 0
		for _, row := range t.rows {
			widths[c] = max(widths[c], columns(row[c]))
			whole = whole || row[c] != "" && strings.Trim(row[c], "0123456789:-. ") == ""
		}
		over += widths[c]
		least[c] = min(widths[c], max(narrowest, columns(name)))
		if whole {
			least[c] = widths[c]
		}
	}
	last := len(widths) - 1
	cut := max(0, min(over, widths[last]-max(comfortable, least[last])))
	widths[last] -= cut
	for over -= cut; over > 0; over-- {
		widest := -1
		for c, width := range widths {
			if width > least[c] && (widest < 0 || width >= widths[widest]) {
				widest = c
			}
		}
		if widest < 0 {
			return nil, false
		}
		widths[widest]--
	}
	return widths, true
}

// lines is the table as columns.
func (t *Table) lines(widths []int) string {
	var b strings.Builder
	for _, row := range slices.Insert(slices.Clone(t.rows), 0, t.columns) {
		cells := slices.Clone(row)
		for c, value := range row {
			cells[c] = padded(Short(value, widths[c]), widths[c])
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
