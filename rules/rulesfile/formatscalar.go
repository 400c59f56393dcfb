package rulesfile

import (
	"github.com/postroom-go/postroom/rules/internal/yamlscalar"
	"slices"
	"strings"
	"unicode/utf8"
)

// textLines spreads a text over lines: one that has several, and a description that is too long for one. The list is
// nil where the text stays on one line.
func textLines(key, text string, indent int) (style string, list []string) {
	list = strings.Split(text, "\n")
	if len(list) > 1 {
		if slices.ContainsFunc(list, notInBlock) || list[0] == "" || list[0][0] == ' ' || list[len(list)-1] == "" {
			return "", nil
		}
		return "|-", list
	}
	room := max(formatWidth-indent, formatWidth/2)
	if key != "description" || utf8.RuneCountInString(text)+len(key)+2 <= room || notInBlock(text) ||
		strings.Contains(text, "  ") || text[0] == ' ' {
		return "", nil
	}
	return ">-", wrapped(strings.Split(text, " "), room)
}

// notInBlock reports whether a line cannot be part of a block of text as it is.
func notInBlock(line string) bool {
	return strings.HasSuffix(line, " ") || strings.ContainsFunc(line, yamlscalar.MustEscape)
}

// wrapped puts as many words on each line as fit.
func wrapped(words []string, width int) []string {
	lines := []string{words[0]}
	for _, word := range words[1:] {
		last := &lines[len(lines)-1]
		if utf8.RuneCountInString(*last)+1+utf8.RuneCountInString(word) <= width {
			*last += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}
