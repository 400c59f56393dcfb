package main

import (
	"fmt"
	"io"
	"strings"
)

// block writes a name and its value, which begins at a column and is wrapped to the width. What is copied is never broken.
func block(b *strings.Builder, name, value string, column, width int, copied bool) {
	head, room := padded(name, column), width-column
	if longestWord(value) > room { // below its name there is room for more
		if name != "" {
			b.WriteString(name + "\n")
		}
		head, room = "  ", width-2
	}
	if copied {
		room = max(room, columns(value))
	}
	for _, line := range wrap(value, room) {
		b.WriteString(strings.TrimRight(head+line, " ") + "\n")
		head = strings.Repeat(" ", len(head))
	}
}

// wrapLines wraps the lines of a text that are wider than the terminal, behind what indents them; a width of 0 is none. The first word of a
// line, such as an id, is never broken: people copy it.
func wrapLines(text string, width int) string {
	if width == 0 || widest(text) <= width {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		words := strings.TrimLeft(line, " ")
		indent := line[:len(line)-len(words)]
		if columns(line) <= width {
			b.WriteString(line + "\n")
			continue
		}
		first, _, _ := strings.Cut(words, " ")
		for _, part := range wrap(words, max(width-len(indent)-2, columns(first))) {
			b.WriteString(indent + part + "\n")
			indent = strings.Repeat(" ", len(line)-len(words)+2)
		}
	}
	return b.String()
}

// fields prints names and values, one a line, without empty ones. If a line is wider than the terminal, the values are wrapped.
type fields struct {
	out   io.Writer
	width int // of the terminal; 0: none
	rows  [][2]string
}

func newFields(w io.Writer) *fields { return &fields{out: w, width: terminalWidth(w)} }

func (f *fields) add(name string, value any) {
	text := strings.TrimSpace(fmt.Sprint(value))
	if text == "" {
		return
	}
	for line := range strings.SplitSeq(text, "\n") {
		f.rows = append(f.rows, [2]string{name, printable(line)})
		name = ""
	}
}

func (f *fields) flush() error {
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
