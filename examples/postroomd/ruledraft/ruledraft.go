// Package ruledraft writes the draft of a rule from one message, for a person to look at, change and save.
package ruledraft

import (
	"fmt"
	"slices"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/rules"
)

// Actions are what a draft may do: each can be taken back.
var Actions = []postroom.ActionType{
	postroom.Archive, postroom.ApplyLabel, postroom.Move, postroom.MarkRead, postroom.Star,
}

// An Order says what a rule is to do with mail like a message.
type Order struct {
	Action  postroom.ActionType
	Label   string // its name; for an action that takes one
	Before  int    // the priority of the rule that decides about such mail now, which the draft goes before
	Decided bool   // there is such a rule
}

// Of returns a rule about the mail of the message's sender, with a name that none of the rules has. An order that a
// draft cannot follow is a [usage.Error].
func Of(m *postroom.Message, o Order, among []rules.Rule) (rules.Rule, error) {
	sender := strings.ToLower(m.From.Email)
	if rules.DomainOf(sender) == "" || strings.ContainsAny(sender, "*<> ") {
		// A sender writes what stands there: *@example.com would be all of a domain.
		return rules.Rule{}, usage.Errorf("The message has no sender whose mail a rule could be about: write one yourself.")
	}
	what, params, err := o.does()
	if err != nil {
		return rules.Rule{}, err
	}
	rule := rules.NewRule(freeName(cut(what+" mail of "+sender), among),
		rules.Condition{Type: rules.SenderEmail, Value: sender}, o.Action, params)
	if o.Decided {
		rule.Priority = max(o.Before-1, -rules.MaxPriority)
	}
	return rule, nil
}

// does describes the action, with its parameters.
func (o Order) does() (what string, params postroom.Parameters, err error) {
	label := strings.TrimSpace(o.Label)
	switch o.Action {
	case postroom.Archive:
		return "Archive", nil, nil
	case postroom.MarkRead:
		return "Mark as read", nil, nil
	case postroom.Star:
		return "Star", nil, nil
	case postroom.ApplyLabel, postroom.Move:
		if label == "" {
			return "", nil, usage.Errorf("Name the label that such mail is to get.")
		}
		what = map[postroom.ActionType]string{postroom.ApplyLabel: "Label", postroom.Move: "Move"}[o.Action]
		return what, postroom.Parameters{postroom.ParamLabel: label}, nil
	}
	return "", nil, usage.Errorf("A rule from a message does not do that: write one yourself.")
}

// cut leaves room for the number of a name.
func cut(name string) string {
	const most = rules.MaxNameLength - 8
	if runes := []rune(name); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return name
}

// freeName numbers the name if a rule has it.
func freeName(name string, among []rules.Rule) string {
	free := name
	for n := 2; slices.ContainsFunc(among, func(r rules.Rule) bool { return r.Name == free }); n++ {
		free = fmt.Sprintf("%s (%d)", name, n)
	}
	return free
}
