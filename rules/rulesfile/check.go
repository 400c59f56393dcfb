package rulesfile

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/suggest"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/internal/lists"
)

// checkRule reports the faults of the rule, each at its place, unless the place has been reported.
func (p *fileParser) checkRule(m *mapping, r *rules.Rule, places conditionPlaces, before int) {
	reported := map[position]bool{}
	for _, problem := range p.problems[before:] {
		reported[position{problem.Line, problem.Column}] = true
	}
	report := func(at position, message, hint string) {
		if !reported[at] {
			p.problem(at, message, hint)
		}
	}
	for _, f := range r.Faults(p.config.kinds) {
		p.ruleFault(m, r, f, report)
	}
	if places == nil {
		report(m.at, "the rule has no condition",
			"write condition: and what mail it is for, as {type: sender_domain, value: example.com}")
	} else {
		for _, e := range r.Condition.Faults() {
			report(places.find(e.Path), e.Text(), "")
		}
	}
	if r.SafeMode == postroom.SafeDangerousOverride {
		p.refuseForgeable(r.Condition, "", places, report)
	}
	p.warnLabelIDs(r.Condition, "", places)
	p.warnUnknown(r.Condition, "", places)
	p.noteTimes(r.Condition, "", false, places)
	p.checkAction(m, r)
	for i, also := range r.Also {
		at := m.values[fmt.Sprintf("actions[%d]", i+1)]
		part := &mapping{at: positionOf(at), values: map[string]ast.Node{"action": at, "parameters": at,
			"safe_mode": m.values["safe_mode"]}}
		p.checkAction(part, &rules.Rule{Action: also.Type, Parameters: also.Parameters, SafeMode: r.SafeMode})
	}
	p.checkDuplicate(m, r)
}

func (p *fileParser) ruleFault(m *mapping, r *rules.Rule, f rules.Fault, report func(position, string, string)) {
	n, written := m.values[f.Field]
	if f.Field == "action" {
		f.Hint = suggest.Instead(string(r.Action), actionNames(p.config.kinds.Types()), "the actions are")
	}
	if written {
		report(positionOf(n), f.Detail, f.Hint)
		return
	}
	switch f.Field {
	case "name":
		report(m.at, f.Detail, "write name: and a short name")
	case "action":
		report(m.at, "the rule has no action", "write action: and one of "+
			strings.Join(actionNames(p.config.kinds.Types()), ", "))
	case "parameters":
		report(positionOf(m.values["action"]), f.Detail, f.Hint)
	case "scope_ref":
		report(positionOf(m.values["scope"]), f.Detail, f.Hint)
	}
}

func (p *fileParser) checkDuplicate(m *mapping, r *rules.Rule) {
	n, ok := m.values["name"]
	if !ok || r.Name == "" {
		return
	}
	if first, taken := p.names[r.Name]; taken {
		p.problem(positionOf(n), fmt.Sprintf("rule %q is already defined on line %d", r.Name, first.line),
			"give each rule a name of its own")
		return
	}
	p.names[r.Name] = positionOf(n)
}

// checkAction checks a valid action against the rest of the file.
func (p *fileParser) checkAction(m *mapping, r *rules.Rule) {
	kind, ok := p.config.kinds.Kind(r.Action)
	if _, written := m.values["action"]; !written || !ok {
		return
	}
	if kind.CheckParameters(r.Parameters, time.Time{}) != nil {
		return // which is reported
	}
	p.checkTimes(m, r, kind)
	if why, refused := p.config.refused[r.Action]; refused {
		p.warning(positionOf(m.values["action"]),
			fmt.Sprintf("action %s is refused here, and each decision of the rule fails", r.Action), why)
	}
	p.warnParameters(m, r, kind)
	p.warnLabels(m, r)
	if kind.Danger == postroom.Dangerous && r.SafeMode == postroom.SafeAlwaysSafe {
		p.warning(positionOf(m.values["safe_mode"]),
			fmt.Sprintf("always_safe does not release the dangerous action %s, which waits for approval", r.Action),
			"write dangerous_override if it shall happen without a person")
	}
}

// checkTimes looks at what is right or wrong with the time.
func (p *fileParser) checkTimes(m *mapping, r *rules.Rule, kind postroom.Kind) {
	at := m.values["parameters"]
	if at == nil {
		at = m.values["action"]
	}
	if p.config.now.IsZero() {
		if err := kind.CheckParameters(r.Parameters, time.Now()); err != nil {
			p.warning(positionOf(at), err.Error(), "each decision of the rule fails, with this reason")
		}
	} else if err := kind.CheckParameters(r.Parameters, p.config.now); err != nil {
		p.problem(positionOf(at), err.Error(), "")
	}
}

// warnParameters warns of parameters without effect.
func (p *fileParser) warnParameters(m *mapping, r *rules.Rule, kind postroom.Kind) {
	for _, name := range slices.Sorted(maps.Keys(r.Parameters)) {
		if !slices.ContainsFunc(kind.Parameters, func(known postroom.Parameter) bool { return known.Name == name }) {
			p.warning(positionOf(m.values["parameters"]), fmt.Sprintf("action %s has no parameter %s", r.Action,
				strconv.Quote(name)), "")
		}
	}
}

