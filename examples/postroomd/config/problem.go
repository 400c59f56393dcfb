package config

import (
	"cmp"
	"slices"
	"strings"

	"github.com/postroom-go/postroom/rules/rulesfile"
)

// A Problem is one fault, with its position and a suggestion. For the environment and for flags, File is the name of
// the variable or flag, and Line is 0.
type Problem = rulesfile.Problem

// An Error lists the problems of a configuration, in the order of their lines.
type Error struct{ Problems []Problem }

// Error formats all problems, one or more lines each.
func (e *Error) Error() string {
	texts := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		texts[i] = p.String()
	}
	return strings.Join(texts, "\n")
}

func sortProblems(problems []Problem) {
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}
