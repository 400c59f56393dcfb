package rules

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
)

// A Set is a list of rules, compiled and put in order. It never changes and is safe for use by several goroutines.
type Set struct {
	rules  []compiled
	broken []Broken
	// byAudience lists, for each audience, the positions of its rules, ascending.
	byAudience map[audience][]int
}

type compiled struct {
	rule    Rule
	program *Program
}

// A Broken rule is one that cannot be evaluated. It never keeps the others from matching.
type Broken struct {
	Rule Rule
	Err  error
}

// An audience is whose mail a rule looks at, with references in the form they are compared in.
type audience struct {
	accountID string
	scope     Scope
	ref       string
}

// NewSet compiles the enabled ones of the rules, in any order. Those that are broken are set aside.
func NewSet(rules []Rule) *Set {
	s := &Set{byAudience: map[audience][]int{}}
	for _, rule := range rules {
		if !rule.Enabled {
			continue
		}
		rule.normalize()
		program, err := rule.compile()
		if err != nil {
			s.broken = append(s.broken, Broken{rule, err})
			continue
		}
		s.rules = append(s.rules, compiled{rule, program})
	}
	slices.SortStableFunc(s.rules, func(a, b compiled) int { return compareRules(&a.rule, &b.rule) })
	for i := range s.rules {
		r := &s.rules[i].rule
		key := audience{r.AccountID, r.Scope, r.ScopeRef}
		s.byAudience[key] = append(s.byAudience[key], i)
	}
	return s
}

func compareRules(a, b *Rule) int {
	return cmp.Or(
		cmp.Compare(a.Priority, b.Priority),
		cmp.Compare(a.Position, b.Position),
		a.CreatedAt.Compare(b.CreatedAt),
		cmp.Compare(a.ID, b.ID),
	)
}

// Len counts the rules that can match.
func (s *Set) Len() int { return len(s.rules) }

// Broken lists the rules that were set aside.
func (s *Set) Broken() []Broken { return slices.Clone(s.broken) }

// First returns the first rule that matches the message, which is the one that counts.
func (s *Set) First(msg *postroom.Message, now time.Time) (Rule, bool) {
	for rule := range s.All(msg, now) {
		return rule, true
	}
	return Rule{}, false
}

// All yields every rule that matches the message, in order; now is what ages are measured against.
func (s *Set) All(msg *postroom.Message, now time.Time) iter.Seq[Rule] {
	return func(yield func(Rule) bool) {
		v := &view{msg: msg, now: now}
		for _, i := range s.candidates(v) {
			if c := &s.rules[i]; c.program.root(v) && !yield(c.rule) {
				return
			}
		}
	}
}

// candidates are the positions of the rules whose scope takes the message in, ascending.
func (s *Set) candidates(v *view) []int {
	var positions []int
	owners := []string{"", v.msg.AccountID}
	if v.msg.AccountID == "" {
		owners = owners[:1]
	}
	for _, owner := range owners {
		positions = append(positions, s.byAudience[audience{owner, ScopeGlobal, ""}]...)
		positions = append(positions, s.byAudience[audience{owner, ScopeAccount, v.msg.AccountID}]...)
		positions = append(positions, s.byAudience[audience{owner, ScopeDomain, v.senderDomain()}]...)
		positions = append(positions, s.byAudience[audience{owner, ScopeSender, lowerASCII(v.msg.From.Email)}]...)
	}
	slices.Sort(positions)
	return positions
}
