// Package ruleform makes one rule a form: a tree of conditions that is edited by one POST a change, without JavaScript.
// The tree is one hidden field; the fields of its predicates are inputs, named by their places in it.
package ruleform

import (
	"encoding/json"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/rules"
)

// A Form is the part of a rule that a form shows.
type Form struct {
	Name      string
	Known     bool // the file has the rule: it keeps its name
	Condition rules.Condition
	Action    postroom.ActionType
	Label     string // of an action that takes one
	Begins    bool   // a new rule only labels at first
	Before    string // the rule that a new one is tried before; empty: after all others
	Marks     []Mark // by the ids of messages
}

// A Mark says of a message whether the rule is right to have it.
type Mark struct {
	ID    string // of the message
	Right bool
}

// MaxMarks bounds the marks of a form.
const MaxMarks = 20

// The values of a mark in a form; another one is none.
const (
	right = "right"
	wrong = "wrong"
)

// Value is the mark as a form has it.
func (m Mark) Value() string {
	if m.Right {
		return right
	}
	return wrong
}

// MarkOf is the mark of a message as a form has it; empty if there is none.
func (f Form) MarkOf(id string) string {
	for _, m := range f.Marks {
		if m.ID == id {
			return m.Value()
		}
	}
	return ""
}

// idLetters are those of the ids of messages.
const idLetters = "0123456789abcdef-"

// readMarks reads the fields that are named after messages.
func readMarks(sent url.Values) (marks []Mark, err error) {
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		id, is := strings.CutPrefix(name, "mark ")
		if value := sent.Get(name); is && strings.Trim(id, idLetters) == "" && (value == right || value == wrong) {
			marks = append(marks, Mark{id, value == right})
		}
	}
	if len(marks) > MaxMarks {
		return nil, usage.Errorf("At most %d messages can be marked at once: take some marks away.", MaxMarks)
	}
	return marks, nil
}

// labelled are the actions that take a label.
var labelled = []postroom.ActionType{postroom.ApplyLabel, postroom.RemoveLabel, postroom.Move}

// Actions are those that a form offers: each can be taken back.
var Actions = append(slices.Clone(labelled), postroom.Archive, postroom.MarkRead, postroom.MarkUnread, postroom.Star,
	postroom.Unstar, postroom.Trash)

// New is the form of a rule that does not exist yet.
func New() Form {
	return Form{Condition: rules.AllOf(rules.Condition{Type: rules.SenderEmail}), Action: postroom.ApplyLabel}
}

// Of is the form of a rule; false if it has what a form does not show.
func Of(r *rules.Rule) (Form, bool) {
	f := Form{Name: r.Name, Known: true, Condition: r.Condition, Action: r.Action}
	f.Label, _ = r.Parameters[postroom.ParamLabel].(string)
	again := *r
	f.Put(&again)
	return f, len(r.Also) == 0 && slices.Contains(Actions, r.Action) && shown(r.Condition) &&
		len(again.Parameters) == len(r.Parameters)
}

// Put sets what the form shows of the rule, and leaves the rest.
func (f Form) Put(r *rules.Rule) {
	r.Name, r.Condition, r.Action, r.Parameters = f.Name, f.Condition, f.Action, nil
	if slices.Contains(labelled, f.Action) {
		r.Parameters = postroom.Parameters{postroom.ParamLabel: f.Label}
	}
}

// shown reports whether a form shows all of a condition.
func shown(c rules.Condition) bool {
	if c.Op != "" {
		return !slices.ContainsFunc(c.Children, func(child rules.Condition) bool { return !shown(child) })
	}
	return reflect.DeepEqual(c, kept(c)) && !slices.ContainsFunc(fieldsOf(c.Type), func(name string) bool {
		text := get(c, name)
		return strings.ContainsAny(text, "\r\n") || strings.TrimSpace(text) != text // an input would lose that
	})
}

// kept is a predicate with the fields alone that a form shows of its kind.
func kept(c rules.Condition) rules.Condition {
	k := rules.Condition{Type: c.Type}
	for _, name := range fieldsOf(c.Type) {
		set(&k, name, get(c, name))
	}
	return k
}

func get(c rules.Condition, field string) string {
	switch field {
	case value:
		return c.Value
	case header:
		return c.Header
	case pattern:
		return c.Pattern
	case named:
		return strings.Join(c.Fields, " ")
	case part:
		return c.Part
	case match:
		return string(c.Match)
	}
	return string(c.Compare)
}

func set(c *rules.Condition, field, to string) {
	switch field {
	case value:
		c.Value = to
	case header:
		c.Header = to
	case pattern:
		c.Pattern = to
	case named:
		if c.Fields = strings.Fields(to); len(c.Fields) == 0 {
			c.Fields = nil
		}
	case part:
		c.Part = to
	case match:
		c.Match = rules.Match(to)
	case compare:
		c.Compare = rules.Compare(to)
	}
}

// Tree is the condition as the hidden field has it.
func (f Form) Tree() (string, error) {
	text, err := json.Marshal(f.Condition)
	return string(text), err
}

// Read reads what was sent, and makes the change that "do" names, as "add 0.1".
func Read(sent url.Values) (Form, error) {
	f := Form{Name: strings.TrimSpace(sent.Get("name")), Known: sent.Get("known") != "",
		Action: postroom.ActionType(sent.Get("action")), Label: strings.TrimSpace(sent.Get("label")),
		Begins: sent.Get("begins") != "", Before: sent.Get("before")}
	if err := json.Unmarshal([]byte(sent.Get("tree")), &f.Condition); err != nil || depth(f.Condition) > rules.MaxDepth {
		return f, errTree
	}
	fill(&f.Condition, "0", sent)
	var err error
	if f.Marks, err = readMarks(sent); err != nil {
		return f, err
	}
	what, at, changes := strings.Cut(sent.Get("do"), " ")
	if !changes {
		return f, nil
	}
	return f, f.change(what, at)
}

var errTree = usage.Errorf("The form came back damaged, or is nested too deeply: open it again.")

func depth(c rules.Condition) int {
	deepest := 0
	for _, child := range c.Children {
		deepest = max(deepest, depth(child))
	}
	return deepest + 1
}
