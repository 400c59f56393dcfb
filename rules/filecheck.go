package rules

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/postroom-go/postroom"
)

// parameterless are the actions that take no parameter at all.
var parameterless = []postroom.ActionType{
	postroom.Archive, postroom.Delete, postroom.MarkRead, postroom.MarkUnread, postroom.None, postroom.Restore,
	postroom.Star, postroom.Trash, postroom.Unstar,
}

// checkAction looks at what the host and the rest of the file make of a valid action.
func (p *fileParser) checkAction(m *mapping, r *Rule, report func(position, string, string)) {
	n, ok := m.values["action"]
	if !ok || !r.Action.Valid() {
		return
	}
	if !slices.Contains(p.config.actions, r.Action) {
		report(positionOf(n), fmt.Sprintf("action %s is not supported here", r.Action), "the supported actions are "+strings.Join(actionNames(p.config.actions), ", "))
	}
	p.warnParameters(m, r)
	p.warnLabels(m, r)
	if r.Action.Danger() == postroom.Dangerous && r.SafeMode == postroom.SafeAlwaysSafe {
		p.warning(positionOf(m.values["safe_mode"]), fmt.Sprintf("always_safe does not release the dangerous action %s, which waits for approval", r.Action), "write dangerous_override if it shall happen without a person")
	}
}

// warnParameters points at parameters that nobody reads.
func (p *fileParser) warnParameters(m *mapping, r *Rule) {
	known := []string{}
	switch {
	case r.Action.TakesLabel():
		known = append(known, postroom.ParamLabel)
	case !slices.Contains(parameterless, r.Action):
		return
	}
	for _, name := range slices.Sorted(maps.Keys(r.Parameters)) {
		if !slices.Contains(known, name) {
			p.warning(positionOf(m.values["parameters"]), fmt.Sprintf("action %s has no parameter %s", r.Action, strconv.Quote(name)), "")
		}
	}
}

// warnLabels points at labels that may not exist when the rule matches.
func (p *fileParser) warnLabels(m *mapping, r *Rule) {
	label, ok := r.Parameters.Text(postroom.ParamLabel)
	if ok && r.Action.TakesLabel() && !containsFold(p.file.Labels, label) && !systemLabel(label) {
		p.warning(positionOf(m.values["parameters"]), fmt.Sprintf("label %q is not listed under labels", label), "list it there, so that it is created if it does not exist")
	}
}

// warnLabelIDs points at conditions that ask for a label by something that is neither an id nor a name to be resolved.
func (p *fileParser) warnLabelIDs(c Condition, path string, places conditionPlaces) {
	if c.Type == LabelPresent && !containsFold(p.file.Labels, c.Value) && !systemLabel(c.Value) && !strings.HasPrefix(c.Value, "Label_") {
		p.warning(places.find(joinPath(path, "value")), fmt.Sprintf("%q is no label id that Gmail gives, and not listed under labels", c.Value), "list the label's name there, or write its id")
	}
	for i, child := range c.Children {
		p.warnLabelIDs(child, joinPath(path, fmt.Sprintf("children[%d]", i)), places)
	}
}

// ResolveLabels turns the label names in label_present conditions into the ids that messages carry. The host calls it
// once the file's labels exist; what id does not know stays as it is.
func (f *File) ResolveLabels(id func(name string) (id string, ok bool)) {
	for i := range f.Rules {
		f.Rules[i].Condition = f.Rules[i].Condition.resolveLabels(id)
	}
}

func (c Condition) resolveLabels(id func(string) (string, bool)) Condition {
	if c.Type == LabelPresent {
		if resolved, ok := id(c.Value); ok {
			c.Value = resolved
		}
	}
	c.Children = slices.Clone(c.Children)
	for i, child := range c.Children {
		c.Children[i] = child.resolveLabels(id)
	}
	return c
}

// systemLabel tells whether every mailbox has the label.
func systemLabel(name string) bool {
	switch strings.ToUpper(name) {
	case postroom.LabelInbox, postroom.LabelUnread, postroom.LabelStarred, postroom.LabelImportant, postroom.LabelSent,
		postroom.LabelDraft, postroom.LabelSpam, postroom.LabelTrash:
		return true
	}
	return strings.HasPrefix(name, "CATEGORY_")
}
