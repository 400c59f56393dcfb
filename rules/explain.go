package rules

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/rules/internal/lists"
)

// An Explanation has the results of the rules for one message.
type Explanation struct {
	// Decisions are the decisions of [Engine.DecideAll].
	Decisions []postroom.Decision
	// Rules are all rules in the order in which they are tried; disabled and broken ones come last.
	Rules []RuleExplanation
	// Unsure is why it cannot be found out now whether the sender has written before, as while Gmail cannot be asked: the
	// rules are then explained as if not. Nil if it is known, or no rule needs it.
	Unsure error
}

// An Outcome is the result of a rule.
type Outcome string

// The outcomes.
const (
	Matched    Outcome = "matched"
	NoMatch    Outcome = "no_match"
	OutOfScope Outcome = "out_of_scope" // the message is another account's, domain's or sender's
	OutOfTime  Outcome = "out_of_time"  // by its schedule it is off now
	// Unverified means that the condition matches, and the sender is not authenticated as the rule demands.
	Unverified   Outcome = "unverified"
	NotTried     Outcome = "not_tried"      // a rule before it decided
	RuleDisabled Outcome = "disabled"       // by a person, or with a reason by the program
	RuleBroken   Outcome = "cannot_be_used" // it cannot be evaluated
)

// A RuleExplanation explains the result of one rule.
type RuleExplanation struct {
	Rule    Rule
	Outcome Outcome
	// Reason says why, in words; for a rule that matched, its condition.
	Reason string
	// Failed are the predicates that make the condition fail. A predicate within "not" failed by matching.
	Failed []FailedPredicate
}

// A FailedPredicate is a predicate that makes a condition fail.
type FailedPredicate struct {
	Path      string // as in [ConditionError]
	Predicate string // the predicate for people, with "not" before it if it was not to match
	Found     string // the value in the message; may be empty
}

// Explain explains the results of the stored rules for a message now: those of its account, and those of all accounts.
// It changes nothing.
func (e *Engine) Explain(ctx context.Context, msg *postroom.Message) (*Explanation, error) {
	all, err := e.store.ListOf(ctx, msg.AccountID)
	if err != nil {
		return nil, err
	}
	set, now := newSet(all, e.store.Kinds(), e.knows()), time.Now()
	f, unsure := e.factsOf(ctx, set, msg, now)
	if unsure != nil {
		f = e.facts(ctx)
	}
	explanation := set.ExplainWith(msg, now, f)
	explanation.Unsure = unsure
	for _, r := range all {
		if !r.Enabled {
			explanation.Rules = append(explanation.Rules, RuleExplanation{
				Rule: r, Outcome: RuleDisabled, Reason: cmp.Or(r.DisabledReason, "it is disabled"),
			})
		}
	}
	return explanation, nil
}

// Explain explains the results of the rules for a message.
func (s *Set) Explain(msg *postroom.Message, now time.Time) *Explanation {
	return s.ExplainWith(msg, now, &Facts{Server: GmailServer})
}

// ExplainWith is [Set.Explain] with facts that are not in the message.
func (s *Set) ExplainWith(msg *postroom.Message, now time.Time, f *Facts) *Explanation {
	x := &Explanation{Decisions: s.decide(msg, now, f)}
	v := &view{}
	v.reset(s.code, msg, now, f)
	decidedBy := ""
	for i := range s.rules {
		c := s.at(i)
		if decidedBy != "" {
			x.Rules = append(x.Rules, RuleExplanation{Rule: *c.rule, Outcome: NotTried,
				Reason: fmt.Sprintf("rule '%s' had decided", decidedBy)})
			continue
		}
		x.Rules = append(x.Rules, c.explain(v))
		if x.Rules[i].Outcome == Matched && !c.rule.Continue {
			decidedBy = c.rule.Name
		}
	}
	for _, b := range s.broken {
		x.Rules = append(x.Rules, RuleExplanation{Rule: b.Rule, Outcome: RuleBroken, Reason: b.Err.Error()})
	}
	return x
}

