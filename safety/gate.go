package safety

import (
	"fmt"
	"slices"

	"github.com/postroom-go/postroom"
)

// An Override names a check that requires approval.
type Override string

// The four checks.
const (
	OverrideDangerous      Override = "dangerous_action"
	OverrideLowConfidence  Override = "low_confidence"
	OverrideApprovalAlways Override = "approval_always"
	OverrideRequested      Override = "requested"
)

// A Verdict is the result of [Gate.Judge] for one decision. Its JSON is stored with the decision as telemetry.
type Verdict struct {
	// RequiresApproval reports whether any check requires approval.
	RequiresApproval bool `json:"requires_approval"`
	// Overrides are the checks that require approval, in the order of the constants, and Reasons the same for people; both
	// are empty when none does.
	Overrides []Override `json:"safety_overrides"`
	Reasons   []string   `json:"override_details"`
	// Released are the checks that would require approval but for the safe mode of the rule.
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

// Judge runs all four checks. Each requires approval if
//
//   - the action is [postroom.Dangerous];
//   - the confidence is below the threshold (not checked for source none, which has no confidence);
//   - the action is in Policy.ApprovalAlways;
//   - the decision requests approval.
//
// A safe mode counts only in the decision of a rule: source deterministic, with the id of the rule. Then
// [postroom.SafeAlwaysSafe] releases the second and third check for an action that is not dangerous, and nothing for a
// dangerous one; [postroom.SafeDangerousOverride] releases the first three. Nothing releases the fourth, and nothing
// releases a check of a model's decision.
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

// checkConfidence treats NaN as below every threshold.
func (g *Gate) checkConfidence(v *Verdict, d postroom.Decision) {
	if d.Source == postroom.SourceNone || d.Confidence >= g.policy.ConfidenceThreshold {
		return
	}
	v.ask(d, OverrideLowConfidence, belowThreshold(d.Confidence, g.policy.ConfidenceThreshold))
}

// belowThreshold shows two decimals, or as many as make the two numbers differ.
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

// releases reports whether the decision is that of a rule whose safe mode releases the check.
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
