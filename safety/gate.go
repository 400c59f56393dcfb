package safety

import (
	"fmt"
	"slices"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/safety/injection"
)

// An Override names a check that requires approval.
type Override string

// The checks.
const (
	OverrideDangerous      Override = "dangerous_action"
	OverrideLowConfidence  Override = "low_confidence"
	OverrideApprovalAlways Override = "approval_always"
	OverrideRequested      Override = "requested"
	OverrideRule           Override = "rule_not_stored" // the stored rule differs from the one that matched

	// These limit how much is done.

	OverrideCap     Override = "cap"     // a cap is reached; see [Cap]
	OverrideBreaker Override = "breaker" // the source is stopped; see [Breaker]

	OverrideSent Override = "sent_before" // the mailbox sent it, or may have, before it was removed and came back

	// These apply to a model's decisions.

	OverrideModel   Override = "not_alone"   // no model does that alone
	OverrideShare   Override = "daily_share" // models have used up their share of the day; see ModelShare of [Policy]
	OverrideHidden           = Override(injection.HiddenText)
	OverrideSender           = Override(injection.DoubtfulSender)
	OverrideMachine          = Override(injection.MachineTalk)

	OverrideRecipient Override = "new_recipient" // only the model names the recipient; see Recipients of [Policy]
	OverrideLabel     Override = "unknown_label" // the account does not have the label, or keeps it from models; see Labels of [Config]
	OverrideForbidden Override = "forbidden"     // the user has forbidden it to models; see Forbids of [Config]
)

// A Verdict is the result of [Gate.Judge] for one decision. Its JSON is stored with the decision as telemetry.
type Verdict struct {
	// RequiresApproval reports whether any check requires approval.
	RequiresApproval bool `json:"requires_approval"`
	// Overrides are the checks that require approval, in the order of the constants, and Reasons are the same for people. Both
	// are empty if no check does.
	Overrides []Override `json:"safety_overrides"`
	Reasons   []string   `json:"override_details"`
	// Released are the checks that would require approval without the safe mode of the rule.
	Released []Override `json:"released,omitempty"`
}

// A Gate judges decisions by a [Policy]. It is safe for concurrent use.
type Gate struct {
	policy Policy
	kinds  *postroom.Kinds
}

// NewGate makes a gate for decisions about the kinds of actions. Nil means those that package gmail carries out. A bad policy is
// an error that names the field.
func NewGate(policy Policy, kinds *postroom.Kinds) (*Gate, error) {
	policy, err := policy.withDefaults(kinds)
	if err != nil {
		return nil, err
	}
	return &Gate{policy: policy, kinds: kinds}, nil
}

// Evidence is what the caller of [Gate.Judge] has itself found out about a decision. The zero Evidence releases nothing.
type Evidence struct {
	// SafeMode is the safe mode of the stored rule that made the decision; see [postroom.StoredRule]. The decision's own word
	// does not count. Default empty: no rule, or an unknown one.
	SafeMode postroom.SafeMode
	// Doubts are further reasons to ask a person. No safe mode releases them.
	Doubts []Doubt
}

// A Doubt is a reason to ask a person.
type Doubt struct {
	Check  Override
	Reason string // for people
}

// Judge runs all checks. Each requires approval if
//
//   - the action is [postroom.Dangerous], as an action without a kind is;
//   - the confidence is below the threshold (not checked for source none, which has no confidence);
//   - the action is in Policy.ApprovalAlways;
//   - the decision requests approval;
//   - there is a doubt.
//
// The safe mode of the evidence counts only for the decision of a rule: source deterministic, with the id of the rule. Then
// [postroom.SafeAlwaysSafe] releases the second and third check for an action that is not dangerous, and nothing for a dangerous
// one; [postroom.SafeDangerousOverride] releases the first three. Nothing releases the others, and nothing releases a check of a
// model's decision.
func (g *Gate) Judge(d postroom.Decision, e Evidence) Verdict {
	d.SafeMode = e.SafeMode
	v := Verdict{Overrides: []Override{}, Reasons: []string{}}
	g.checkDanger(&v, d)
	g.checkConfidence(&v, d)
	g.checkList(&v, d)
	g.checkRequest(&v, d)
	v.doubt(e.Doubts)
	return v
}

func (v *Verdict) doubt(doubts []Doubt) {
	for _, d := range doubts {
		v.Overrides = append(v.Overrides, d.Check)
		v.Reasons = append(v.Reasons, d.Reason)
	}
	v.RequiresApproval = len(v.Overrides) > 0
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
