package view

import (
	"context"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/decide"
	"github.com/postroom-go/postroom/rules"
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
	RuleID        string              `json:"-"` // the rule may be there no longer
	Model         string              `json:"model,omitempty"`
	Person        bool                `json:"person,omitempty"` // a person has decided
	Again         bool                `json:"again,omitempty"`  // a model has, when it was asked again
	Batch         string              `json:"-"`                // of what was decided at once; empty for most
	Confidence    *float64            `json:"confidence"`       // null when nobody decided
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
		Rule:   d.Decision.RuleName, RuleID: d.Decision.RuleID, Model: d.Decision.Model, Person: byPerson(&d.Decision),
		Again:         strings.HasPrefix(d.Decision.Key, rules.AgainKey),
		Rationale:     d.Decision.Rationale,
		NeedsApproval: d.Decision.NeedsApproval,
		Reasons:       reasons.Plain(d.Verdict.Reasons), Sender: d.Sender, Subject: d.Subject, CreatedAt: d.CreatedAt,
	}
	if batch, ok := strings.CutPrefix(d.Decision.Key, postroom.BatchKeyPrefix); ok {
		v.Batch, _, _ = strings.Cut(batch, ":")
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

// An Unusable is a message about which a model has given no usable answer.
type Unusable struct {
	ID        string    `json:"id"` // of the decision
	Message   string    `json:"message_id"`
	CreatedAt time.Time `json:"created_at"`
	Sender    string    `json:"sender"`
	Subject   string    `json:"subject"`
	Model     string    `json:"model"`
	Fault     string    `json:"fault"`
	Answers   []string  `json:"answers"` // what came, as the records of the calls have it
	Calls     int       `json:"calls"`
	Cost      llm.Money `json:"cost"`
}

// NewUnusable lists the newest of the decisions that the filter selects about which no usable answer came, with what
// came and what it cost.
func NewUnusable(ctx context.Context, h *app.App, f safety.Filter) ([]Unusable, error) {
	list := []Unusable{}
	err := eachUnusable(ctx, h, f, func(d *safety.DecisionRecord) error {
		v := Unusable{ID: d.ID, Message: d.MessageID, CreatedAt: d.CreatedAt, Sender: d.Sender, Subject: d.Subject,
			Model: d.Decision.Model, Fault: d.Decision.Rationale, Answers: []string{}}
		calls, err := h.Models.Records.CallsAbout(ctx, d.AccountID, d.MessageID, 100)
		for i := range calls {
			v.Calls++
			v.Cost += calls[i].Cost
			if calls[i].Answer != "" {
				v.Answers = append(v.Answers, calls[i].Answer)
			}
		}
		list = append(list, v)
		return err
	})
	return list, err
}

// CountUnusable counts them, at most the filter's limit.
func CountUnusable(ctx context.Context, h *app.App, f safety.Filter) (n int, err error) {
	err = eachUnusable(ctx, h, f, func(*safety.DecisionRecord) error {
		n++
		return nil
	})
	return n, err
}

// eachUnusable reads a page of the decisions to do nothing that a model was not sure of at all: few others are so.
func eachUnusable(ctx context.Context, h *app.App, f safety.Filter, fn func(*safety.DecisionRecord) error) error {
	f.Sources, f.Types = []postroom.Source{postroom.SourceModel}, []postroom.ActionType{postroom.None}
	f.Confidence = &safety.Range{}
	page, err := h.Ledger.Decisions(ctx, f)
	if err != nil {
		return err
	}
	for i := range page {
		if decide.Unusable(&page[i].Decision) {
			if err := fn(&page[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// byPerson reports whether a person has decided: in place of what was asked, or about all that a search finds.
func byPerson(d *postroom.Decision) bool {
	return d.Source == postroom.SourceHost &&
		(strings.HasPrefix(d.Key, app.InsteadKey) || strings.HasPrefix(d.Key, postroom.BatchKeyPrefix))
}
