package rules

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
)

// An Aging is a rule that may match a message because the message has become old enough, when nothing else changes.
type Aging struct {
	RuleID   string
	RuleName string
	Version  string          // see [Rule.Version]
	Ages     []time.Duration // of its older_than and the like, ascending; each is one from which on it may match
	Threads  bool            // it asks how long ago something was written in the thread
	StoredAt time.Time       // when the version was stored
}

// Aging returns the rules that may match messages of the account because these have become old enough: those with
// older_than, thread_quiet or since_i_wrote, unless a "not" makes it end with the age. In a rule with newer_than, or
// now, the time of the decision counts: nothing asks again when it has passed.
func (e *Engine) Aging(ctx context.Context, accountID string) ([]Aging, error) {
	set, err := e.current(ctx, accountID)
	if err != nil {
		return nil, err
	}
	var list []Aging
	for i := range set.rules {
		c := set.at(i)
		if !c.rule.isOf(accountID) {
			continue
		}
		if ages := c.rule.Condition.ages(false, nil); len(ages) > 0 {
			slices.Sort(ages)
			list = append(list, Aging{c.rule.ID, c.rule.Name, c.version(), slices.Compact(ages),
				c.rule.Condition.asksThreadAge(), c.rule.UpdatedAt})
		}
	}
	return list, nil
}

// isOf reports whether a rule may be about mail of the account.
func (r *Rule) isOf(accountID string) bool {
	return (r.AccountID == "" || r.AccountID == accountID) && (r.Scope != ScopeAccount || r.ScopeRef == accountID)
}

// ages adds the ages from which on the condition may match.
func (c *Condition) ages(negated bool, found []time.Duration) []time.Duration {
	if c.IsAge() && !negated {
		if age, err := parseAge(c.Value); err == nil {
			return append(found, age)
		}
	}
	for i := range c.Children {
		found = c.Children[i].ages(negated != (c.Op == Not), found)
	}
	return found
}

// IsAge reports whether a predicate begins to match when time passes, and rules are asked again then.
func (c *Condition) IsAge() bool { return c.Type == OlderThan || c.isThreadAge() }

func (c *Condition) isThreadAge() bool { return c.Type == ThreadQuiet || c.Type == SinceIWrote }

func (c *Condition) asksThreadAge() bool {
	return c.isThreadAge() || slices.ContainsFunc(c.Children, func(c Condition) bool { return c.asksThreadAge() })
}

// ErrRuleChanged reports that a rule is no longer stored at the version that is to decide.
var ErrRuleChanged = errors.New("the rule has been changed meanwhile")

// agedKey returns the prefix of the keys of decisions that a version of a rule makes about messages that have become
// old enough.
func (a *Aging) agedKey() string { return "age:" + a.RuleID + ":" + a.Version + ":" }

// decidedBy returns the decisions of the rule, at its version.
func (a *Aging) decidedBy(decisions []postroom.Decision) []postroom.Decision {
	return slices.DeleteFunc(decisions, func(d postroom.Decision) bool {
		return d.RuleID != a.RuleID || d.RuleVersion != a.Version
	})
}

// isIn returns ErrRuleChanged if the set does not have the rule at its version.
func (a *Aging) isIn(s *Set) error {
	for i := range s.rules {
		if c := s.at(i); c.rule.ID == a.RuleID && c.version() == a.Version {
			return nil
		}
	}
	return fmt.Errorf("rule %q: %w", a.RuleName, ErrRuleChanged)
}
