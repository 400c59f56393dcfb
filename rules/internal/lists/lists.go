// Package lists works on lists of texts.
package lists

import (
	"slices"
	"strings"
)

// Texts returns the text of each element.
func Texts[T any](list []T, to func(T) string) []string {
	texts := make([]string, len(list))
	for i, item := range list {
		texts[i] = to(item)
	}
	return texts
}

// ContainsFold reports whether the list has the text, without regard to case.
func ContainsFold(list []string, s string) bool {
	return slices.ContainsFunc(list, func(other string) bool { return strings.EqualFold(other, s) })
}
