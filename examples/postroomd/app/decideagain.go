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
// words. The same action is never taken again. What cannot be asked again is a [usage.Error], and nothing is rejected
// then.
func (h *App) RejectAndAskAgain(ctx context.Context, shown safety.Approval, by, why string) error {
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
	job, err := rules.NewDecideAgainJob(action.AccountID, action.MessageID, action.ID, decided.Decision)
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
// message is answered first. The tag of its job names who has asked.
func (h *App) DecideAgain(ctx context.Context, m *postroom.Message, by string) error {
	waits, err := h.WaitsAbout(ctx, m)
	if err != nil {
		return err
	}
	if waits {
		return usage.Errorf("something waits for you about this message: answer it first")
	}
	_, err = h.DecideAllAgain(ctx, []*postroom.Message{m}, by)
	return err
}

// WaitsAbout reports whether something waits for a person about a message.
func (h *App) WaitsAbout(ctx context.Context, m *postroom.Message) (bool, error) {
	waiting, err := h.Ledger.Approvals(ctx, safety.Filter{AccountID: m.AccountID, MessageID: m.ID, Limit: 1})
	return len(waiting) > 0, err
}

// HasModel returns an error that says what to do if no model can be asked.
func (h *App) HasModel() error {
	if !h.Env.Config.LLM.Enabled() {
		return errNoModel
	}
	return nil
}

// DecideAllAgain asks the model about messages, about which nothing may wait for a person, and returns about how many.
// The others are being asked about already.
func (h *App) DecideAllAgain(ctx context.Context, list []*postroom.Message, by string) (asked int, err error) {
	if err := h.HasModel(); err != nil {
		return 0, err
	}
	err = h.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		asked = 0
		for _, m := range list {
			job, err := rules.NewDecideAgainJob(m.AccountID, m.ID, "", postroom.Decision{})
			if err != nil {
				return err
			}
			job.Tags = append(job.Tags, askedBy(by))
			result, err := h.Queue.EnqueueTx(ctx, tx, job)
			if err != nil {
				return err
			}
			if !result.Duplicate {
				asked++
			}
		}
		return nil
	})
	if err == nil {
		h.logAsked(ctx, by, "work", "decide again", "messages", asked)
	}
	return asked, err
}
