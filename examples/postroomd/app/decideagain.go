package app

import (
	"context"
	"errors"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/safety"
)

// errNoModel says that nobody can be asked again.
var errNoModel = usage.Errorf("no model is configured: set llm.provider and llm.model first")

// RejectAndAskAgain rejects the request as it was shown, and asks the model once more, with the reason in the person's
// words; what is the rejected action in words. The same action is never taken again. What cannot be asked again is a
// [usage.Error], and nothing is rejected then.
func (h *App) RejectAndAskAgain(ctx context.Context, shown safety.Approval, by, why, what string) error {
	if !h.Env.Config.LLM.Enabled() {
		return errNoModel
	}
	action, err := h.Ledger.Action(ctx, shown.ActionID)
	if err != nil {
		return err
	}
	decided, err := h.Ledger.Decision(ctx, action.DecisionID)
	if err != nil {
		return err
	}
	if decided.Decision.Source != postroom.SourceModel {
		return usage.Errorf("no model decided this: change the rule instead")
	}
	job, err := rules.NewDecideAgainJob(action.AccountID, action.MessageID, &rules.Rejection{ActionID: action.ID,
		Rejection: postroom.Rejection{Action: action.Type, Parameters: action.Parameters, What: what, Why: why}},
		decided.Decision)
	if errors.Is(err, rules.ErrDecidedAgain) {
		return usage.Wrap(err)
	}
	if err != nil {
		return err
	}
	return answerable(h.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		if _, err := h.Ledger.RejectRequest(ctx, tx, shown, by, why); err != nil {
			return err
		}
		_, err := h.Queue.EnqueueTx(ctx, tx, job)
		return err
	}))
}

// DecideAgain asks the model about a message, whatever was decided about it before. What waits for a person about the
// message is answered first.
func (h *App) DecideAgain(ctx context.Context, m *postroom.Message) error {
	if !h.Env.Config.LLM.Enabled() {
		return errNoModel
	}
	waiting, err := h.Ledger.Approvals(ctx, safety.Filter{AccountID: m.AccountID, MessageID: m.ID, Limit: 1})
	if err != nil {
		return err
	}
	if len(waiting) > 0 {
		return usage.Errorf("something waits for you about this message: answer it first")
	}
	job, err := rules.NewDecideAgainJob(m.AccountID, m.ID, nil, postroom.Decision{})
	if err != nil {
		return err
	}
	_, err = h.Queue.Enqueue(ctx, job)
	return err
}