// warnLabels warns of labels that would be created although no list has them, because a misspelled name creates one.
// A label that Gmail does not create is an error.
func (p *fileParser) warnLabels(m *mapping, r *rules.Rule) {
	for _, name := range p.config.kinds.LabelParameters(r.Action) {
		label, ok := r.Parameters.Text(name)
		if !ok || lists.ContainsFold(p.file.Labels, label) || rules.IsSystemLabel(label) || rules.IsLabelID(label) {
			continue
		}
		if err := postroom.CheckLabelName(label); err != nil {
			p.problem(positionOf(m.values["parameters"]), err.Error(), "")
		} else {
			p.warning(positionOf(m.values["parameters"]),
				fmt.Sprintf("label %q is not listed under labels, and is created where a mailbox does not have it", label),
				p.labelHint(label))
		}
	}
}

func (p *fileParser) labelHint(label string) string {
	if near := suggest.Nearest(label, p.file.Labels); near != "" {
		return fmt.Sprintf("did you mean %s? If not, list it there", near)
	}
	return "list it there if it is no slip"
}

// warnUnknown warns of conditions on what is never found out.
func (p *fileParser) warnUnknown(c rules.Condition, path string, places conditionPlaces) {
	if why, unknown := p.config.unknown[c.Type]; unknown && c.Op == "" {
		p.warning(places.find(rules.JoinPath(path, "type")),
			fmt.Sprintf("%s is never known here, and the rule matches nothing", c.Type), why)
	}
	for i, child := range c.Children {
		p.warnUnknown(child, rules.JoinPath(path, fmt.Sprintf("children[%d]", i)), places)
	}
}

// warnLabelIDs warns of conditions on a label that is neither an id nor a name in the file's labels.
func (p *fileParser) warnLabelIDs(c rules.Condition, path string, places conditionPlaces) {
	if c.Type == rules.LabelPresent {
		for part, value := range labelsOf(&c) {
			if !lists.ContainsFold(p.file.Labels, value) && !rules.IsSystemLabel(value) && !rules.IsLabelID(value) {
				p.warning(places.find(rules.JoinPath(path, part)),
					fmt.Sprintf("%q is no label id that Gmail gives, and not listed under labels", value),
					"list the label's name there, or write its id")
			}
		}
	}
	for i, child := range c.Children {
		p.warnLabelIDs(child, rules.JoinPath(path, fmt.Sprintf("children[%d]", i)), places)
	}
}

// refuseForgeable refuses patterns on fields that name the sender, in rules with an override. That the sender is
// authenticated does not help: the name beside an authenticated address is free.
func (p *fileParser) refuseForgeable(c rules.Condition, path string, places conditionPlaces,
	report func(position, string, string)) {
	forgeable := []string{"From", "Sender", "Reply-To"}
	if c.Type == rules.HeaderMatch && lists.ContainsFold(forgeable, strings.TrimSpace(c.Header)) {
		report(places.find(rules.JoinPath(path, "type")),
			fmt.Sprintf("everybody can write into %s what the pattern matches, and the rule acts without a person", c.Header),
			"write sender_domain or sender_email, which compare the address")
	}
	for i, child := range c.Children {
		p.refuseForgeable(child, rules.JoinPath(path, fmt.Sprintf("children[%d]", i)), places, report)
	}
}

// noteTimes says which conditions are decided once though time changes them.
func (p *fileParser) noteTimes(c rules.Condition, path string, negated bool, places conditionPlaces) {
	at := func() position { return places.find(rules.JoinPath(path, "type")) }
	switch {
	case c.Type == rules.NewerThan, c.Type == rules.Now:
		p.note(at(), fmt.Sprintf("%s is decided when the message arrives, and not again later", c.Type))
	case c.Type == rules.IAnswered, c.Type == rules.TheyAnswered, c.Type == rules.SenderWrittenTo:
		p.note(at(), fmt.Sprintf("%s is decided when the message arrives, and again only with older_than, thread_quiet or "+
			"since_i_wrote in the rule", c.Type))
	case c.IsAge() && negated:
		p.note(at(), fmt.Sprintf("not %s is decided when the message arrives, and not again later", c.Type))
	case c.Type == rules.ThreadQuiet, c.Type == rules.SinceIWrote:
		p.note(at(), "the messages of a thread are asked about again when this is longer ago than "+c.Value)
	case c.Type == rules.OlderThan:
		p.note(at(), "messages are asked about again when they are older than "+c.Value)
	}
	for i, child := range c.Children {
		p.noteTimes(child, rules.JoinPath(path, fmt.Sprintf("children[%d]", i)), negated != (c.Op == rules.Not), places)
	}
}

func actionNames(types []postroom.ActionType) []string {
	return lists.Texts(types, func(t postroom.ActionType) string { return string(t) })
}

// labelsOf yields the values of a predicate with their paths.
func labelsOf(c *rules.Condition) iter.Seq2[string, string] {
	return func(yield func(path, value string) bool) {
		if c.Values == nil {
			yield("value", c.Value)
			return
		}
		for i, value := range c.Values {
			if !yield(fmt.Sprintf("values[%d]", i), value) {
				return
			}
		}
	}
}
