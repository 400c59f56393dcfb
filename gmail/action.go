package gmail

import (
	"context"
	"errors"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
)

// A Ledger records actions; *safety.Ledger implements it. Each call is part of the job's transaction.
type Ledger interface {
	// Start makes a queued action executing, owned by the job. It is no error if the same job is executing the action
	// already. If the state of the action does not allow it, Start returns the action in its present state and an error; if
	// there is no such action, the error matches [postroom.ErrNotFound].
	Start(ctx context.Context, tx queue.Tx, actionID, jobID string) (postroom.Action, error)
	// Complete makes an executing action completed, with the hint that undoes it.
	Complete(ctx context.Context, tx queue.Tx, actionID string, hint postroom.UndoHint) error
	// Fail makes an executing action failed, with a reason for people.
	Fail(ctx context.Context, tx queue.Tx, actionID, reason string) error
}

// The steps of an action.
const (
	stepBefore = "before" // its result is the message's image before the first attempt
	stepDelete = "delete" // started before a message is deleted permanently
)

// act carries out one action of the ledger. It stores the image of the message before it changes anything at Gmail; a later
// attempt does the rest and completes with that first image.
func (j *jobs) act(ctx context.Context, w *queue.Work[ActionPayload]) error {
	action, err := j.startAction(ctx, w)
	switch {
	case err != nil:
		return err
	case action.State != postroom.ActionExecuting:
		w.SetResult(map[string]string{"skipped": "the action is " + string(action.State)})
		return nil
	}
	done, err := j.perform(ctx, w, action)
	if err != nil {
		return j.failAction(ctx, w, action, err)
	}
	return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
		if err := j.Ledger.Complete(ctx, tx, action.ID, done.hint); err != nil {
			return err
		}
		return done.store(ctx, tx, j.Store, action)
	})
}

// startAction makes the action executing. It returns an action that is final or waits for approval in its present state: there
// is nothing to do. An action that has failed, or that another job executes, is an error.
func (j *jobs) startAction(ctx context.Context, w *queue.Work[ActionPayload]) (postroom.Action, error) {
	var action postroom.Action
	err := w.Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
		if action, err = j.Ledger.Start(ctx, tx, w.Payload.ActionID, w.Job.ID); err != nil {
			return err
		}
		if action.AccountID != w.Payload.AccountID {
			return queue.Fatal(fmt.Errorf("gmail: action %s is of account %s, not of %s", action.ID, action.AccountID, w.Payload.AccountID))
		}
		return nil
	})
	switch {
	case err == nil:
		return action, nil
	case errors.Is(err, postroom.ErrNotFound):
		return action, queue.Fatal(err)
	}
	switch action.State {
	case postroom.ActionCompleted, postroom.ActionCanceled, postroom.ActionRejected, postroom.ActionApprovedPending:
		return action, nil
	case postroom.ActionFailed:
		return action, queue.Fatal(err)
	}
	return action, err
}

// An outcome is the result of an action.
type outcome struct {
	hint  postroom.UndoHint
	after *postroom.Image // nil: as it was
	gone  bool            // the message is no more
}

// store updates the stored message.
func (o outcome) store(ctx context.Context, tx queue.Tx, s *Store, a postroom.Action) error {
	switch {
	case o.gone:
		return s.markDeletedByID(ctx, tx, a.AccountID, a.MessageID)
	case o.after != nil:
		return s.SetLabels(ctx, tx, a.AccountID, a.MessageID, *o.after)
	}
	return nil
}

func (j *jobs) perform(ctx context.Context, w *queue.Work[ActionPayload], a postroom.Action) (outcome, error) {
	if a.Type == postroom.None {
		return outcome{hint: postroom.UndoHint{InverseAction: postroom.None}}, nil
	}
	var does effect
	if a.Type != postroom.Delete {
		var err error
		if does, err = effectOf(a); err != nil {
			return outcome{}, err
		}
	}
	_, client, err := j.open(ctx, a.AccountID)
	if err != nil {
		return outcome{}, err
	}
	id, err := j.Store.providerID(ctx, a.AccountID, a.MessageID)
	if err != nil {
		return outcome{}, err
	}
	before, err := queue.Step(ctx, w, stepBefore, func(ctx context.Context) (postroom.Image, error) {
		return client.GetImage(ctx, id)
	})
	if err != nil {
		return outcome{}, err
	}
	if a.Type == postroom.Delete {
		return deleteMessage(ctx, w, client, id, before)
	}
	return does.perform(ctx, client, id, before)
}

func (e effect) perform(ctx context.Context, client *Client, id string, before postroom.Image) (outcome, error) {
	after := before
	if change := needed(e.change, before); !change.IsZero() {
		var err error
		if after, err = client.apply(ctx, id, change); err != nil {
			return outcome{}, err
		}
	}
	hint := postroom.UndoHint{InverseAction: e.inverse, InverseParameters: e.params, Before: &before, After: &after}
	return outcome{hint: hint, after: &after}, nil
}

// deleteMessage deletes a message permanently. It starts a step before the call: a later attempt that finds the message gone
// knows that an earlier attempt, whose answer was lost, deleted it.
func deleteMessage(ctx context.Context, w *queue.Work[ActionPayload], client *Client, id string, before postroom.Image) (outcome, error) {
	begun, err := w.StepStarted(ctx, stepDelete)
	if err == nil && !begun {
		err = w.StartStep(ctx, stepDelete)
	}
	if err != nil {
		return outcome{}, err
	}
	if err = client.Delete(ctx, id); err != nil && (!begun || !errors.Is(err, postroom.ErrMessageGone)) {
		return outcome{}, err
	}
	hint := postroom.UndoHint{InverseAction: postroom.None, Irreversible: true, Before: &before}
	return outcome{hint: hint, gone: true}, nil
}

// failAction marks the action failed if no attempt follows, and returns the error of the handler.
func (j *jobs) failAction(ctx context.Context, w *queue.Work[ActionPayload], a postroom.Action, cause error) error {
	verdict := Verdict(cause)
	if ctx.Err() != nil || !w.Ends(verdict) {
		return verdict // an attempt that was stopped is not the last
	}
	err := w.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		if err := j.Ledger.Fail(ctx, tx, a.ID, cause.Error()); err != nil {
			return err
		}
		if ClassOf(cause) == ClassGone {
			return j.Store.markDeletedByID(ctx, tx, a.AccountID, a.MessageID)
		}
		return nil
	})
	if err != nil {
		return errors.Join(cause, err)
	}
	return queue.Fatal(cause)
}
