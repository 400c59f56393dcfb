package safety

import (
	"fmt"
	"slices"

	"github.com/postroom-go/postroom"
)

// A Policy configures a [Gate]. The zero Policy uses the defaults. No policy lets a dangerous action pass without approval;
// only the user's own rule, set to [postroom.SafeDangerousOverride], does.
type Policy struct {
	// ConfidenceThreshold is the confidence below which a decision needs approval; one that equals it passes. Default 0.7;
	// bounds: above 0, at most 1.
	ConfidenceThreshold float64

	// ApprovalAlways lists the actions that need approval whatever the confidence. Default nil: delete, forward, auto_reply
	// and escalate. An empty list that is not nil lists none.
	ApprovalAlways []postroom.ActionType
}

const defaultThreshold = 0.7

func (p Policy) withDefaults() (Policy, error) {
	if p.ConfidenceThreshold == 0 {
		p.ConfidenceThreshold = defaultThreshold
	}
	if !(p.ConfidenceThreshold > 0 && p.ConfidenceThreshold <= 1) {
		return p, fmt.Errorf("safety: Policy.ConfidenceThreshold is %v; it must be above 0 and at most 1", p.ConfidenceThreshold)
	}
	if p.ApprovalAlways == nil {
		p.ApprovalAlways = []postroom.ActionType{postroom.Delete, postroom.Forward, postroom.AutoReply, postroom.Escalate}
	}
	p.ApprovalAlways = slices.Clone(p.ApprovalAlways)
	for i, t := range p.ApprovalAlways {
		if !t.Valid() {
			return p, fmt.Errorf("safety: Policy.ApprovalAlways[%d] is %q, which is no action; the actions are %v",
				i, string(t), postroom.ActionTypes())
		}
	}
	return p, nil
}
