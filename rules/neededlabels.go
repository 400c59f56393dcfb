package rules

import (
	"slices"
	"strings"

	"github.com/postroom-go/postroom"
)

// NeededLabels returns the names of the labels that the host creates in mailboxes without them: those of [File.Labels], and those
// that actions of the rules name.
func (f *File) NeededLabels(kinds *postroom.Kinds) []string {
	names := slices.Clone(f.Labels)
	for i := range f.Rules {
		for _, name := range f.Rules[i].NeededLabels(kinds) {
			if !containsFold(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// NeededLabels returns the names of the labels that actions of the rule name, without those that Gmail makes and those that are named
// by their ids.
func (r *Rule) NeededLabels(kinds *postroom.Kinds) []string {
	var names []string
	for _, a := range r.actions() {
		for _, parameter := range kinds.LabelParameters(a.Type) {
			if label, ok := a.Parameters.Text(parameter); ok && canBeMade(label) && !containsFold(names, label) {
				names = append(names, label)
			}
		}
	}
	return names
}

func canBeMade(label string) bool {
	return !systemLabel(label) && !isLabelID(label) && postroom.CheckLabelName(label) == nil
}

// isLabelID reports whether a text has the form of the ids that Gmail gives to labels.
func isLabelID(text string) bool { return strings.HasPrefix(text, "Label_") }
