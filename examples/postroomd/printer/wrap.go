package printer

import (
	"strings"
)

// wrap breaks text into lines of at most width columns, between words where it can.
func wrap(text string, width int) []string {
	width = max(width, 1)
	var lines []string
	for paragraph := range strings.SplitSeq(text, "\n") {
		line := ""
		for word := range strings.FieldsSeq(Printable(paragraph)) {
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

// block writes a name and its value, which begins at a column and is wrapped to the width. What is copied is never
// broken.
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

// WrapLines wraps the lines of a text that are wider than the terminal, behind what indents them; a width of 0 is
// none. The first word of a line, such as an id, is never broken: people copy it.
func WrapLines(text string, width int) string {
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

// fit splits text after as many characters as fit into n columns, and at least one.
func fit(text string, n int) (head, rest string) {
	for i, r := range text {
		if n -= columnsOf(r); n < 0 && i > 0 {
			return text[:i], text[i:]
		}
	}
	return text, ""
}
