package gmail

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/queue"
)

// startAction makes the action executing. It returns an action that is final or waits for approval in its present
// state: there is nothing to do. An action that has failed, or that another job executes, is an error. While another
// action of the message executes, the job is put off.
func (j *jobs) startAction(ctx context.Context, w *queue.Attempt, p ActionPayload) (postroom.Action, error) {
	action, err := j.startInTurn(ctx, w, p, false)
	if errors.Is(err, errUnseen) {
		held, failed := j.lookAgain(ctx, w, p.ActionID)
		switch {
		case failed != nil:
			return postroom.Action{}, failed
		case held != nil:
			return *held, nil
		}
		action, err = j.startInTurn(ctx, w, p, true)
	}
	switch {
	case err == nil:
		return action, nil
	case errors.Is(err, postroom.ErrNotFound):
		return action, queue.Fatal(err)
	case errors.Is(err, postroom.ErrHeld):
		return action, whileHeld(w.Job.Interruptions, err)
	}
	switch action.State {
	case postroom.ActionCompleted, postroom.ActionCanceled, postroom.ActionRejected, postroom.ActionPendingApproval:
		return action, nil
	case postroom.ActionFailed:
		return action, queue.Fatal(err)
	}
	return action, err
}

// startInTurn starts the action when no other of the message executes. One that cannot be taken back has to be seen
// before, or the error is errUnseen.
func (j *jobs) startInTurn(ctx context.Context, w *queue.Attempt, p ActionPayload, seen bool) (postroom.Action, error) {
	action, err := j.tryStart(ctx, w, p, seen)
	if busy, ok := errors.AsType[*postroom.BusyError](err); ok {
		return j.startAfter(ctx, w, p, busy, seen)
	}
	return action, err
}

func (j *jobs) tryStart(ctx context.Context, w *queue.Attempt, p ActionPayload,
	seen bool) (action postroom.Action, err error) {
	err = w.Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
		if action, err = j.Ledger.Start(ctx, tx, p.ActionID, w.Job.ID); err != nil {
			return err
		}
		switch {
		// the key of the job is free for the one that follows the approval
		case action.State == postroom.ActionPendingApproval:
			return w.CompleteTx(ctx, tx)
		case action.State == postroom.ActionExecuting && action.AccountID != p.AccountID:
			return queue.Fatal(fmt.Errorf("gmail: action %s is of account %s, not of %s", action.ID,
				action.AccountID, p.AccountID))
		case action.State == postroom.ActionExecuting && w.Job.Type == string(outbox.JobSend):
			if err := j.Outbox.Reserve(ctx, tx, action); err != nil {
				return err
			}
		}
		if action.State == postroom.ActionExecuting && !seen &&
			(j.Kinds.Danger(action.Type) == postroom.Dangerous || j.readyOf(action) != nil) {
			return errUnseen
		}
		return nil
	})
	return action, err
}

// startAfter starts an action after another whose job has ended without it; while that job is not finished, it defers
// its own.
func (j *jobs) startAfter(ctx context.Context, w *queue.Attempt, p ActionPayload, busy *postroom.BusyError,
	seen bool) (postroom.Action, error) {
	if busy.JobID == "" {
		if err := j.endUnstarted(ctx, w, busy); err != nil {
			return postroom.Action{}, err
		}
		return j.startInTurn(ctx, w, p, seen)
	}
	ended, err := hasEnded(ctx, w.Queue(), busy.JobID)
	switch {
	case ended:
		if err := j.endAbandoned(ctx, w, busy); err != nil {
			return postroom.Action{}, err
		}
		return j.startInTurn(ctx, w, p, seen)
	case err == nil:
		err = queue.Defer(attempts.InTurn(busy), attempts.Turn(w.Job.Interruptions))
	}
	return postroom.Action{}, err
}

// hasEnded reports whether a job has finished, or is no more.
func hasEnded(ctx context.Context, q *queue.Queue, jobID string) (bool, error) {
	job, err := q.Job(ctx, jobID)
	if errors.Is(err, queue.ErrJobNotFound) {
		return true, nil
	}
	return err == nil && job.State.Finished(), err
}

