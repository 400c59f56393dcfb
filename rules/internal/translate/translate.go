// Package translate has what the imports of Sieve and of Gmail filters share.
package translate

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/rules"
)

// Joined joins conditions; those that are joined by the same operator become one list.
func Joined(op rules.Op, list []rules.Condition) rules.Condition {
	var children []rules.Condition
	for _, c := range list {
		if c.Op == op {
			children = append(children, c.Children...)
		} else {
			children = append(children, c)
		}
	}
	if len(children) == 1 {
		return children[0]
	}
	return rules.Condition{Op: op, Children: children}
}

// SizeText writes a size in the largest unit that says it exactly.
func SizeText(n int64) string {
	factor := int64(1 << 30)
	for _, unit := range []string{"GB", "MB", "KB"} {
		if n > 0 && n%factor == 0 {
			return strconv.FormatInt(n/factor, 10) + unit
		}
		factor >>= 10
	}
	return strconv.FormatInt(n, 10) + "B"
}

// WithValues returns the condition with these values.
func WithValues(c rules.Condition, values []string) rules.Condition {
	if len(values) == 1 {
		c.Value = values[0]
	} else {
		c.Values = values
	}
	return c
}

// WithParameters gives each action non-nil parameters, as actions of files have.
func WithParameters(actions []rules.RuleAction) []rules.RuleAction {
	for i := range actions {
		if actions[i].Parameters == nil {
			actions[i].Parameters = postroom.Parameters{}
		}
	}
	return actions
}

// LabelAction returns the action that applies a label.
func LabelAction(action postroom.ActionType, label string) rules.RuleAction {
	return rules.RuleAction{Type: action, Parameters: postroom.Parameters{postroom.ParamLabel: label}}
}

// SetActions gives the rule its actions; there is at least one.
func SetActions(r *rules.Rule, actions []rules.RuleAction) {
	r.Action, r.Parameters, r.Also = actions[0].Type, actions[0].Parameters, slices.Clone(actions[1:])
}

// Translatable returns why no rule can have the action, or nil.
func Translatable(a rules.RuleAction, kinds *postroom.Kinds) error {
	err := kinds.Check(a.Type, a.Parameters, time.Time{})
	if errors.Is(err, postroom.ErrNotCarriedOut) {
		return fmt.Errorf("the action %s is not carried out here", a.InWords())
	}
	if label, ok := a.Parameters.Text(postroom.ParamLabel); err == nil && ok && !rules.IsSystemLabel(label) {
		err = postroom.CheckLabelName(label)
	}
	return err
}
