package printer

import (
	"fmt"
	"io"
	"strings"
)

// The width of a report: that of the terminal, and at most this many columns, which are easy to read.
const (
	widestReport   = 80
	narrowestValue = 24
)

// A Report is text for people with headings: lines of names and values, wrapped to the width.
type Report struct {
	out   io.Writer
	Width int
	b     strings.Builder
}

// NewReport makes a report that is printed to out.
func NewReport(out io.Writer) *Report {
	r := &Report{out: out, Width: widestReport}
	if width := TerminalWidth(out); width > 0 {
		r.Width = min(width, widestReport)
	}
	return r
}

// Heading begins a part of the report.
func (r *Report) Heading(text string) {
	if r.b.Len() > 0 {
		r.b.WriteByte('\n')
	}
	r.b.WriteString(strings.Join(wrap(text, r.Width), "\n") + "\n")
}

// Add writes a value after its name; an empty value is left out.
func (r *Report) Add(name string, value any) { r.column(name, 14, value) }

// column writes a value at a column after its name.
func (r *Report) column(name string, column int, value any) {
	text := strings.TrimSpace(fmt.Sprint(value))
	if text == "" {
		return
	}
	name = "  " + name
	narrow := r.Width-column-2 < narrowestValue
	if narrow {
		column = 2
	}
	if name = Printable(name); narrow && strings.TrimSpace(name) != "" || columns(name) > column+1 {
		r.Line(strings.TrimSpace(name))
		name = ""
	}
	for i, line := range wrap(text, r.Width-column-2) {
		if i > 0 {
			name = ""
		}
		r.b.WriteString(strings.TrimRight(padded(name, column+1)+" "+line, " ") + "\n")
	}
}

// Line writes a text without a name.
func (r *Report) Line(text string) {
	for _, line := range wrap(text, r.Width-2) {
		r.b.WriteString(strings.TrimRight("  "+line, " ") + "\n")
	}
}

// Verbatim writes the lines of a text unchanged, without wrapping.
func (r *Report) Verbatim(text string) {
	for line := range strings.Lines(text) {
		r.b.WriteString(strings.TrimRight("  "+Printable(strings.TrimSuffix(line, "\n")), " ") + "\n")
	}
}

// Quote writes untrusted text. It marks the lines, so that none looks like a line of this program.
func (r *Report) Quote(text string) {
	for _, line := range wrap(strings.TrimRight(text, "\r\n"), r.Width-4) {
		r.b.WriteString(strings.TrimRight("  | "+line, " ") + "\n")
	}
}

// Flush prints the report.
func (r *Report) Flush() error {
	_, err := io.WriteString(r.out, r.b.String())
	return err
}