// whileHeld defers a job that may not start its action now. Any other error is returned unchanged.
func whileHeld(interruptions int, err error) error {
	held, ok := errors.AsType[*postroom.HeldError](err)
	if !ok {
		return err
	}
	return queue.Defer(held, attempts.Held(interruptions, held.Until, time.Now()))
}

// What is decided is decided about a stored message, which nothing signs. So what cannot be taken back, and no person
// has approved, is decided again before it starts: about the message as Gmail has it, by the id that is signed with
// the decision.

// errUnseen ends the start of an action that must be decided about again before.
var errUnseen = errors.New("gmail: the message has to be read at Gmail before the action starts")

// lookAgain holds an action for a person unless what decided about its message decides the same about what Gmail has,
// and asks the kind of the action last whether it may start. It returns the action that waits then, and nil if it may
// start.
func (j *jobs) lookAgain(ctx context.Context, w *queue.Attempt, id string) (held *postroom.Action, err error) {
	permit, err := j.Ledger.Permit(ctx, id)
	switch {
	case err != nil:
		return nil, err
	case !permit.Verified:
		return nil, fmt.Errorf("gmail: action %s: something alters it at this moment: try again", id)
	case permit.Action.State != postroom.ActionQueued: // what was begun was looked at before
		return nil, nil //nolint:nilnil // nothing waits
	case j.Kinds.Danger(permit.Action.Type) != postroom.Dangerous:
		return nil, j.isReady(ctx, w, permit.Action)
	case permit.Approver != "":
		if err := j.stillWanted(ctx, w, permit); err != nil {
			return nil, err
		}
		return nil, j.isReady(ctx, w, permit.Action)
	}
	fault, err := j.refute(ctx, &permit)
	if err != nil {
		return nil, j.failAction(ctx, w, permit.Action, err)
	}
	if fault == "" {
		return nil, j.isReady(ctx, w, permit.Action)
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

// stillWanted ends an action that a person has approved, and that is not wanted any more.
func (j *jobs) stillWanted(ctx context.Context, w *queue.Attempt, permit postroom.Permit) error {
	if j.Wanted == nil {
		return nil
	}
	if err := j.Wanted(ctx, permit); err != nil {
		return j.failAction(ctx, w, permit.Action, err)
	}
	return nil
}

// readyOf returns Ready of an action's kind; nil if it has none.
func (j *jobs) readyOf(a postroom.Action) func(context.Context, postroom.Action) error {
	kind, _ := j.Kinds.Kind(a.Type)
	return kind.Ready
}

// isReady puts off an action that its kind does not let start now, and ends one that it refuses.
func (j *jobs) isReady(ctx context.Context, w *queue.Attempt, a postroom.Action) error {
	ready := j.readyOf(a)
	if ready == nil {
		return nil
	}
	switch err := ready(ctx, a); {
	case errors.Is(err, postroom.ErrHeld):
		return whileHeld(w.Job.Interruptions, err)
	case err != nil:
		return j.failAction(ctx, w, a, err)
	}
	return nil
}

// undisturbed defers the job if another action may have changed the message between the reading of the permit and
// that of the message, such as a further action of the same rule.
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
	return queue.Defer(attempts.InTurn(errors.New("gmail: another action has changed the message meanwhile")),
		attempts.Busy(w.Job.Interruptions))
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
	msg, err := outbox.ReadMessage(ctx, client, p.Action, p.Action.ProviderMessageID, j.MailLimits)
	if err != nil {
		return "", err
	}
	if p.LabelsNow = msg.LabelIDs; p.Before != nil {
		msg.LabelIDs = p.Before.LabelIDs
	}
	fault, err = j.Confirm(ctx, msg, *p)
	if err != nil || fault == "" {
		return "", err
	}
	return fmt.Sprintf("the message at Gmail, from %s with the subject %q, is not what was decided about: %s", msg.From,
		msg.Subject, fault), nil
}
