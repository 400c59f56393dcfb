package gate

import (
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

	OverrideCap     Override = "cap"     // a cap is reached; see [limits.Cap]
	OverrideBreaker Override = "breaker" // the source is stopped; see [limits.Breaker]

	OverrideDrift Override = "drift" // people have corrected too much of what decided; see safety.Config

	OverrideAge Override = "old_mail" // it sends about mail that came long ago; see SendAge of [Policy]

	OverrideSent Override = "sent_before" // the mailbox sent it, or may have, before it was removed and came back

	// These apply to a model's decisions.

	OverrideModel   Override = "not_alone"   // no model does that alone
	OverrideShare   Override = "daily_share" // models have used up their share of the day; see ModelShare of [Policy]
	OverrideHidden           = Override(injection.HiddenText)
	OverrideSender           = Override(injection.DoubtfulSender)
	OverrideMachine          = Override(injection.MachineTalk)

	OverrideNotice    Override = "notice"        // no model hides the notice of a program alone
	OverrideRecipient Override = "new_recipient" // only the model or the sender names it; see Recipients of [Policy]
	OverrideLabel     Override = "unknown_label" // the account lacks it, or keeps it from models; see safety.Config
	OverrideForbidden Override = "forbidden"     // the user has forbidden it to models; see safety.Config
)

// A Verdict is the result of [Gate.Judge] for one decision. Its JSON is stored with the decision as telemetry.
type Verdict struct {
	// RequiresApproval reports whether any check requires approval.
	RequiresApproval bool `json:"requires_approval"`
	// Overrides are the checks that require approval, in the order of the constants, and Reasons are the same for
	// people. Both are empty if no check does.
	Overrides []Override `json:"safety_overrides"`
	Reasons   []string   `json:"override_details"`
	// Released are the checks that would require approval without the safe mode of the rule.
	Released []Override `json:"released,omitempty"`
}

// Doubt adds reasons to ask a person.
func (v *Verdict) Doubt(doubts ...Doubt) {
	for _, d := range doubts {
		v.Overrides = append(v.Overrides, d.Check)
		v.Reasons = append(v.Reasons, d.Reason)
	}
	v.RequiresApproval = len(v.Overrides) > 0
}

// A Doubt is a reason to ask a person.
type Doubt struct {
	Check  Override
	Reason string // for people
}
