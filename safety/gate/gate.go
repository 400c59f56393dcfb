// Package gate judges decisions: which of them need a person, by a [Policy] and by what their callers have found out.
// It reads no database. Package safety records what it says, and counts what has been done.
package gate

import (
	"fmt"
	"slices"

	"github.com/postroom-go/postroom"
)

// A Gate judges decisions by a [Policy]. It is safe for concurrent use.
type Gate struct {
	policy Policy
	kinds  *postroom.Kinds
}

// New makes a gate for decisions about the kinds of actions. Nil means those that package gmail carries out. A
// bad policy is an error that names the field.
func New(policy Policy, kinds *postroom.Kinds) (*Gate, error) {
	policy, err := policy.withDefaults(kinds)
	if err != nil {
		return nil, err
	}
	return &Gate{policy: policy, kinds: kinds}, nil
}

// Policy returns the policy, with the defaults filled in.
func (g *Gate) Policy() Policy { return g.policy }

// Kinds returns the kinds of actions that the gate knows.
func (g *Gate) Kinds() *postroom.Kinds { return g.kinds }

// With returns a gate with the policy of this one and other kinds.
func (g *Gate) With(kinds *postroom.Kinds) *Gate { return &Gate{g.policy, kinds} }

// Evidence is what the caller of [Gate.Judge] has itself found out about a decision. The zero Evidence releases
// nothing.
type Evidence struct {
	// SafeMode is the safe mode of the stored rule that made the decision; see [postroom.StoredRule]. The decision's own
	// word does not count. Default empty: no rule, or an unknown one.
	SafeMode postroom.SafeMode
	// Doubts are further reasons to ask a person. No safe mode releases them.
	Doubts []Doubt
}

// Judge runs all checks. Each requires approval if
//
//   - the action is [postroom.Dangerous], as an action without a kind is;
//   - the confidence is below the threshold (not checked for source none, which has no confidence);
//   - the action is in Policy.ApprovalAlways;
//   - the decision requests approval;
//   - there is a doubt.
//
// The safe mode of the evidence counts only for the decision of a rule: source deterministic, with the id of the
// rule. Then [postroom.SafeAlwaysSafe] releases the second and third check for an action that is not dangerous, and
// nothing for a dangerous one; [postroom.SafeDangerousOverride] releases the first three. Nothing releases the
// others, and nothing releases a check of a model's decision. A decision to do nothing passes them all: there is
// nothing to approve.
func (g *Gate) Judge(d postroom.Decision, e Evidence) Verdict {
	d.SafeMode = e.SafeMode
	v := Verdict{Overrides: []Override{}, Reasons: []string{}}
	if d.Action == postroom.None {
		return v
	}
	g.checkDanger(&v, d)
	g.checkConfidence(&v, d)
	g.checkList(&v, d)
	g.checkRequest(&v, d)
	v.Doubt(e.Doubts...)
	return v
}

func (g *Gate) checkDanger(v *Verdict, d postroom.Decision) {
	if g.kinds.Danger(d.Action) == postroom.Dangerous {
		g.ask(v, d, OverrideDangerous, "action is classified as dangerous")
	}
}

// checkConfidence treats NaN as below every threshold.
func (g *Gate) checkConfidence(v *Verdict, d postroom.Decision) {
	if d.Source == postroom.SourceNone || d.Confidence >= g.policy.ConfidenceThreshold {
		return
	}
	g.ask(v, d, OverrideLowConfidence, belowThreshold(d.Confidence, g.policy.ConfidenceThreshold))
}

// belowThreshold formats with two decimals, or as many as the two numbers need to differ.
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
		g.ask(v, d, OverrideApprovalAlways, "action type is in approval_always list")
	}
}

func (g *Gate) checkRequest(v *Verdict, d postroom.Decision) {
	if !d.NeedsApproval {
		return
	}
	reason := "LLM explicitly requested approval"
	switch {
	case d.ApprovalReason != "":
		reason = d.ApprovalReason
	case d.Source == postroom.SourceDeterministic:
		reason = "rule explicitly requested approval"
	}
	g.ask(v, d, OverrideRequested, reason)
}

func (g *Gate) ask(v *Verdict, d postroom.Decision, check Override, reason string) {
	if g.releases(d, check) {
		v.Released = append(v.Released, check)
		return
	}
	v.Overrides = append(v.Overrides, check)
	v.Reasons = append(v.Reasons, reason)
}

// releases reports whether the decision is that of a rule whose safe mode releases the check.
func (g *Gate) releases(d postroom.Decision, check Override) bool {
	if d.Source != postroom.SourceDeterministic || d.RuleID == "" || check == OverrideRequested {
		return false
	}
	switch d.SafeMode {
	case postroom.SafeDangerousOverride:
		return g.kinds.Has(d.Action)
	case postroom.SafeAlwaysSafe:
		return g.kinds.Danger(d.Action) != postroom.Dangerous
	default:
		return false
	}
}

// Dangerous reports whether an action of the type cannot be undone, or has no kind.
func (g *Gate) Dangerous(t postroom.ActionType) bool {
	return g.kinds.Danger(t) == postroom.Dangerous
}
