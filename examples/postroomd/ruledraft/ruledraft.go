// Package ruledraft writes the draft of a rule from one message, for a person to look at, change and save.
package ruledraft

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/rules"
)

// Actions are what a draft may do: each can be taken back. None keeps all other rules, and models, from such mail.
var Actions = []postroom.ActionType{
	postroom.Archive, postroom.ApplyLabel, postroom.Move, postroom.MarkRead, postroom.Star, postroom.None,
}

// An Order says what a rule is to do with mail like a message.
type Order struct {
	Action  postroom.ActionType
	Label   string // its name; for an action that takes one
	Before  int    // the priority of the rule that decides about such mail now, which the draft goes before
	Decided bool   // there is such a rule
}

// Of returns a rule about the mail of the message's list, or else of its sender, with a name that none of the rules
// has. If the sender of the message is verified, the rule is about such mail alone. An order that a draft cannot
// follow is a [usage.Error].
func Of(m *postroom.Message, o Order, among []rules.Rule) (rules.Rule, error) {
	about, err := source(m)
	if err != nil {
		return rules.Rule{}, err
	}
	what, params, err := o.does()
	if err != nil {
		return rules.Rule{}, err
	}
	verified, err := rules.Compile(rules.Condition{Type: rules.Authenticated})
	if err != nil {
		return rules.Rule{}, err
	}
	rule := rules.NewRule(freeName(cut(what+" mail of "+about.Value), among), about, o.Action, params)
	if verified.Match(m, time.Now()) {
		rule.Authentication = rules.AuthenticationRequired
	}
	if o.Decided {
		rule.Priority = max(o.Before-1, -rules.MaxPriority)
	}
	return rule, nil
}

// source is the condition that mail is like the message: of its list, or else of its sender.
func source(m *postroom.Message) (rules.Condition, error) {
	header := make(mime.Header, len(m.Headers))
	for i, h := range m.Headers {
		header[i] = mime.Field{Name: h.Name, Value: h.Value}
	}
	if id := strings.ToLower(header.List().ID); id != "" && !strings.ContainsAny(id, wild) {
		return rules.Condition{Type: rules.ListID, Value: id}, nil
	}
	sender := strings.ToLower(m.From.Email)
	if rules.DomainOf(sender) == "" || strings.ContainsAny(sender, wild) {
		return rules.Condition{}, usage.Errorf(
			"The message has no sender whose mail a rule could be about: write one yourself.")
	}
	return rules.Condition{Type: rules.SenderEmail, Value: sender}, nil
}

// wild is what no address has: a sender writes what stands there, and *@example.com would be all of a domain.
const wild = "*<> "

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

// freeName numbers the name if a rule has it.
func freeName(name string, among []rules.Rule) string {
	free := name
	for n := 2; slices.ContainsFunc(among, func(r rules.Rule) bool { return r.Name == free }); n++ {
		free = fmt.Sprintf("%s (%d)", name, n)
	}
	return free
}
