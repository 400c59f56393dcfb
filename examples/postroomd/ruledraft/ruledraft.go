// Package ruledraft writes the draft of a rule from one message, for a person to look at, change and save.
package ruledraft

import (
	"fmt"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/rules"
)

// Actions are what a draft may do: each can be taken back. None keeps all other rules, and models, from such mail.
var Actions = []postroom.ActionType{
	postroom.Archive, postroom.ApplyLabel, postroom.Move, postroom.MarkRead, postroom.Star, postroom.None,
}

// An Order says what a rule is to do with mail like a message.
type Order struct {
	Action postroom.ActionType
	Label  string // its name; for an action that takes one
	// Decider is the rule that decides about such mail now, which the draft goes before; nil if there is none. See
	// [DeciderOf].
	Decider *rules.Rule
	About   About // which mail is like the message; empty: that of its list, or else of its sender
}

// DeciderOf returns the rule that decides about a message: of those that match, which let others be tried as well, the
// last one. It is nil if none matches.
func DeciderOf(x *rules.Explanation) (decider *rules.Rule) {
	for i := range x.Rules {
		if x.Rules[i].Outcome == rules.Matched {
			decider = &x.Rules[i].Rule
		}
	}
	return decider
}

// Of returns a rule about the mail of the message's list, or else of its sender, with a name that none of the rules
// has. If the sender of the message is verified, the rule is about such mail alone. An order that a draft cannot
// follow is a [usage.Error].
func Of(m *postroom.Message, o Order, among []rules.Rule) (rules.Rule, error) {
	about, err := o.About.source(m)
	if err != nil {
		return rules.Rule{}, err
	}
	what, params, err := o.does()
	if err != nil {
		return rules.Rule{}, err
	}
	rule := rules.NewRule(namesOf(among).take(cut(what+" mail of "+about.Value)), about, o.Action, params)
	proved, err := verified(m)
	if err != nil {
		return rules.Rule{}, err
	}
	if proved {
		rule.Authentication = rules.AuthenticationRequired
	}
	if o.Decider != nil {
		rule.Priority = max(o.Decider.Priority-1, -rules.MaxPriority)
		// What comes after the decider has such mail now, and still has it, unless it is to be left alone.
		rule.Continue = o.Decider.Continue && o.Action != postroom.None
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
	case postroom.None:
		return "Leave alone", nil, nil
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

// takenNames are the names of rules, each with the number that the next of this name is tried with.
type takenNames map[string]int

func namesOf(among []rules.Rule) takenNames {
	taken := takenNames{}
	for i := range among {
		taken[among[i].Name] = 2
	}
	return taken
}

// take numbers the name if a rule has it.
func (t takenNames) take(name string) string {
	free := name
	for next, taken := t[name]; taken; next++ {
		free = fmt.Sprintf("%s (%d)", name, next)
		t[name] = next + 1
		_, taken = t[free]
	}
	t[free] = 2
	return free
}
