package rules

import (
	"cmp"
	"errors"
	"iter"
	"slices"
	"sync/atomic"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/mailname"
	"github.com/postroom-go/postroom/rules/internal/prefilter"
)

// A Set is a compiled and ordered list of rules. It is immutable and safe for concurrent use.
type Set struct {
	*shape

	kinds    *postroom.Kinds
	rules    []Rule
	versions []atomic.Pointer[string] // of the rules, once they were asked for
	broken   []Broken
}

// A compiled rule is one of a set.
type compiled struct {
	*tests

	rule *Rule
	set  *Set
	i    int
}

// A Broken rule cannot be evaluated. It does not keep the others from matching.
type Broken struct {
	Rule Rule
	Err  error
}

// ErrNoSenders reports that a rule asks whether the sender has written before, and nothing is configured that knows.
var ErrNoSenders = errors.New("the condition sender_seen needs a record of senders, and none is configured")

// NewSet compiles the enabled rules, which may be in any order. [Set.Broken] returns those that cannot be evaluated,
// and those whose action is none of the kinds; nil means the kinds that package gmail carries out. Rules with
// sender_seen, or another condition about other mail or the meaning of mail, are broken: only an
// [Engine] and a backtest know that.
func NewSet(rules []Rule, kinds *postroom.Kinds) *Set { return newSet(rules, kinds, 0) }

func newSet(rules []Rule, kinds *postroom.Kinds, knows need) *Set {
	c := compiler{kinds: kinds, knows: knows}
	return c.set(rules, c.newShape)
}

// set makes a set of the enabled rules. The shape of those that have no fault of their own is what shapeOf returns.
func (c *compiler) set(list []Rule, shapeOf func([]Rule) *shape) *Set {
	s := &Set{kinds: c.kinds}
	for _, rule := range list {
		if rule.Enabled {
			rule.Normalize()
			s.rules = append(s.rules, rule)
		}
	}
	slices.SortStableFunc(s.rules, func(a, b Rule) int { return Order(&a, &b) })
	s.drop(func(_ int, r *Rule) error {
		if r.Damage == nil && len(r.Faults(c.kinds)) == 0 {
			return nil
		}
		return c.fault(r)
	})
	s.shape = shapeOf(s.rules)
	s.drop(func(i int, r *Rule) error {
		if s.isBroken[i] {
			return c.fault(r)
		}
		r.Condition = s.conditions[i] // so that sets of one shape have it once
		return nil
	})
	s.versions = make([]atomic.Pointer[string], len(s.rules))
	return s
}

// drop moves the rules that have a fault to the broken ones.
func (s *Set) drop(fault func(i int, r *Rule) error) {
	kept := s.rules[:0]
	for i := range s.rules {
		r := &s.rules[i]
		if err := fault(i, r); err != nil {
			s.broken = append(s.broken, Broken{*r, err})
			continue
		}
		kept = append(kept, *r)
	}
	clear(s.rules[len(kept):])
	s.rules = kept
}

func (s *Set) at(i int) compiled { return compiled{&s.tests[i], &s.rules[i], s, i} }

// version returns the version of the rule, which takes longer than to match it.
func (c compiled) version() string {
	known := &c.set.versions[c.i]
	if v := known.Load(); v != nil {
		return *v
	}
	v := c.rule.Version()
	known.Store(&v)
	return v
}

// mustProve reports whether the rule matches only mail of verified senders.
func (r *Rule) mustProve(k *code, root *node) bool {
	switch r.Authentication {
	case AuthenticationRequired:
		return true
	case AuthenticationNotRequired:
		return false
	default:
		return r.SafeMode == postroom.SafeDangerousOverride &&
			(r.Scope == ScopeDomain || r.Scope == ScopeSender || root.any(k, func(l *predicate) bool { return l.sender }))
	}
}

// Order compares two rules by the order in which they are tried.
func Order(a, b *Rule) int {
	return cmp.Or(
		cmp.Compare(a.Priority, b.Priority),
		cmp.Compare(a.Position, b.Position),
		a.CreatedAt.Compare(b.CreatedAt),
		cmp.Compare(a.ID, b.ID),
	)
}

// Len returns the number of rules that can match.
func (s *Set) Len() int { return len(s.rules) }

// Rules returns the rules that can match, in the order in which they are tried. They must not be modified.
func (s *Set) Rules() []Rule {
	return slices.Clone(s.rules)
}

