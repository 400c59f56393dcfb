// Package cmdline has the parts of commands that know nothing of the program: groups, flags and questions.
package cmdline

import "github.com/postroom-go/postroom/examples/postroomd/printer"

// Texts are the values as texts.
func Texts[T ~string](values []T) []string {
	return printer.List(values, func(v T) string { return string(v) })
}
