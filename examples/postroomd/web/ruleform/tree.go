package ruleform

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/postroom-go/postroom/rules"
)

// fill puts what was typed into the condition at a place.
func fill(c *rules.Condition, at string, sent url.Values) {
	if c.Op != "" {
		for i := range c.Children {
			fill(&c.Children[i], at+"."+strconv.Itoa(i), sent)
		}
		if op := rules.Op(sent.Get("op " + at)); op != "" && op != rules.Not && c.Op != rules.Not {
			c.Op = op
		}
		return
	}
	if kind := rules.Kind(sent.Get("type " + at)); kind != "" {
		c.Type = kind
	}
	for _, name := range fieldsOf(c.Type) {
		if sent.Has(name + " " + at) {
			set(c, name, strings.TrimSpace(sent.Get(name+" "+at)))
		}
	}
	*c = kept(*c)
}

// change changes the tree at a place. A place that is not there is an error.
func (f *Form) change(what, at string) error {
	node, parent, i := f.find(at)
	if node == nil {
		return errTree
	}
	switch what {
	case "add":
		if node.Op == "" || node.Op == rules.Not {
			return errTree
		}
		node.Children = append(node.Children, rules.Condition{Type: rules.SenderEmail})
	case "remove":
		if parent == nil || len(parent.Children) < 2 {
			return errTree
		}
		parent.Children = slices.Delete(parent.Children, i, i+1)
	case "all":
		*node = rules.AllOf(*node)
	case "any":
		*node = rules.AnyOf(*node)
	case "not":
		*node = rules.NoneOf(*node)
	case "unwrap":
		if len(node.Children) != 1 {
			return errTree
		}
		*node = node.Children[0]
	default:
		return errTree
	}
	if depth(f.Condition) > rules.MaxDepth {
		return errTree
	}
	return nil
}

// find returns the condition at a place, and the one that it is the child i of.
func (f *Form) find(at string) (node, parent *rules.Condition, i int) {
	root, rest, _ := strings.Cut(at, ".")
	if root != "0" {
		return nil, nil, 0
	}
	node = &f.Condition
	for rest != "" {
		var step string
		step, rest, _ = strings.Cut(rest, ".")
		n, err := strconv.Atoi(step)
		if err != nil || n < 0 || n >= len(node.Children) {
			return nil, nil, 0
		}
		node, parent, i = &node.Children[n], node, n
	}
	return node, parent, i
}

// A Node is a condition of the tree for a template.
type Node struct {
	At       string
	Op       rules.Op
	Type     rules.Kind
	Children []Node
	Inputs   []Input
	Groups   []Group
	Means    string // when a predicate matches
	Removed  bool   // it can be removed
	Unwraps  bool   // it can be replaced by its one child
}

// An Input is a field of a predicate.
type Input struct {
	Name, Field, Value, List string
	Choices                  []string // what it may be, if a few words are all
}

// Root returns the tree for a template.
func (f Form) Root() Node { return nodeOf(f.Condition, "0", false) }

func nodeOf(c rules.Condition, at string, removed bool) Node {
	n := Node{At: at, Op: c.Op, Type: c.Type, Groups: Groups, Removed: removed, Unwraps: len(c.Children) == 1}
	for i, child := range c.Children {
		n.Children = append(n.Children, nodeOf(child, at+"."+strconv.Itoa(i), len(c.Children) > 1))
	}
	if c.Op != "" {
		return n
	}
	n.Means = c.Type.Means()
	for _, field := range fieldsOf(c.Type) {
		in := Input{Name: field + " " + at, Field: field, Value: get(c, field)}
		switch field {
		case match:
			in.Choices = []string{"", string(rules.Is), string(rules.Contains), string(rules.Wildcard), string(rules.Regex)}
		case compare:
			in.Choices = []string{"", "gt", "ge", "lt", "le", "eq", "ne"}
		case value:
			in.List = suggested[c.Type]
		}
		n.Inputs = append(n.Inputs, in)
	}
	return n
}

// suggested are the lists of suggestions for values.
var suggested = map[rules.Kind]string{
	rules.SenderEmail: "senders", rules.To: "senders", rules.Cc: "senders", rules.Address: "senders",
	rules.SenderDomain: "domains", rules.LabelPresent: "labels", rules.ListID: "lists",
}
