package rulesfile

import (
	"cmp"
	"fmt"

	"github.com/goccy/go-yaml/ast"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/internal/lists"
)

// A fileParser reads one file.
type fileParser struct {
	*source
	config parseConfig
	file   *File
	names  map[string]position // of the rules so far

	matchAll bool // rules let those after them be tried unless they say otherwise
}

func (p *fileParser) document(root ast.Node) {
	m := p.mapping(root, "the file", fileKeys)
	if m == nil {
		return
	}
	if n, ok := m.values["labels"]; ok {
		p.labels(n)
	}
	if n, ok := m.values["snippets"]; ok {
		p.snippets(n)
	}
	if n, ok := m.values["matching"]; ok {
		p.matching(n)
	}
	if n, ok := m.values["tests"]; ok {
		p.tests(n)
	}
	n, ok := m.values["rules"]
	if !ok {
		if len(p.problems) == 0 {
			p.problem(position{}, "the file holds no rules", "write rules: and below it one entry for each rule, as - name: …")
		}
		return
	}
	for _, entry := range p.list(n, "rules") {
		p.rule(entry)
	}
	p.warnForestalled()
}

// matching reads whether rules stop the ones after them unless they say otherwise.
func (p *fileParser) matching(n ast.Node) {
	text, ok := p.text(n, "matching")
	switch {
	case text == "all":
		p.matchAll = true
	case ok && text != "first":
		p.problem(positionOf(n), fmt.Sprintf("unknown matching %q", text),
			"write first, so that the first rule that matches decides, or all")
	}
}

func (p *fileParser) labels(n ast.Node) {
	for _, entry := range p.list(n, "labels") {
		name, ok := p.text(entry, "a label")
		refused := postroom.CheckLabelName(name)
		switch {
		case !ok:
		case refused != nil && !rules.IsSystemLabel(name):
			p.problem(positionOf(entry), refused.Error(), "")
		case lists.ContainsFold(p.file.Labels, name):
			p.problem(positionOf(entry), fmt.Sprintf("label %q is listed twice", name),
				"Gmail does not tell upper from lower case; remove one")
		default:
			p.file.Labels = append(p.file.Labels, name)
		}
	}
}

var ruleKeys = []string{
	"name", "description", "enabled", "scope", "scope_ref", "priority", "condition", "action", "parameters",
	"actions", "safe_mode",
	"stop", "schedule", "authentication",
}

func (p *fileParser) rule(n ast.Node) {
	m := p.mapping(n, "a rule", ruleKeys)
	if m == nil {
		return
	}
	before := len(p.problems)
	r := rules.NewRule("", rules.Condition{}, "", nil)
	p.readFields(m, &r)
	r.Position = len(p.file.Rules) + 1
	r.Normalize()

	var places conditionPlaces
	if condition, ok := m.values["condition"]; ok {
		places = conditionPlaces{}
		r.Condition = p.condition(condition, "", places, 1)
	}
	p.checkRule(m, &r, places, before)
	p.file.Rules = append(p.file.Rules, r)
}

func (p *fileParser) readFields(m *mapping, r *rules.Rule) {
	text := func(key string, set func(string)) {
		if n, ok := m.values[key]; ok {
			if value, ok := p.text(n, key); ok {
				set(value)
			}
		}
	}
	text("name", func(s string) { r.Name = s })
	text("description", func(s string) { r.Description = s })
	text("scope", func(s string) { r.Scope = rules.Scope(s) })
	text("scope_ref", func(s string) { r.ScopeRef = s })
	text("action", func(s string) { r.Action = postroom.ActionType(s) })
	text("safe_mode", func(s string) { r.SafeMode = postroom.SafeMode(s) })
	if n, ok := m.values["enabled"]; ok {
		r.Enabled = p.boolean(n, "enabled")
	}
	r.Continue = p.matchAll
	if n, ok := m.values["stop"]; ok {
		r.Continue = !p.boolean(n, "stop")
	}
	text("authentication", func(s string) { r.Authentication = rules.Authentication(s) })
	if n, ok := m.values["schedule"]; ok {
		r.Schedule = p.schedule(n)
	}
	if n, ok := m.values["priority"]; ok {
		r.Priority = p.integer(n, "priority")
	}
	if n, ok := m.values["parameters"]; ok {
		r.Parameters = p.parameters(n)
	}
	if n, ok := m.values["actions"]; ok {
		p.actions(n, m, r)
	}
}

func (p *fileParser) parameters(n ast.Node) postroom.Parameters {
	parameters := postroom.Parameters{}
	if m := p.mapping(n, "parameters", nil); m != nil {
		for _, key := range m.keys {
			parameters[key] = p.plain(m.values[key], "parameter "+key)
		}
		p.useSnippet(n, parameters)
	}
	return parameters
}

// Actions reads a list of actions. The first is checked like a single action.
func (p *fileParser) actions(n ast.Node, m *mapping, r *rules.Rule) {
	if action, ok := m.values["action"]; ok {
		p.problem(positionOf(action), "the rule has both action and actions", "write one of the two")
		return
	}
	for _, entry := range p.list(n, "actions") {
		part := p.mapping(entry, "an action", actionKeys)
		if part == nil {
			continue
		}
		var a rules.RuleAction
		if name, ok := part.values["action"]; ok {
			text, _ := p.text(name, "action")
			a.Type = postroom.ActionType(text)
		}
		if given, ok := part.values["parameters"]; ok {
			a.Parameters = p.parameters(given)
		}
		if _, first := m.values["action"]; !first {
			r.Action, r.Parameters = a.Type, a.Parameters
			m.values["action"] = cmp.Or(part.values["action"], entry)
			m.values["parameters"] = cmp.Or(part.values["parameters"], m.values["action"])
			continue
		}
		r.Also = append(r.Also, a)
		m.values[fmt.Sprintf("actions[%d]", len(r.Also))] = entry
	}
}

// schedule reads when the rule applies; [rules.Schedule] checks it.
func (p *fileParser) schedule(n ast.Node) rules.Schedule {
	var s rules.Schedule
	m := p.mapping(n, "a schedule", scheduleKeys)
	if m == nil {
		return s
	}
	for key, to := range map[string]*string{"from": &s.From, "until": &s.Until, "zone": &s.Zone,
		"label_only_until": &s.LabelOnlyUntil} {
		if value, ok := m.values[key]; ok {
			*to, _ = p.text(value, key)
		}
	}
	for key, to := range map[string]*[]string{"times": &s.Times, "weekdays": &s.Weekdays} {
		if list, ok := m.values[key]; ok {
			for _, entry := range p.list(list, key) {
				text, _ := p.text(entry, "an entry of "+key)
				*to = append(*to, text)
			}
		}
	}
	return s
}
