package rules

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/postroom-go/postroom"
)

// checkRule reports the faults of the rule, each at its place, unless the place has been reported.
func (p *fileParser) checkRule(m *mapping, r *Rule, places conditionPlaces, before int) {
	reported := map[position]bool{}
	for _, problem := range p.problems[before:] {
		reported[position{problem.Line, problem.Column}] = true
	}
	report := func(at position, message, hint string) {
		if !reported[at] {
			p.problem(at, message, hint)
		}
	}
	for _, f := range r.faults() {
		p.ruleFault(m, r, f, report)
	}
	if places == nil {
		report(m.at, "the rule has no condition", "write condition: and what mail it is for, as {type: sender_domain, value: example.com}")
	} else {
		_, faults := compileTree(r.Condition)
		for _, e := range faults {
			report(places.find(e.Path), e.text(), "")
		}
	}
	p.warnLabelIDs(r.Condition, "", places)
	p.checkAction(m, r, report)
	p.checkDuplicate(m, r)
}

func (p *fileParser) ruleFault(m *mapping, r *Rule, f fault, report func(position, string, string)) {
	n, written := m.values[f.field]
	switch f.field {
	case "action":
		f.hint = suggest(string(r.Action), actionNames(p.config.actions), "the actions are")
	case "parameters":
		f.hint = cmp.Or(f.hint, fmt.Sprintf("write parameters: {%s: …}", postroom.ParamLabel))
	}
	if written {
		report(positionOf(n), f.detail, f.hint)
		return
	}
	switch f.field {
	case "name":
		report(m.at, f.detail, "write name: and a short name")
	case "action":
		report(m.at, "the rule has no action", "write action: and one of "+strings.Join(actionNames(p.config.actions), ", "))
	case "parameters":
		report(positionOf(m.values["action"]), f.detail, f.hint)
	case "scope_ref":
		report(positionOf(m.values["scope"]), f.detail, f.hint)
	}
}

func (p *fileParser) checkDuplicate(m *mapping, r *Rule) {
	n, ok := m.values["name"]
	if !ok || r.Name == "" {
		return
	}
	if first, taken := p.names[r.Name]; taken {
		p.problem(positionOf(n), fmt.Sprintf("rule %q is already defined on line %d", r.Name, first.line), "give each rule a name of its own")
		return
	}
	p.names[r.Name] = positionOf(n)
}

// parameterless are the actions that take no parameter at all.
var parameterless = []postroom.ActionType{
	postroom.Archive, postroom.Delete, postroom.MarkRead, postroom.MarkUnread, postroom.None, postroom.Restore,
	postroom.Star, postroom.Trash, postroom.Unstar,
}

// checkAction checks a valid action against the host's actions and the rest of the file.
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

// warnParameters warns of parameters without effect.
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

// warnLabels warns of labels that may not exist when the rule matches.
func (p *fileParser) warnLabels(m *mapping, r *Rule) {
	label, ok := r.Parameters.Text(postroom.ParamLabel)
	if ok && r.Action.TakesLabel() && !containsFold(p.file.Labels, label) && !systemLabel(label) {
		p.warning(positionOf(m.values["parameters"]), fmt.Sprintf("label %q is not listed under labels", label), "list it there, so that it is created if it does not exist")
	}
}

// warnLabelIDs warns of conditions on a label that is neither an id nor a name in the file's labels.
func (p *fileParser) warnLabelIDs(c Condition, path string, places conditionPlaces) {
	if c.Type == LabelPresent && !containsFold(p.file.Labels, c.Value) && !systemLabel(c.Value) && !strings.HasPrefix(c.Value, "Label_") {
		p.warning(places.find(joinPath(path, "value")), fmt.Sprintf("%q is no label id that Gmail gives, and not listed under labels", c.Value), "list the label's name there, or write its id")
	}
	for i, child := range c.Children {
		p.warnLabelIDs(child, joinPath(path, fmt.Sprintf("children[%d]", i)), places)
	}
}

// systemLabel reports whether every mailbox has the label.
func systemLabel(name string) bool {
	switch strings.ToUpper(name) {
	case postroom.LabelInbox, postroom.LabelUnread, postroom.LabelStarred, postroom.LabelImportant, postroom.LabelSent,
		postroom.LabelDraft, postroom.LabelSpam, postroom.LabelTrash:
		return true
	}
	return strings.HasPrefix(name, "CATEGORY_")
}

func containsFold(list []string, s string) bool {
	return slices.ContainsFunc(list, func(other string) bool { return strings.EqualFold(other, s) })
}