func (c compiled) explain(v *view) RuleExplanation {
	x := RuleExplanation{Rule: *c.rule}
	switch {
	case !c.rule.sees(v):
		x.Outcome, x.Reason = OutOfScope, c.rule.scopeReason(v)
	case !c.calendar.includes(v.now):
		x.Outcome, x.Reason = OutOfTime, "its schedule is off at "+
			v.now.In(c.calendar.zone).Format("2006-01-02 15:04 Mon -0700")
	case v.facts.Meaning.unknown(c.meaning) != 0:
		x.Outcome, x.Reason = NoMatch, "what the message means is not known yet, or not surely"
	case !c.root.match(v):
		x.Outcome, x.Failed = NoMatch, c.root.failures(v, &c.rule.Condition, "", false)
		x.Reason = joinFailures(x.Failed)
	case c.mustProve && !v.isAuthenticated():
		x.Outcome, x.Reason = Unverified,
			fmt.Sprintf("the domain of %q is not authenticated, and the rule goes by its sender", v.msg.From.Email)
	default:
		x.Outcome, x.Reason = Matched, c.rule.Condition.String()
	}
	return x
}

func (r *Rule) scopeReason(v *view) string {
	if r.AccountID != "" && r.AccountID != v.msg.AccountID {
		return "it belongs to account " + r.AccountID
	}
	return fmt.Sprintf("its scope is %s %s", r.Scope, r.ScopeRef)
}

// failures returns the predicates that make a condition fail, or match although it must not.
func (n *node) failures(v *view, c *Condition, path string, opposite bool) []FailedPredicate {
	if n.op == "" {
		return []FailedPredicate{v.failure(n.atom, c, path, opposite)}
	}
	var failed []FailedPredicate
	every := n.op == Or != opposite // then all children have failed; otherwise the first that has is the reason
	for i := range n.children {
		child := &n.children[i]
		inner := opposite != (n.op == Not)
		if child.match(v) == !inner {
			continue
		}
		failed = append(failed, child.failures(v, &c.Children[i], JoinPath(path, fmt.Sprintf("children[%d]", i)), inner)...)
		if !every {
			break
		}
	}
	return failed
}

func (v *view) failure(atom int32, c *Condition, path string, opposite bool) FailedPredicate {
	f := FailedPredicate{Path: path, Predicate: c.String()}
	if opposite {
		f.Predicate = "not " + f.Predicate
	}
	if explain := v.code.atoms[atom].explain; explain != nil {
		f.Found = explain(v)
	}
	return f
}

func joinFailures(failed []FailedPredicate) string {
	texts := lists.Texts(failed, func(f FailedPredicate) string {
		if f.Found == "" {
			return f.Predicate
		}
		return f.Predicate + " (" + f.Found + ")"
	})
	const shown = 5
	if more := len(texts) - shown; more > 0 {
		texts = append(texts[:shown:shown], fmt.Sprintf("and %d more", more))
	}
	return "it fails: " + strings.Join(texts, "; ")
}

// String formats the explanation for people: the decisions, then each rule and its reason.
func (x *Explanation) String() string {
	var b strings.Builder
	for _, d := range x.Decisions {
		fmt.Fprintf(&b, "%s: %s\n", d.Action, d.Rationale)
	}
	for _, r := range x.Rules {
		fmt.Fprintf(&b, "\n%-14s %s (priority %d)\n", r.Outcome, r.Rule.Name, r.Rule.Priority)
		fmt.Fprintf(&b, "               %s\n", r.Reason)
	}
	return b.String()
}

// Of returns the explanation of the rule with the id.
func (x *Explanation) Of(ruleID string) (RuleExplanation, bool) {
	i := slices.IndexFunc(x.Rules, func(r RuleExplanation) bool { return r.Rule.ID == ruleID })
	if i < 0 {
		return RuleExplanation{}, false
	}
	return x.Rules[i], true
}
