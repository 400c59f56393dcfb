package rulesfile

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/internal/lists"
)

// A TestResult is the result of a [Test].
type TestResult struct {
	Test Test
	// Decisions are the decisions; one of source none if no rule matches.
	Decisions []postroom.Decision
	// Matched are the names of the rules that matched, in the order in which they were tried.
	Matched []string
	// Failures describe the expected and actual results; empty if the test has passed.
	Failures []string
	// Reasons explain the results of the rules that matter for a failure.
	Reasons []string
	// Undecided are the rules that may match besides, and what they ask: it depends on what the message means, which no
	// test says. Empty if the result is certain.
	Undecided []string
}

// Passed reports whether the result is what the test expects.
func (r *TestResult) Passed() bool { return len(r.Failures) == 0 }

// Test runs tests against the rules of the file: its own, those of files beside it, or both. The labels of the
// messages are compared by name, as in the file: no mailbox is needed. The kinds must be those that the file was
// parsed with. Call it before [File.ResolveLabels].
func (f *File) Test(tests []Test, kinds *postroom.Kinds) []TestResult {
	named := &File{Labels: f.Labels, Rules: slices.Clone(f.Rules)}
	named.ResolveLabels(f.labelName)
	for i := range named.Rules {
		named.Rules[i].ID = named.Rules[i].Name
	}
	set, open := rules.NewSetWithFacts(named.Rules, kinds), openRules(named.Rules, kinds)
	results := make([]TestResult, len(tests))
	for i, t := range tests {
		results[i] = f.test(set, open, t)
	}
	return results
}

// labelName is the spelling of a label's name in the file.
func (f *File) labelName(name string) (string, bool) {
	for _, label := range f.Labels {
		if strings.EqualFold(label, name) {
			return label, true
		}
	}
	return "", false
}

func (f *File) test(set *rules.Set, open map[string]openRule, t Test) TestResult {
	msg := *t.Message
	var labels []string
	for _, label := range msg.LabelIDs {
		if name, ok := f.labelName(label); ok {
			label = name
		}
		labels = append(labels, label)
	}
	msg.LabelIDs = postroom.NewSnapshot(labels).LabelIDs
	past := t.Past
	if past.Theirs.Before(msg.ReceivedAt) {
		past.Theirs = msg.ReceivedAt
	}
	facts := &rules.Facts{Server: rules.GmailServer, SenderSeen: t.SenderSeen, Past: past}
	explanation := set.ExplainWith(&msg, t.Now, facts)
	r := TestResult{Test: t, Decisions: explanation.Decisions, Matched: []string{}}
	for _, x := range explanation.Rules {
		if x.Outcome == rules.Matched {
			r.Matched = append(r.Matched, x.Rule.Name)
		}
		o, asks := open[x.Rule.Name]
		if !asks || x.Outcome == rules.NotTried {
			continue
		}
		for range o.set.AllWith(&msg, t.Now, facts) {
			r.Undecided = append(r.Undecided, fmt.Sprintf("'%s' asks for %s", x.Rule.Name, joinKinds(o.asks)))
		}
	}
	r.compare()
	if !r.Passed() {
		r.explain(explanation)
	}
	return r
}

func (r *TestResult) compare() {
	fail := func(what, expected, got string) {
		r.Failures = append(r.Failures, fmt.Sprintf("expected %s%s, got %s", what, expected, got))
	}
	if r.Test.Rules != nil && !slices.Equal(r.Test.Rules, r.Matched) {
		fail("rules ", quotedNames(r.Test.Rules), quotedNames(r.Matched))
	}
	for _, name := range r.Test.Without {
		if slices.Contains(r.Matched, name) {
			fail("rules without ", quotedNames(r.Test.Without), quotedNames(r.Matched))
			break
		}
	}
	if r.Test.Actions != nil && !slices.EqualFunc(r.Test.Actions, r.Decided(), allows) {
		fail("", showActions(r.Test.Actions), showActions(r.Decided()))
	}
}

// Decided returns the actions of the rules that matched, in their order.
func (r *TestResult) Decided() []rules.RuleAction {
	var actions []rules.RuleAction
	for _, d := range r.Decisions {
		if d.Source != postroom.SourceNone {
			actions = append(actions, rules.RuleAction{Type: d.Action, Parameters: d.Parameters})
		}
	}
	return actions
}

// allows reports whether an expected action is the decided one.
func allows(a, decided rules.RuleAction) bool {
	if a.Type != decided.Type {
		return false
	}
	return a.Parameters == nil || len(a.Parameters) == 0 && len(decided.Parameters) == 0 ||
		reflect.DeepEqual(a.Parameters, decided.Parameters)
}

func joinKinds(kinds []rules.Kind) string {
	return strings.Join(lists.Texts(kinds, func(k rules.Kind) string { return string(k) }), ", ")
}

func quotedNames(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(lists.Texts(names, func(name string) string { return "'" + name + "'" }), ", ")
}

func showActions(actions []rules.RuleAction) string {
	if len(actions) == 0 {
		return "nothing, since no rule matches"
	}
	return strings.Join(lists.Texts(actions, func(a rules.RuleAction) string {
		if len(a.Parameters) == 0 {
			return string(a.Type)
		}
		text, err := json.Marshal(a.Parameters)
		if err != nil {
			return string(a.Type)
		}
		return string(a.Type) + " " + string(text)
	}), ", ")
}

// explain keeps the reasons of the rules that matched and of those that were to.
func (r *TestResult) explain(explanation *rules.Explanation) {
	for _, x := range explanation.Rules {
		if x.Outcome != rules.Matched && !r.expects(&x.Rule) {
			continue
		}
		r.Reasons = append(r.Reasons, fmt.Sprintf("'%s' %s: %s", x.Rule.Name,
			strings.ReplaceAll(string(x.Outcome), "_", " "), x.Reason))
	}
	for _, name := range r.Test.Rules {
		if !slices.ContainsFunc(explanation.Rules, func(x rules.RuleExplanation) bool { return x.Rule.Name == name }) {
			r.Reasons = append(r.Reasons, fmt.Sprintf("'%s' is no rule that is on", name))
		}
	}
}

// expects reports whether the test expects the rule, by its name or, if it names none, by one of its actions.
func (r *TestResult) expects(rule *rules.Rule) bool {
	if r.Test.Rules != nil {
		return slices.Contains(r.Test.Rules, rule.Name)
	}
	return slices.ContainsFunc(r.Test.Actions, func(a rules.RuleAction) bool {
		return slices.ContainsFunc(rule.Actions(), func(decided rules.RuleAction) bool { return allows(a, decided) })
	})
}

// String formats the result for people: whether the test has passed and, if not, the expected and actual results and
// the reasons; or what it depends on.
func (r *TestResult) String() string {
	var b strings.Builder
	switch {
	case len(r.Undecided) > 0:
		fmt.Fprintf(&b, "OPEN  %s (%s:%d)\n      it depends on what the mail means, which is found out after it has come: %s",
			r.Test.Name, r.Test.File, r.Test.Line, strings.Join(r.Undecided, "; "))
		if !r.Passed() {
			b.WriteString("\n      until then:")
		}
	case r.Passed():
		return "ok    " + r.Test.Name
	default:
		fmt.Fprintf(&b, "FAIL  %s (%s:%d)", r.Test.Name, r.Test.File, r.Test.Line)
	}
	for _, failure := range r.Failures {
		b.WriteString("\n      " + failure)
	}
	for _, reason := range r.Reasons {
		b.WriteString("\n      " + reason)
	}
	return b.String()
}
