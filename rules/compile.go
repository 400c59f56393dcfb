package rules

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/rules/internal/prefilter"
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
// authentication of the message. Without the engine, no other mail
// is known: no sender counts as seen before.
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

// A compiler compiles rules.
type compiler struct {
	kinds *postroom.Kinds
	knows need // what rules may ask of other mail
	// accountID is the account that all messages and rules are of; empty: of any. Then no rule is looked for by its
	// account, and rules of two accounts that are equal otherwise have one shape.
	accountID string
}

// A shape is what a set needs to find the rules that match a message: it knows their conditions and scopes, in order,
// and neither their names nor what they do. The mailboxes that have the same rules share it.
type shape struct {
	code  *code
	tests []tests
	index *prefilter.Index

	conditions []Condition // of all rules that the shape was made of
	isBroken   []bool      // and which of them it leaves out

	needs       need // what the rules ask of other mail
	readsBodies bool // a rule reads the texts of messages
	searches    *sync.Pool
}

// tests are what decides whether a rule matches, besides its scope.
type tests struct {
	root      node
	calendar  *calendar
	mustProve bool // the sender must be verified
	meaning   need // what must be known of the meaning
}

// newShape compiles rules that are in order and have no faults but those of their conditions.
func (c *compiler) newShape(rules []Rule) *shape {
	s := &shape{code: newCode(), conditions: make([]Condition, len(rules)), isBroken: make([]bool, len(rules))}
	s.searches = &sync.Pool{New: func() any { return &search{} }}
	var keys []prefilter.Key
	for i := range rules {
		r := &rules[i]
		s.conditions[i] = r.Condition
		root, faults := s.code.compileTree(r.Condition)
		if s.isBroken[i] = len(faults) > 0 || root.needs(s.code)&^c.knows != 0; s.isBroken[i] {
			continue
		}
		s.needs |= root.needs(s.code)
		s.readsBodies = s.readsBodies || root.any(s.code, func(l *predicate) bool { return l.body })
		calendar, _ := r.Schedule.compile() // its faults are those of the rule
		s.tests = append(s.tests, tests{root, calendar, r.mustProve(s.code, &root), root.needs(s.code) & needsMeaning})
		keys = append(keys, c.keyOfRule(s.code, r, &root))
	}
	s.index = prefilter.New(keys, s.code.sourceKinds())
	s.code.forget()
	return s
}

// fault returns why a rule is broken.
func (c *compiler) fault(r *Rule) error {
	if err := r.Validate(c.kinds); err != nil {
		return err
	}
	k, lacks := newCode(), ErrNoSenders
	root, _ := k.compileTree(r.Condition)
	switch missing := root.needs(k) &^ c.knows; {
	case missing&needsHistory != 0:
		lacks = ErrNoHistory
	case missing&needsMeaning != 0:
		lacks = ErrNoMeanings
	}
	return fmt.Errorf("%w %q: %w", ErrInvalidRule, r.Name, lacks)
}

// A shapeKey is equal for rules of one shape.
type shapeKey [sha256.Size]byte

// keyOf returns the key of the shape of rules; false if it has none.
func (c *compiler) keyOf(rules []Rule) (key shapeKey, ok bool) {
	h := sha256.New()
	text := json.NewEncoder(h)
	for i := range rules {
		r := &rules[i]
		scope, ref := c.scope(r)
		if err := text.Encode([]any{r.Condition, r.Schedule, scope, ref, r.SafeMode, r.Authentication}); err != nil {
			return key, false
		}
	}
	return shapeKey(h.Sum(nil)), true
}

// scope returns the scope that tells the rule's mail from other mail of the account.
func (c *compiler) scope(r *Rule) (scope Scope, ref string) {
	switch {
	case c.accountID != "" && r.Scope == ScopeAccount:
		return ScopeGlobal, ""
	case c.accountID == "" && r.Scope == ScopeGlobal && r.AccountID != "":
		return ScopeAccount, r.AccountID
	default:
		return r.Scope, r.ScopeRef
	}
}
