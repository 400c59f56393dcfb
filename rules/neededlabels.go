package rules

import (
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/rules/internal/lists"
)

// NeededLabels returns the names of the labels that actions of the rule name, without those that Gmail makes and
// those that are named by their ids.
func (r *Rule) NeededLabels(kinds *postroom.Kinds) []string {
	var names []string
	for _, a := range r.Actions() {
		for _, parameter := range kinds.LabelParameters(a.Type) {
			if label, ok := a.Parameters.Text(parameter); ok && canBeMade(label) && !lists.ContainsFold(names, label) {
				names = append(names, label)
			}
		}
	}
	return names
}

func canBeMade(label string) bool {
	return !IsSystemLabel(label) && !IsLabelID(label) && postroom.CheckLabelName(label) == nil
}

// IsLabelID reports whether a text has the form of the ids that Gmail gives to labels.
func IsLabelID(text string) bool { return strings.HasPrefix(text, "Label_") }

// IsSystemLabel reports whether every mailbox has the label.
func IsSystemLabel(name string) bool {
	switch strings.ToUpper(name) {
	case postroom.LabelInbox, postroom.LabelUnread, postroom.LabelStarred, postroom.LabelImportant, postroom.LabelSent,
		postroom.LabelDraft, postroom.LabelSpam, postroom.LabelTrash:
		return true
	}
	return strings.HasPrefix(name, "CATEGORY_")
}
