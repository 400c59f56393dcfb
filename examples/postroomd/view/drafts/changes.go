package drafts

import (
	"regexp"
	"slices"
	"strings"
)

// A Line is a line of the difference of two texts.
type Line struct{ Sign, Text string } // the sign is added, removed, or same

// mostLines bounds the lines of texts that are compared.
const mostLines = 400

// Changes are the lines of what a person has made of a text; nil if the texts are equal, or too long to compare.
func Changes(was, is string) []Line {
	a, b := lines(was), lines(is)
	if strings.Join(a, "\n") == strings.Join(b, "\n") || len(a) > mostLines || len(b) > mostLines {
		return nil
	}
	same := make([][]int, len(a)+1) // how many lines a[i:] and b[j:] have in common
	for i := range same {
		same[i] = make([]int, len(b)+1)
	}
	for i, line := range slices.Backward(a) {
		for j := len(b) - 1; j >= 0; j-- {
			if same[i][j] = max(same[i+1][j], same[i][j+1]); line == b[j] {
				same[i][j] = same[i+1][j+1] + 1
			}
		}
	}
	var list []Line
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			list = append(list, Line{"same", "  " + a[i]})
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && same[i+1][j] >= same[i][j+1]:
			list = append(list, Line{"removed", "− " + a[i]})
			i++
		default:
			list = append(list, Line{"added", "+ " + b[j]})
			j++
		}
	}
	return list
}

func lines(text string) []string {
	list := strings.Split(strings.ReplaceAll(strings.TrimSpace(text), "\r\n", "\n"), "\n")
	for i := range list {
		list[i] = strings.TrimRight(list[i], " \t")
	}
	return list
}

var check = regexp.MustCompile(`\[check: [^\]]*\]`)

// A Span is a part of a text.
type Span struct {
	Text  string
	Check bool // it is a fact that nobody has said in the conversation, and that a person checks
}

// Spans parts a text at the facts to check.
func Spans(text string) (list []Span) {
	at := 0
	for _, found := range check.FindAllStringIndex(text, -1) {
		if found[0] > at {
			list = append(list, Span{text[at:found[0]], false})
		}
		list = append(list, Span{text[found[0]:found[1]], true})
		at = found[1]
	}
	if at < len(text) {
		list = append(list, Span{text[at:], false})
	}
	return list
}

// Checks counts the facts to check in a text.
func Checks(text string) int { return len(check.FindAllString(text, -1)) }
