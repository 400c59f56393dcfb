package onboarding

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/rules"
)

// MaxRules bounds the suggested rules.
const MaxRules = 20

const (
	// enough is how much mail of a source there must be.
	enough = 5
	// labelled is the share of it, in percent, that must have a label of the owner for that to be the owner's habit.
	labelled = 80
	// provable is the share of it, in percent, that the server must have verified.
	provable = 95
)

// A Suggestion is a rule that a person may add: it puts a label on, and does nothing else.
type Suggestion struct {
	Name      string          `json:"name"`
	Condition rules.Condition `json:"condition"`
	Label     string          `json:"label"`
	Verified  bool            `json:"verified"` // it is about mail whose sender the server has verified alone
	Messages  int             `json:"messages"` // of those that were looked at, about which it is
	Why       string          `json:"why"`
}

// Rule returns the rule.
func (s *Suggestion) Rule() rules.Rule {
	r := rules.NewRule(s.Name, s.Condition, postroom.ApplyLabel, postroom.Parameters{postroom.ParamLabel: s.Label})
	if s.Verified {
		r.Authentication = rules.AuthenticationRequired
	}
	return r
}

// suggest adds the rules and their labels.
func (l *look) suggest() {
	l.report.Rules, l.report.Labels = []Suggestion{}, []Label{}
	taken := map[string]bool{}
	for i := range l.options.Rules {
		taken[l.options.Rules[i].Name] = true
	}
	for _, of := range l.bySize() {
		g := l.groups[of]
		if len(l.report.Rules) == MaxRules || g.Messages < enough {
			return
		}
		s, ok := l.suggestion(of, g)
		if !ok || taken[s.Name] {
			continue
		}
		taken[s.Name] = true
		l.report.Rules = append(l.report.Rules, s)
		l.addLabel(s.Label)
	}
}

// suggestion returns the rule about a source, if there should be one.
func (l *look) suggestion(of source, g *group) (s Suggestion, ok bool) {
	proven := 100*g.verified >= provable*g.Messages
	condition := rules.Condition{Type: rules.SenderEmail, Value: of.id}
	if of.list {
		condition = rules.Condition{Type: rules.ListID, Value: of.id}
	}
	switch {
	case strings.ContainsAny(of.id, "*<> ") || strings.ContainsFunc(of.id, unhealthy) || len(of.id) > 150:
		return s, false // a stranger has written it
	case !of.list && (!proven || g.Kind != Newsletter && g.Kind != Automatic):
		return s, false
	case l.decided(condition):
		return s, false
	}
	label, why := l.habit(g)
	if label == "" {
		label, why = newLabel(of, g.Kind), fmt.Sprintf("%d of the newest %d messages", g.Messages, l.report.Messages)
	}
	return Suggestion{"Label mail of " + of.id, condition, label, proven, g.Messages, why}, true
}

func unhealthy(r rune) bool { return !unicode.IsPrint(r) || r > unicode.MaxASCII }

// decided reports whether a rule of the owner has the condition.
func (l *look) decided(c rules.Condition) bool {
	return slices.ContainsFunc(l.options.Rules, func(r rules.Rule) bool {
		return r.Enabled && r.Condition.Type == c.Type && strings.EqualFold(r.Condition.Value, c.Value)
	})
}

// habit returns the label that the owner puts on nearly all mail of a source; empty if there is none.
func (l *look) habit(g *group) (name, why string) {
	for _, id := range slices.Sorted(maps.Keys(g.labels)) {
		at := slices.IndexFunc(l.options.Labels, func(o postroom.Label) bool {
			return o.ID == id && o.Type == postroom.LabelUser
		})
		if at >= 0 && 100*g.labels[id] >= labelled*g.Messages {
			return l.options.Labels[at].Name, fmt.Sprintf("%d of its %d messages have this label already", g.labels[id],
				g.Messages)
		}
	}
	return "", ""
}

// newLabel returns the name of a label for mail of a kind.
func newLabel(of source, kind Kind) string {
	if of.list {
		name, _, _ := strings.Cut(of.id, ".")
		return "Lists/" + name
	}
	if kind == Newsletter {
		return "Newsletters"
	}
	return "Notifications/" + of.id[strings.LastIndexByte(of.id, '@')+1:]
}

// addLabel adds the label of a rule.
func (l *look) addLabel(name string) {
	if slices.ContainsFunc(l.report.Labels, func(o Label) bool { return o.Name == name }) {
		return
	}
	exists := slices.ContainsFunc(l.options.Labels, func(o postroom.Label) bool { return strings.EqualFold(o.Name, name) })
	l.report.Labels = append(l.report.Labels, Label{name, exists})
}
