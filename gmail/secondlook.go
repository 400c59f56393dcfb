package gmail

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/queue"
)

// What is decided is decided about a stored message, which nothing signs. So what cannot be taken back, and no person has approved, is
// decided again before it starts: about the message as Gmail has it, by the id that is signed with the decision.

// errUnseen ends the start of an action that must be decided about again before.
var errUnseen = errors.New("gmail: the message has to be read at Gmail before the action starts")

// lookAgain holds an action for a person unless what decided about its message decides the same about what Gmail has. It returns
// the action that waits then, and nil if it may start.
func (j *jobs) lookAgain(ctx context.Context, w *queue.Attempt, id string) (held *postroom.Action, err error) {
	permit, err := j.Ledger.Permit(ctx, id)
	switch {
	case err != nil:
		return nil, err
	case !permit.Verified:
		return nil, fmt.Errorf("gmail: action %s: something alters it at this moment: try again", id)
	case permit.Approver != "", permit.Action.State != postroom.ActionQueued: // what was begun was looked at before
		return nil, nil //nolint:nilnil // nothing waits
	}
	fault, err := j.refute(ctx, &permit)
	if err != nil {
		return nil, j.failAction(ctx, w, permit.Action, err)
	}
	if fault == "" {
		return nil, nil //nolint:nilnil // nothing waits
	}
	if err := j.undisturbed(ctx, w, &permit); err != nil {
		return nil, err
	}
	var action postroom.Action
	err = w.Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
		if action, err = j.Ledger.Hold(ctx, tx, id, fault); err != nil {
			return err
		}
		return w.CompleteTx(ctx, tx) // the key of the job is free for the one that follows the approval
	})
	return &action, err
}

// undisturbed defers the job if another action may have changed the message between the reading of the permit and that of the
// message, such as a further action of the same rule.
func (j *jobs) undisturbed(ctx context.Context, w *queue.Attempt, before *postroom.Permit) error {
	other, err := j.Ledger.Executing(ctx, before.Action.AccountID, before.Action.MessageID)
	if err != nil {
		return err
	}
	still := other != nil
	if still { // an action whose job has ended changes no more
		ended, err := hasEnded(ctx, w.Queue(), other.JobID)
		if err != nil {
			return err
		}
		still = !ended
	}
	now, err := j.Ledger.Permit(ctx, before.Action.ID)
	if err != nil {
		return err
	}
	if !still && reflect.DeepEqual(now.Before, before.Before) {
		return nil
	}
	return queue.Defer(errors.New("gmail: another action has changed the message meanwhile"), attempts.Busy(w.Job.Interruptions))
}

// refute returns why an action is not permitted by the message that Gmail has; empty if it is.
func (j *jobs) refute(ctx context.Context, p *postroom.Permit) (fault string, err error) {
	switch {
	case j.Confirm == nil:
		return "nothing is configured that decides about the message at Gmail again, and it cannot be taken back", nil
	case p.Action.ProviderMessageID == "":
		return "the decision does not say which message at Gmail it is about", nil
	}
	_, client, err := j.open(ctx, p.Action.AccountID)
	if err != nil {
		return "", err
	}
	msg, err := readMessage(ctx, client, p.Action, p.Action.ProviderMessageID, j.MailLimits)
	if err != nil {
		return "", err
	}
	if p.Before != nil {
		msg.LabelIDs = p.Before.LabelIDs
	}
	fault, err = j.Confirm(ctx, msg, *p)
	if err != nil || fault == "" {
		return "", err
	}
	return fmt.Sprintf("the message at Gmail, from %s with the subject %q, is not what was decided about: %s", msg.From, msg.Subject, fault), nil
}
