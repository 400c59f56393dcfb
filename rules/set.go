package rules

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/mailname"
	"github.com/postroom-go/postroom/rules/internal/prefilter"
)

// A Set is a compiled and ordered list of rules. It is immutable and safe for concurrent use.
type Set struct {
	code   *code
	rules  []compiled
	index  *prefilter.Index
	broken []Broken

	asksSenders bool // a rule asks whether the sender has written before
	searches    *sync.Pool
}

type compiled struct {
	rule      Rule
	root      node
	calendar  *calendar
	mustProve bool // the sender must be verified
	version   func() string
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
// sender_seen are broken: only an [Engine] and a backtest know earlier senders.
func NewSet(rules []Rule, kinds *postroom.Kinds) *Set { return newSet(rules, kinds, false) }

func newSet(rules []Rule, kinds *postroom.Kinds, knowsSenders bool) *Set {
	s := &Set{code: newCode()}
	for _, rule := range rules {
		if !rule.Enabled {
			continue
		}
		rule.Normalize()
		root, err := rule.compile(s.code, kinds)
		if err == nil && root.any(s.code, func(l *predicate) bool { return l.history }) {
			if s.asksSenders = s.asksSenders || knowsSenders; !knowsSenders {
				err = fmt.Errorf("%w %q: %w", ErrInvalidRule, rule.Name, ErrNoSenders)
			}
		}
		if err != nil {
			s.broken = append(s.broken, Broken{rule, err})
			continue
		}
		calendar, _ := rule.Schedule.compile() // compile has seen its faults
		s.rules = append(s.rules, compiled{rule, root, calendar, rule.mustProve(s.code, &root), sync.OnceValue(rule.Version)})
	}
	slices.SortStableFunc(s.rules, func(a, b compiled) int { return Order(&a.rule, &b.rule) })
	s.makeIndex()
	s.searches = &sync.Pool{New: func() any { return &search{} }}
	return s
}

// makeIndex makes the index, after which the keys are not needed any more.
func (s *Set) makeIndex() {
	keys := make([]prefilter.Key, len(s.rules))
	for i := range s.rules {
		keys[i] = s.code.keyOfRule(&s.rules[i])
	}
	s.index = prefilter.New(keys, s.code.sourceKinds())
	for i := range s.code.atoms {
		s.code.atoms[i].key = prefilter.Key{}
	}
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
	list := make([]Rule, len(s.rules))
	for i := range s.rules {
		list[i] = s.rules[i].rule
	}
	return list
}

// AsksSenders reports whether a rule asks whether the sender has written before; see [Facts].
func (s *Set) AsksSenders() bool { return s.asksSenders }

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
		s.each(msg, now, &Facts{Server: GmailServer}, func(_ int, c *compiled) bool { return yield(c.rule) })
	}
}

// AllWith is [Set.All] with facts that are not in the message. It yields each rule with its index in [Set.Rules]; the
// rule must not be modified.
func (s *Set) AllWith(msg *postroom.Message, now time.Time, f *Facts) iter.Seq2[int, *Rule] {
	return func(yield func(int, *Rule) bool) {
		s.each(msg, now, f, func(i int, c *compiled) bool { return yield(i, &c.rule) })
	}
}

// A search finds the rules of a set that match one message. It is used again for the next one.
type search struct {
	prefilter.Search

	view view
}

// each calls yield with the rules that match, in order, until it returns false.
func (s *Set) each(msg *postroom.Message, now time.Time, f *Facts, yield func(i int, c *compiled) bool) {
	found := s.searches.Get().(*search) //nolint:forcetypeassert // the pool holds nothing else
	defer func() {
		found.view.release()
		s.searches.Put(found)
	}()
	v := &found.view
	v.reset(s.code, msg, now, f)
	found.Start(s.index, v)
	for i := found.Next(s.index, v, 0); i >= 0; i = found.Next(s.index, v, i+1) {
		if c := &s.rules[i]; c.matches(v) && !yield(int(i), c) {
			return
		}
	}
}

func (c *compiled) matches(v *view) bool {
	return c.rule.sees(v) && c.calendar.includes(v.now) && c.root.match(v) && (!c.mustProve || v.isAuthenticated())
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

// NewSetWithSenders is [NewSet] for a caller that gives [Facts] with each message: rules with sender_seen are not
// broken.
func NewSetWithSenders(rules []Rule, kinds *postroom.Kinds) *Set { return newSet(rules, kinds, true) }