// AsksSenders reports whether a rule asks whether the sender has written before; see [Facts].
func (s *Set) AsksSenders() bool { return s.needs&needsSenders != 0 }

// AsksMeaning reports whether a rule asks what a message means; see [Facts].
func (s *Set) AsksMeaning() bool { return s.needs&needsMeaning != 0 }

// ReadsBodies reports whether a rule reads the texts of messages. Without them the rules of another set match the same.
func (s *Set) ReadsBodies() bool { return s.readsBodies }

// Broken returns the rules that cannot be evaluated.
func (s *Set) Broken() []Broken { return slices.Clone(s.broken) }

// First returns the first rule that matches the message.
func (s *Set) First(msg *postroom.Message, now time.Time) (Rule, bool) {
	for rule := range s.All(msg, now) {
		return rule, true
	}
	return Rule{}, false
}

// All yields every rule that matches the message, in order. Ages are measured against now.
func (s *Set) All(msg *postroom.Message, now time.Time) iter.Seq[Rule] {
	return func(yield func(Rule) bool) {
		s.each(msg, now, &Facts{Server: GmailServer}, func(c compiled) bool { return yield(*c.rule) })
	}
}

// AllWith is [Set.All] with facts that are not in the message. It yields each rule with its index in [Set.Rules]; the
// rule must not be modified.
func (s *Set) AllWith(msg *postroom.Message, now time.Time, f *Facts) iter.Seq2[int, *Rule] {
	return func(yield func(int, *Rule) bool) {
		s.each(msg, now, f, func(c compiled) bool { return yield(c.i, c.rule) })
	}
}

// A search finds the rules of a set that match one message. It is used again for the next one.
type search struct {
	prefilter.Search

	view view
}

// each calls yield with the rules that match, in order, until it returns false.
func (s *Set) each(msg *postroom.Message, now time.Time, f *Facts, yield func(c compiled) bool) {
	found := s.searches.Get().(*search) //nolint:forcetypeassert // the pool holds nothing else
	defer func() {
		found.view.release()
		s.searches.Put(found)
	}()
	v := &found.view
	v.reset(s.code, msg, now, f)
	found.Start(s.index, v)
	for i := found.Next(s.index, v, 0); i >= 0; i = found.Next(s.index, v, i+1) {
		if c := s.at(int(i)); c.matches(v) && !yield(c) {
			return
		}
	}
}

func (c compiled) matches(v *view) bool {
	return c.rule.sees(v) && c.calendar.includes(v.now) && v.facts.Meaning.unknown(c.meaning) == 0 &&
		c.root.match(v) && (!c.mustProve || v.isAuthenticated())
}

// sees reports whether the message is in the scope of the rule.
func (r *Rule) sees(v *view) bool {
	if r.AccountID != "" && r.AccountID != v.msg.AccountID {
		return false
	}
	switch r.Scope {
	case ScopeAccount:
		return r.ScopeRef == v.msg.AccountID
	case ScopeDomain:
		return mailname.Domain(r.ScopeRef) == DomainOf(v.msg.From.Email)
	case ScopeSender:
		return mailname.Address(r.ScopeRef) == mailname.Address(v.msg.From.Email)
	default:
		return true
	}
}

// RequiresAuthentication reports whether the rule matches only mail whose sender is authenticated, explicitly or
// implicitly.
func (r *Rule) RequiresAuthentication() bool {
	k := newCode()
	root, faults := k.compileTree(r.Condition)
	return len(faults) > 0 || r.mustProve(k, &root)
}

// NewSetWithFacts is [NewSet] for a caller that gives [Facts] with each message: rules about other mail are not broken.
func NewSetWithFacts(rules []Rule, kinds *postroom.Kinds) *Set {
	return newSet(rules, kinds, needsSenders|needsHistory|needsMeaning)
}

// NewSetWith is NewSetWithFacts for a caller that has only some of the facts; nil stands for what is not known.
func NewSetWith(rules []Rule, kinds *postroom.Kinds, senders Senders, history History) *Set {
	return newSet(rules, kinds, known(senders, history, nil))
}

func known(senders Senders, history History, meanings Meanings) (n need) {
	if senders != nil {
		n |= needsSenders
	}
	if history != nil {
		n |= needsHistory
	}
	if meanings != nil {
		n |= needsMeaning
	}
	return n
}
