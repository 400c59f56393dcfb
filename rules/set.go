package rules

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
)

// A Set is a compiled and ordered list of rules. It is immutable and safe for concurrent use.
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

// A Broken rule cannot be evaluated. It does not keep the others from matching.
type Broken struct {
	Rule Rule
	Err  error
}

// An audience identifies the mail that a rule applies to, with references in the form in which they are compared.
type audience struct {
	accountID string
	scope     Scope
	ref       string
}

// NewSet compiles the enabled rules, which may be in any order. [Set.Broken] returns those that cannot be evaluated.
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

// Len returns the number of rules that can match.
func (s *Set) Len() int { return len(s.rules) }

// Broken returns the rules that cannot be evaluated.
func (s *Set) Broken() []Broken { return slices.Clone(s.broken) }

// First returns the first rule that matches the message: the one that decides.
func (s *Set) First(msg *postroom.Message, now time.Time) (Rule, bool) {
	for rule := range s.All(msg, now) {
		return rule, true
	}
	return Rule{}, false
}

// All yields every rule that matches the message, in order. Ages are measured against now.
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

// candidates returns the positions of the rules whose scope includes the message, ascending.
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
