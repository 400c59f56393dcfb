package pipeline

import (
	"context"
	"slices"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/safety"
)

// rejected returns what a person has rejected, and why, as it is on record.
func (p *Pipeline) rejected(ctx context.Context, actionID string) (r postroom.Rejection, err error) {
	action, err := p.Ledger.Action(ctx, actionID)
	if err != nil {
		return r, err
	}
	r = postroom.Rejection{Action: action.Type, Parameters: action.Parameters, What: string(action.Type)}
	if id, ok := action.Parameters.Text(postroom.ParamLabel); ok {
		labels, err := p.Mail.Labels(ctx, action.AccountID)
		if err != nil {
			return r, err
		}
		if i := slices.IndexFunc(labels, func(l postroom.Label) bool { return l.ID == id }); i >= 0 {
			id = labels[i].Name
		}
		r.What += " " + id
	}
	answers, err := p.Ledger.ApprovalsOf(ctx, actionID)
	for _, a := range answers { // the last one counts
		if a.Outcome == safety.OutcomeRejected {
			r.Why = a.Why
		}
	}
	return r, err
}
