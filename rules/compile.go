package rules

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/postroom-go/postroom"
)

// A Program is a compiled condition, safe for concurrent use.
type Program struct {
	code *code
	root node
}

// Compile checks a condition and prepares it for evaluation. The error holds every fault, each a [ConditionError].
func Compile(c Condition) (*Program, error) {
	k := newCode()
	root, faults := k.compileTree(c)
	if err := joinFaults(faults); err != nil {
		return nil, err
	}
	return &Program{code: k, root: root}, nil
}

func joinFaults(faults []*ConditionError) error {
	errs := make([]error, len(faults))
	for i, f := range faults {
		errs[i] = f
	}
	return errors.Join(errs...)
}

// Match reports whether the message matches; ages are measured against now. It trusts Gmail's results on the
// authentication of the message. Without the engine, no sender counts as seen before.
func (p *Program) Match(msg *postroom.Message, now time.Time) bool {
	v := &view{}
	v.reset(p.code, msg, now, &Facts{Server: GmailServer})
	return p.root.match(v)
}

func (k *code) compileTree(c Condition) (node, []*ConditionError) {
	var faults []*ConditionError
	root := k.compileNode(&c, "", 1, &faults)
	return root, faults
}

// compileNode compiles the part of a condition at path, adding its faults to faults.
func (k *code) compileNode(c *Condition, path string, depth int, faults *[]*ConditionError) node {
	add := func(e *ConditionError) {
		e.Path = JoinPath(path, e.Path)
		*faults = append(*faults, e)
	}
	if depth > MaxDepth {
		add(&ConditionError{Err: ErrTooDeep, Detail: fmt.Sprintf("at most %d levels are allowed", MaxDepth)})
		return node{}
	}
	if e := c.shape(); e != nil {
		add(e)
		if c.Op == "" {
			return node{}
		}
	}
	if c.Op == "" {
		return k.compilePredicate(c, add)
	}
	n := node{op: c.Op, children: make([]node, len(c.Children))}
	for i := range c.Children {
		n.children[i] = k.compileNode(&c.Children[i], JoinPath(path, fmt.Sprintf("children[%d]", i)), depth+1, faults)
	}
	return n
}

// JoinPath returns the path of a field within a condition.
func JoinPath(path, part string) string {
	if path == "" || part == "" {
		return path + part
	}
	return path + "." + part
}

// compilePredicate compiles a predicate, unless an equal one is there.
func (k *code) compilePredicate(c *Condition, add func(*ConditionError)) node {
	if faults := c.fields(); len(faults) > 0 {
		for _, e := range faults {
			add(e)
		}
		return node{}
	}
	key, err := json.Marshal(c)
	if err != nil { // a condition holds only texts and numbers
		add(&ConditionError{Err: ErrBadValue, Detail: err.Error()})
		return node{}
	}
	if id, known := k.atomIDs[string(key)]; known {
		return node{atom: id}
	}
	l, e := kinds[c.Type].compile(k, c)
	if e != nil {
		add(e)
		return node{}
	}
	return node{atom: k.atom(string(key), l)}
}

// compileFact makes a predicate without fields.
func compileFact(test predicateTest) func(*code, *Condition) (predicate, *ConditionError) {
	return func(*code, *Condition) (predicate, *ConditionError) { return predicate{test: test}, nil }
}

// badValue is the fault of a value.
func badValue(path, detail, hint string) *ConditionError {
	return &ConditionError{Path: path, Err: ErrBadValue, Detail: detail, Hint: hint}
}

// eachValue calls check with each value of a predicate and its path, until one is faulty.
func (c *Condition) eachValue(check func(path, value string) *ConditionError) *ConditionError {
	if c.Values == nil {
		return check("value", c.Value)
	}
	for i, value := range c.Values {
		if e := check(fmt.Sprintf("values[%d]", i), value); e != nil {
			return e
		}
	}
	return nil
}
