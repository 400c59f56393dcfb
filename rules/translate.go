// Package translate has what the imports of Sieve and of Gmail filters share.
package rules

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/postroom-go/postroom"
)

// joined joins conditions; those that are joined by the same operator become one list.
func joined(op Op, list []Condition) Condition {
	var children []Condition
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
	return Condition{Op: op, Children: children}
}

// sizeText writes a size in the largest unit that says it exactly.
func sizeText(n int64) string {
	factor := int64(1 << 30)
	for _, unit := range []string{"GB", "MB", "KB"} {
		if n > 0 && n%factor == 0 {
			return strconv.FormatInt(n/factor, 10) + unit
		}
		factor >>= 10
	}
	return strconv.FormatInt(n, 10) + "B"
}

func withValues(c Condition, values []string) Condition {
	if len(values) == 1 {
		c.Value = values[0]
	} else {
		c.Values = values
	}
	return c
}

// withParameters gives each action non-nil parameters, as actions of files have.
func withParameters(actions []RuleAction) []RuleAction {
	for i := range actions {
		if actions[i].Parameters == nil {
			actions[i].Parameters = postroom.Parameters{}
		}
	}
	return actions
}

func labelAction(action postroom.ActionType, label string) RuleAction {
	return RuleAction{action, postroom.Parameters{postroom.ParamLabel: label}}
}

// setActions gives the rule its actions; there is at least one.
func setActions(r *Rule, actions []RuleAction) {
	r.Action, r.Parameters, r.Also = actions[0].Type, actions[0].Parameters, slices.Clone(actions[1:])
}

// translatable returns why no rule can have the action, or nil.
func translatable(a RuleAction, kinds *postroom.Kinds) error {
	err := kinds.Check(a.Type, a.Parameters, time.Time{})
	if errors.Is(err, postroom.ErrNotCarriedOut) {
		return fmt.Errorf("the action %s is not carried out here", a.inWords())
	}
	if label, ok := a.Parameters.Text(postroom.ParamLabel); err == nil && ok && !systemLabel(label) {
		err = postroom.CheckLabelName(label)
	}
	return err
}
