package webapi

import (
	"context"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/safety"
)

// An Action is an action with its decision.
type Action struct {
	ID         string               `json:"id"`
	Action     postroom.ActionType  `json:"action"`
	Label      string               `json:"label,omitempty"`
	State      postroom.ActionState `json:"state"`
	Error      string               `json:"error,omitempty"`
	Source     postroom.Source      `json:"source"`
	Rule       string               `json:"rule,omitempty"`
	Rationale  string               `json:"rationale"`
	Confidence *float64             `json:"confidence"` // null when nobody decided
	Sender     string               `json:"sender"`
	Subject    string               `json:"subject"`
	CreatedAt  time.Time            `json:"created_at"`
	ExecutedAt time.Time            `json:"executed_at,omitzero"`
	Undoable   bool                 `json:"undoable"`
}

// LabelName returns the name of a label of an account, or its id if the label is gone.
type LabelName func(accountID, labelID string) string

// NewAction makes the JSON of an action.
func NewAction(e safety.Entry, name LabelName) Action {
	a, d := e.Action, e.Decision
	v := Action{
		ID: a.ID, Action: a.Type, State: a.State, Error: a.Error, Source: d.Decision.Source, Rule: d.Decision.RuleName,
		Rationale: d.Decision.Rationale, Confidence: sureness(d.Decision), Sender: d.Sender, Subject: d.Subject,
		CreatedAt: a.CreatedAt, ExecutedAt: a.ExecutedAt, Undoable: a.State == postroom.ActionCompleted &&
			a.UndoHint.Undoable(),
	}
	if label, ok := a.Parameters.Text(postroom.ParamLabel); ok {
		v.Label = name(a.AccountID, label)
	}
	return v
}

// labelNames looks up the labels of accounts as they are needed.
func (a *api) labelNames(ctx context.Context) LabelName {
	known := map[string][]postroom.Label{}
	return func(accountID, labelID string) string {
		labels, ok := known[accountID]
		if !ok {
			labels, _ = a.Mail.Labels(ctx, accountID) // without them the id is shown
			known[accountID] = labels
		}
		for _, l := range labels {
			if l.ID == labelID {
				return l.Name
			}
		}
		return labelID
	}
}

// sureness is the confidence of who decided; nil when nobody did.
func sureness(d postroom.Decision) *float64 {
	if d.Source == postroom.SourceNone {
		return nil
	}
	return &d.Confidence
}
