package view

import (
	"context"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/decide"
	"github.com/postroom-go/postroom/safety"
)

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
