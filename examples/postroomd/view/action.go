package view

import (
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/safety"
)

// An Action is an action with its decision, as commands and the API show it.
type Action struct {
	ID         string               `json:"id"`
	Action     postroom.ActionType  `json:"action"`
	Label      string               `json:"label,omitempty"`
	State      postroom.ActionState `json:"state"`
	Error      string               `json:"error,omitempty"`
	Source     postroom.Source      `json:"source"`
	Rule       string               `json:"rule,omitempty"`
	Rationale  string               `json:"rationale"`
	Confidence float64              `json:"confidence"`
	Sender     string               `json:"sender"`
	Subject    string               `json:"subject"`
	CreatedAt  time.Time            `json:"created_at"`
	ExecutedAt time.Time            `json:"executed_at,omitzero"`
	Undoable   bool                 `json:"undoable"`
}

// NewAction makes the view of an action.
func NewAction(e safety.Entry, names app.LabelNames) Action {
	a, d := e.Action, e.Decision
	v := Action{
		ID: a.ID, Action: a.Type, State: a.State, Error: a.Error, Source: d.Decision.Source, Rule: d.Decision.RuleName,
		Rationale: d.Decision.Rationale, Confidence: d.Decision.Confidence, Sender: d.Sender, Subject: d.Subject,
		CreatedAt: a.CreatedAt, ExecutedAt: a.ExecutedAt, Undoable: a.State == postroom.ActionCompleted && a.UndoHint.Undoable(),
	}
	if label, ok := a.Parameters.Text(postroom.ParamLabel); ok {
		v.Label = names.Name(a.AccountID, label)
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
