package safety

import (
	"fmt"
	"slices"

	"github.com/postroom-go/postroom"
)

// An Override names a check that asks for a person, for machines; the reasons beside it are for people.
type Override string

// The four checks.
const (
	OverrideDangerous      Override = "dangerous_action"
	OverrideLowConfidence  Override = "low_confidence"
	OverrideApprovalAlways Override = "approval_always"
	OverrideRequested      Override = "requested"
)

// A Verdict is what the gate says about one decision. Its JSON is kept with the decision as telemetry.
type Verdict struct {
	// RequiresApproval is true when any check asked for a person.
	RequiresApproval bool `json:"requires_approval"`
	// Overrides and Reasons say which checks asked, in the order of the constants; both are empty when none did.
	Overrides []Override `json:"safety_overrides"`
	Reasons   []string   `json:"override_details"`
	// Released are the checks that would have asked, had the rule's safe mode not answered for its user.
	Released []Override `json:"released,omitempty"`
}

// A Gate judges decisions by a [Policy]. It is safe for concurrent use.
type Gate struct{ policy Policy }

// NewGate makes a gate; a bad policy is an error that names the field.
func NewGate(policy Policy) (*Gate, error) {
	policy, err := policy.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Gate{policy: policy}, nil
}

// Judge runs the four checks, all of them, and collects what asks for a person:
//
//   - the action is [postroom.Dangerous];
//   - the confidence is below the threshold (when nobody decided, there is no confidence to judge);
//   - the action is on the list of those that always wait;
//   - the decision asks for it. That a model does not ask means nothing.
//
// A safe mode counts only when it comes with the rule whose action this is: source deterministic and a rule's id. Then
// [postroom.SafeAlwaysSafe] answers the second and third check for an action that is not dangerous, and does nothing for
// one that is; [postroom.SafeDangerousOverride] answers the first three. Nothing answers the fourth: a rule that asks for
// a person gets one. A model's decision is released by nothing at all.
func (g *Gate) Judge(d postroom.Decision) Verdict {
	v := Verdict{Overrides: []Override{}, Reasons: []string{}}
	g.checkDanger(&v, d)
	g.checkConfidence(&v, d)
	g.checkList(&v, d)
	checkRequest(&v, d)
	v.RequiresApproval = len(v.Overrides) > 0
	return v
}

func (g *Gate) checkDanger(v *Verdict, d postroom.Decision) {
	if d.Action.Danger() == postroom.Dangerous {
		v.ask(d, OverrideDangerous, "action is classified as dangerous")
	}
}

// checkConfidence compares so that NaN is below every threshold.
func (g *Gate) checkConfidence(v *Verdict, d postroom.Decision) {
	if d.Source == postroom.SourceNone || d.Confidence >= g.policy.ConfidenceThreshold {
		return
	}
	v.ask(d, OverrideLowConfidence, belowThreshold(d.Confidence, g.policy.ConfidenceThreshold))
}

// belowThreshold shows two decimals, and more where two would look equal.
func belowThreshold(confidence, threshold float64) string {
	for digits := 2; ; digits++ {
		c, t := fmt.Sprintf("%.*f", digits, confidence), fmt.Sprintf("%.*f", digits, threshold)
		if c != t || digits == 17 {
			return "confidence " + c + " is below threshold " + t
		}
	}
}

func (g *Gate) checkList(v *Verdict, d postroom.Decision) {
	if slices.Contains(g.policy.ApprovalAlways, d.Action) {
		v.ask(d, OverrideApprovalAlways, "action type is in approval_always list")
	}
}

func checkRequest(v *Verdict, d postroom.Decision) {
	if !d.NeedsApproval {
		return
	}
	reason := "LLM explicitly requested approval"
	if d.Source == postroom.SourceDeterministic {
		reason = "rule explicitly requested approval"
	}
	v.ask(d, OverrideRequested, reason)
}

func (v *Verdict) ask(d postroom.Decision, check Override, reason string) {
	if releases(d, check) {
		v.Released = append(v.Released, check)
		return
	}
	v.Overrides = append(v.Overrides, check)
	v.Reasons = append(v.Reasons, reason)
}

// releases tells whether the decision is a rule's own and the rule's safe mode answers the check.
func releases(d postroom.Decision, check Override) bool {
	if d.Source != postroom.SourceDeterministic || d.RuleID == "" || check == OverrideRequested {
		return false
	}
	switch d.SafeMode {
	case postroom.SafeDangerousOverride:
		return d.Action.Valid()
	case postroom.SafeAlwaysSafe:
		return d.Action.Danger() != postroom.Dangerous
	default:
		return false
	}
}
