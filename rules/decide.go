package rules

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dayspan"
)

// Decide returns the first of the decisions of [Set.DecideAll].
func (s *Set) Decide(msg *postroom.Message, now time.Time) postroom.Decision {
	return s.DecideAll(msg, now)[0]
}

// DecideAll returns a decision for each action of the first rule that matches and, while matching rules let the rules
// after them be tried, of those as well. An action that an earlier rule has decided is omitted. There is at least one
// decision: if no rule matches, the one with action none and source none. All but the first have a Key, which is the
// same whenever the same rules decide about the same message.
func (s *Set) DecideAll(msg *postroom.Message, now time.Time) []postroom.Decision {
	return s.decide(msg, now, &Facts{Server: GmailServer})
}

func (s *Set) decide(msg *postroom.Message, now time.Time, f *Facts) []postroom.Decision {
	var decisions []postroom.Decision
	s.each(msg, now, f, func(c compiled) bool {
		for _, action := range c.actions(now) {
			if !decided(decisions, action) {
				decisions = append(decisions, c.decision(action, len(decisions), now))
			}
		}
		return c.rule.Continue
	})
	if len(decisions) > 0 {
		return decisions
	}
	return []postroom.Decision{{
		Action: postroom.None, Confidence: 1, Source: postroom.SourceNone,
		Rationale: "No deterministic rule matched",
	}}
}

// actions are what the rule does now.
func (c compiled) actions(now time.Time) []RuleAction {
	if c.onlyLabels(now) {
		return c.rule.labelActions()
	}
	return c.rule.Actions()
}

// onlyLabels reports whether the rule does not do all of its actions yet.
func (c compiled) onlyLabels(now time.Time) bool {
	last := c.calendar.labelOnly
	return !last.IsZero() && !dayspan.Day(now.In(c.calendar.zone), 0).After(last)
}

func decided(decisions []postroom.Decision, a RuleAction) bool {
	return slices.ContainsFunc(decisions, func(d postroom.Decision) bool {
		same := d.Action == a.Type && len(d.Parameters) == len(a.Parameters)
		return same && (len(a.Parameters) == 0 || reflect.DeepEqual(d.Parameters, a.Parameters))
	})
}

// decision is the decision of the rule for one of its actions, which comes after number others.
func (c compiled) decision(action RuleAction, number int, now time.Time) postroom.Decision {
	r, only := c.rule, ""
	if c.onlyLabels(now) {
		only = "; until " + r.Schedule.LabelOnlyUntil + " it only labels"
	}
	key := ""
	if number > 0 {
		key = "rules:" + strconv.Itoa(number+1)
	}
	asks := c.asksFirst(action.Type)
	return postroom.Decision{
		NeedsApproval:  asks != "",
		ApprovalReason: asks,

		Action:     action.Type,
		Parameters: cloneParameters(action.Parameters),
		Confidence: 1,
		Rationale:  fmt.Sprintf("Matched deterministic rule '%s' (priority %d)%s", r.Name, r.Priority, only),
		Explanations: postroom.Explanations{
			SalientFeatures: []string{r.Condition.String()},
		},
		Source:      postroom.SourceDeterministic,
		RuleID:      r.ID,
		RuleName:    r.Name,
		RuleVersion: c.version(),
		SafeMode:    r.SafeMode,
		Key:         key,
	}
}

// asksFirst says why a person is asked before the action, whatever the safe mode of the rule; empty if nobody is. What
// a mail means may be what the mail has talked a model into: nothing dangerous is done by that alone.
func (c compiled) asksFirst(action postroom.ActionType) string {
	if kind, ok := c.set.kinds.Kind(action); c.meaning == 0 || !ok || kind.Danger != postroom.Dangerous {
		return ""
	}
	return fmt.Sprintf("rule '%s' goes by what was found out about the meaning of the mail", c.rule.Name)
}

// cloneParameters copies JSON values, so that no decision shares memory with its rule.
func cloneParameters(p postroom.Parameters) postroom.Parameters {
	copied := make(postroom.Parameters, len(p))
	for name, value := range p {
		copied[name] = cloneJSON(value)
	}
	return copied
}

func cloneJSON(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return map[string]any(cloneParameters(v))
	case []any:
		copied := make([]any, len(v))
		for i, value := range v {
			copied[i] = cloneJSON(value)
		}
		return copied
	default:
		return v
	}
}
