// Package suggest finds the intended name for a mistyped one.
package suggest

import "strings"

// Instead suggests a name in place of word: "did you mean X?" with the nearest of the names, or all of them after the
// words of all, as in "the actions are".
func Instead(word string, names []string, all string) string {
	if near := Nearest(word, names); near != "" {
		return "did you mean " + near + "?"
	}
	return all + " " + strings.Join(names, ", ")
}

// Nearest returns the name that is the fewest edits away from word; empty if none is near.
func Nearest(word string, names []string) string {
	word = strings.ToLower(word)
	best, least := "", max(2, len(word)/3)+1
	for _, name := range names {
		if d := distance(word, strings.ToLower(name)); d < least && d < len(name) {
			best, least = name, d
		}
	}
	return best
}

// distance counts the insertions, deletions and replacements of bytes that turn a into b (Levenshtein), which is
// bounded by the length of names that people mistype.
func distance(a, b string) int {
	const longest = 64
	if len(a) > longest || len(b) > longest {
		return longest
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
