package view

import (
	"fmt"
	"strings"

	"github.com/postroom-go/postroom/undo"
)

// UndoText says what an undo changes, and what it leaves as it is.
func UndoText(r undo.Report, name func(id string) string) string {
	var b strings.Builder
	line := func(what string, labels []string) {
		for _, l := range labels {
			fmt.Fprintf(&b, "  %s: %s\n", what, name(l))
		}
	}
	line("put back", r.Restored.Add)
	line("taken off", r.Restored.Remove)
	line("not put back, because it has been changed since", r.Skipped.Add)
	line("not taken off, because it has been changed since", r.Skipped.Remove)
	for _, s := range r.Preserved {
		what := "left alone, removed since by somebody"
		if s.Added {
			what = "left alone, added since by somebody"
		}
		line(what, []string{s.LabelID})
	}
	if b.Len() == 0 {
		return "  there was nothing to restore: the message is as without the action\n"
	}
	return b.String()
}
