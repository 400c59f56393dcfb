package rules

import (
	"strings"

	"github.com/postroom-go/postroom"
)

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

// systemLabel reports whether every mailbox has the label.
func systemLabel(name string) bool {
	switch strings.ToUpper(name) {
	case postroom.LabelInbox, postroom.LabelUnread, postroom.LabelStarred, postroom.LabelImportant, postroom.LabelSent,
		postroom.LabelDraft, postroom.LabelSpam, postroom.LabelTrash:
		return true
	}
	return strings.HasPrefix(name, "CATEGORY_")
}
