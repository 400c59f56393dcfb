package printer

import (
	"fmt"
	"io"
	"strings"
)

// Fields prints names and values, one a line, without empty ones. If a line is wider than the terminal, the values
// are wrapped.
type Fields struct {
	out   io.Writer
	width int // of the terminal; 0: none
	rows  [][2]string
}

// NewFields makes fields that are printed to w.
func NewFields(w io.Writer) *Fields { return &Fields{out: w, width: TerminalWidth(w)} }

// Add adds a name and a value, which may have several lines.
func (f *Fields) Add(name string, value any) {
	text := strings.TrimSpace(fmt.Sprint(value))
	if text == "" {
		return
	}
	for line := range strings.SplitSeq(text, "\n") {
		f.rows = append(f.rows, [2]string{name, Printable(line)})
		name = ""
	}
}

// Flush prints the fields.
func (f *Fields) Flush() error {
	name := 0
	for _, row := range f.rows {
		name = max(name, columns(row[0]))
	}
	var lines, blocks strings.Builder
	for _, row := range f.rows {
		lines.WriteString(padded(row[0], name+2) + row[1] + "\n")
		// A value of one word, such as a path or an end of the log, is what people copy.
		block(&blocks, row[0], row[1], name+2, f.width, !strings.Contains(row[1], " "))
	}
	text := lines.String()
	if f.width > 0 && widest(text) > f.width {
		text = blocks.String()
	}
	f.rows = nil
	_, err := io.WriteString(f.out, text)
	return err
}
