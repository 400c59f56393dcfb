package view

import (
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/safety/reasons"
)

// A Decision is a decision in a list.
type Decision struct {
	ID            string              `json:"id"`
	Message       string              `json:"message_id"` // ours
	Action        postroom.ActionType `json:"action"`
	Parameters    postroom.Parameters `json:"parameters"`
	Label         string              `json:"label,omitempty"`
	Source        postroom.Source     `json:"source"`
	Rule          string              `json:"rule,omitempty"`
	Model         string              `json:"model,omitempty"`
	Confidence    *float64            `json:"confidence"` // null when nobody decided
	Rationale     string              `json:"rationale"`
	NeedsApproval bool                `json:"needs_approval"`
	Reasons       []string            `json:"gate_reasons"` // why a person must approve
	Sender        string              `json:"sender"`
	Subject       string              `json:"subject"`
	CreatedAt     time.Time           `json:"created_at"`
}

// NewDecision makes the view of a decision.
func NewDecision(d safety.DecisionRecord, names app.LabelNames) Decision {
	v := Decision{
		ID: d.ID, Message: d.MessageID, Action: d.Decision.Action, Parameters: d.Decision.Parameters,
		Source: d.Decision.Source,
		Rule:   d.Decision.RuleName, Model: d.Decision.Model, Rationale: d.Decision.Rationale,
		NeedsApproval: d.Decision.NeedsApproval,
		Reasons:       reasons.Plain(d.Verdict.Reasons), Sender: d.Sender, Subject: d.Subject, CreatedAt: d.CreatedAt,
	}
	if d.Decision.Source != postroom.SourceNone {
		v.Confidence = &d.Decision.Confidence
	}
	if label, ok := d.Decision.Parameters.Text(postroom.ParamLabel); ok {
		v.Label = names.Name(d.AccountID, label)
	}
	return v
}

// DecidedBy names the rule that has decided, or the source of the decision.
func DecidedBy(d postroom.Decision) string {
	if d.RuleName != "" {
		return d.RuleName
	}
	return string(d.Source)
}
