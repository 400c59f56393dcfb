package main

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

// A report is text for people with headings: lines of names and values, wrapped to the width.
type report struct {
	out   io.Writer
	width int
	b     strings.Builder
}

func newReport(out io.Writer) *report {
	r := &report{out: out, width: widestReport}
	if width := terminalWidth(out); width > 0 {
		r.width = min(width, widestReport)
	}
	return r
}

func (r *report) heading(text string) {
	if r.b.Len() > 0 {
		r.b.WriteByte('\n')
	}
	r.b.WriteString(strings.Join(wrap(text, r.width), "\n") + "\n")
}

// add writes a value after its name; an empty value is left out.
func (r *report) add(name string, value any) { r.column(name, 14, value) }

func (r *report) column(name string, column int, value any) {
	text := strings.TrimSpace(fmt.Sprint(value))
	if text == "" {
		return
	}
	name = "  " + name
	narrow := r.width-column-2 < narrowestValue
	if narrow {
		column = 2
	}
	if name = printable(name); narrow && strings.TrimSpace(name) != "" || columns(name) > column+1 {
		r.line(strings.TrimSpace(name))
		name = ""
	}
	for i, line := range wrap(text, r.width-column-2) {
		if i > 0 {
			name = ""
		}
		r.b.WriteString(strings.TrimRight(padded(name, column+1)+" "+line, " ") + "\n")
	}
}

func (r *report) line(text string) {
	for _, line := range wrap(text, r.width-2) {
		r.b.WriteString(strings.TrimRight("  "+line, " ") + "\n")
	}
}

// verbatim writes the lines of a text unchanged, without wrapping.
func (r *report) verbatim(text string) {
	for line := range strings.Lines(text) {
		r.b.WriteString(strings.TrimRight("  "+printable(strings.TrimSuffix(line, "\n")), " ") + "\n")
	}
}

// quote writes untrusted text. It marks the lines, so that none looks like a line of this program.
func (r *report) quote(text string) {
	for _, line := range wrap(strings.TrimRight(text, "\r\n"), r.width-4) {
		r.b.WriteString(strings.TrimRight("  | "+line, " ") + "\n")
	}
}

func (r *report) flush() error {
	_, err := io.WriteString(r.out, r.b.String())
	return err
}

// wrap breaks text into lines of at most width columns, between words where it can.
func wrap(text string, width int) []string {
	width = max(width, 1)
	var lines []string
	for paragraph := range strings.SplitSeq(text, "\n") {
		line := ""
		for word := range strings.FieldsSeq(printable(paragraph)) {
			for {
				switch room := width - columns(line) - 1; {
				case line != "" && columns(word) <= room:
					line += " " + word
				case line != "":
					lines, line = append(lines, line), ""
					continue
				case columns(word) > width:
					var head string
					head, word = fit(word, width)
					lines = append(lines, head)
					continue
				default:
					line = word
				}
				break
			}
		}
		lines = append(lines, line)
	}
	return lines
}
