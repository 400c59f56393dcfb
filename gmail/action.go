package gmail

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/queue"
)

// A Ledger records actions; *safety.Ledger implements it. The calls that take a transaction are part of the job's.
type Ledger interface {
	// Start makes a queued action executing, owned by the job. It is no error if the same job is executing the action already. If
	// the action is not executed because it is not what was permitted, or needs a person again, Start returns it in its new
	// state, without an error. If the state of the action does not allow it, Start returns the action in its present state and an
	// error. The error matches [postroom.ErrNotFound] if the action does not exist; it is a [*postroom.BusyError] while another
	// action of the message executes, and a [*postroom.HeldError] while nothing may start.
	Start(ctx context.Context, tx queue.Tx, actionID, jobID string) (postroom.Action, error)
	// Complete makes an executing action completed, with the hint that undoes it.
	Complete(ctx context.Context, tx queue.Tx, actionID string, hint postroom.UndoHint) error
	// Fail makes a queued or executing action failed, with a reason for people.
	Fail(ctx context.Context, tx queue.Tx, actionID, reason string) error
	// Cancel makes a queued or executing action canceled, with a reason for people: nothing has failed, and there is nothing left to do.
	Cancel(ctx context.Context, tx queue.Tx, actionID, reason string) error
	// Executing returns the action of a message that is executing, undos included; nil if none is. While a wake-up has the turn of
	// the message, it is the snooze, with the job of the wake-up.
	Executing(ctx context.Context, accountID, messageID string) (*postroom.Action, error)
	// Held returns a [*postroom.HeldError] while nothing may be changed in a mailbox.
	Held(ctx context.Context) error
	// Permit returns what an action may be carried out by, with its decision and its approver; an error that matches
	// [postroom.ErrNotFound] if there is no such action.
	Permit(ctx context.Context, actionID string) (postroom.Permit, error)
	// Hold makes a queued action wait for a person, with a reason for people.
	Hold(ctx context.Context, tx queue.Tx, actionID, reason string) (postroom.Action, error)

	WakeUpLedger
}

// stepDelete is started before a message is deleted permanently.
const stepDelete = "delete"

// act carries out one action of the ledger. It stores the image of the message before it changes anything at Gmail; a later
// attempt does the rest and completes with that first image.
func (j *jobs) act(ctx context.Context, w *queue.Work[ActionPayload]) error {
	if sends, err := j.handToOutbox(ctx, w); sends || err != nil {
		return err
	}
	action, err := j.startAction(ctx, w.Attempt, w.Payload)
	switch {
	case err != nil:
		return err
	case action.State != postroom.ActionExecuting:
		w.SetResult(map[string]string{"skipped": "the action is " + string(action.State)})
		return nil
	}
	done, err := j.perform(ctx, w, action)
	if err != nil {
		return j.failAction(ctx, w.Attempt, action, err)
	}
	return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
		if err := j.Ledger.Complete(ctx, tx, action.ID, done.hint); err != nil {
			return err
		}
		return done.store(ctx, tx, j.Store, action)
	})
}

// startAction makes the action executing. It returns an action that is final or waits for approval in its present state: there
// is nothing to do. An action that has failed, or that another job executes, is an error. While another action of the message
// executes, the job is put off.
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

// startInTurn starts the action when no other of the message executes. One that cannot be taken back has to be seen before, or the
// error is errUnseen.
func (j *jobs) startInTurn(ctx context.Context, w *queue.Attempt, p ActionPayload, seen bool) (postroom.Action, error) {
	action, err := j.tryStart(ctx, w, p, seen)
	if busy, ok := errors.AsType[*postroom.BusyError](err); ok {
		return j.startAfter(ctx, w, p, busy, seen)
	}
	return action, err
}

func (j *jobs) tryStart(ctx context.Context, w *queue.Attempt, p ActionPayload, seen bool) (action postroom.Action, err error) {
	err = w.Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
		if action, err = j.Ledger.Start(ctx, tx, p.ActionID, w.Job.ID); err != nil {
			return err
		}
		switch {
		case action.State == postroom.ActionPendingApproval: // the key of the job is free for the one that follows the approval
			return w.CompleteTx(ctx, tx)
		case action.State == postroom.ActionExecuting && action.AccountID != p.AccountID:
			return queue.Fatal(fmt.Errorf("gmail: action %s is of account %s, not of %s", action.ID, action.AccountID, p.AccountID))
		case action.State == postroom.ActionExecuting && !seen && j.Kinds.Danger(action.Type) == postroom.Dangerous:
			return errUnseen
		}
		return nil
	})
	return action, err
}

// startAfter starts an action after another whose job has ended without it; while that job is not finished, it defers its own.
func (j *jobs) startAfter(ctx context.Context, w *queue.Attempt, p ActionPayload, busy *postroom.BusyError, seen bool) (postroom.Action, error) {
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
		err = queue.Defer(busy, attempts.Busy(w.Job.Interruptions))
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

// An outcome is the result of an action.
type outcome struct {
	hint  postroom.UndoHint
	known mailstore.Copy       // from before
	made  postroom.LabelChange // of the labels
	gone  bool                 // the message is no more

	commit postroom.Commit // the writes of a Handler; may be nil
}

// store updates the stored message, and writes the Handler's writes.
func (o outcome) store(ctx context.Context, tx queue.Tx, s *mailstore.Store, a postroom.Action) error {
	switch {
	case o.commit != nil:
		return o.commit(ctx, tx)
	case o.gone:
		_, err := s.Copies().MarkDeletedByID(ctx, tx, a.AccountID, a.MessageID)
		return err
	case o.made.IsZero():
		return nil
	}
	return s.Copies().StoreOwnChange(ctx, tx, a.AccountID, o.known, o.made, *o.hint.After)
}

func (j *jobs) perform(ctx context.Context, w *queue.Work[ActionPayload], a postroom.Action) (outcome, error) {
	kind, err := j.kindOf(a)
	if err != nil {
		return outcome{}, err
	}
	switch {
	case a.Type == postroom.None:
		return outcome{hint: postroom.UndoHint{InverseAction: postroom.None}}, nil
	case kind.Handler != nil:
		if a.Parameters, err = j.withLabels(ctx, w.Attempt, a); err != nil {
			return outcome{}, err
		}
		return runHandler(ctx, w, kind, a)
	}
	_, client, err := j.open(ctx, a.AccountID)
	if err != nil {
		return outcome{}, err
	}
	known, err := j.Store.Copies().Copy(ctx, a.AccountID, a.MessageID)
	if err == nil {
		err = sameMessage(known.ProviderID, a)
	}
	if err != nil {
		return outcome{}, err
	}
	return j.change(ctx, w, client, known, kind, a)
}

// Change changes the message at Gmail. The labels that it needs are made before the image is read.
func (j *jobs) change(
	ctx context.Context, w *queue.Work[ActionPayload], client *gmailapi.Client, known mailstore.Copy, kind postroom.Kind, a postroom.Action,
) (outcome, error) {
	id := known.ProviderID
	parameters, err := j.withLabels(ctx, w.Attempt, a)
	if err != nil {
		return outcome{}, err
	}
	before, err := readBefore(ctx, w, client, id)
	if err != nil {
		return outcome{}, err
	}
	var done outcome
	switch a.Type {
	case postroom.Delete:
		done, err = deleteMessage(ctx, w, client, id, before.Snapshot)
	case postroom.Snooze:
		done, err = j.snooze(ctx, w, client, id, before.Snapshot, kind, a)
	default:
		does := kind.Effect(parameters)
		does.Inverse = cmp.Or(does.Inverse, "undo_"+a.Type)
		done, err = perform(ctx, client, id, before.Snapshot, does)
	}
	done.known = known
	return done, before.unlessUntouched(ctx, w, err)
}

// sameMessage returns an error if Gmail's id of an action's message differs from the decision's. The id never changes.
func sameMessage(providerID string, a postroom.Action) error {
	if a.ProviderMessageID == "" || a.ProviderMessageID == providerID {
		return nil
	}
	return &gmailapi.Error{Op: "action " + a.ID, Class: gmailapi.ClassInvalid, Err: fmt.Errorf(
		"message %s was %s at Gmail when it was decided about, and is %s in the database now: it was altered there", a.MessageID, a.ProviderMessageID, providerID)}
}

// kindOf returns the kind of an action that this job carries out. The decision has been checked when it was made; the host may
// carry out other kinds since, and the action may have been recorded otherwise.
func (j *jobs) kindOf(a postroom.Action) (postroom.Kind, error) {
	kind, err := j.Kinds.Find(a.Type)
	switch {
	case err != nil:
	case kind.Job != postroom.ActionJob:
		err = fmt.Errorf("action %s is carried out by the job %s", a.Type, kind.Job)
	default:
		err = kind.CheckParameters(a.Parameters, time.Time{})
	}
	if err != nil {
		err = &gmailapi.Error{Op: "action " + a.ID, Class: gmailapi.ClassInvalid, Err: err}
	}
	return kind, err
}

func perform(ctx context.Context, client *gmailapi.Client, id string, before postroom.Snapshot, e postroom.Effect) (outcome, error) {
	after := before
	change := needed(e.Change, before)
	if !change.IsZero() {
		var err error
		if after, err = applyChange(ctx, client, id, change); err != nil {
			return outcome{}, err
		}
	}
	hint := postroom.UndoHint{
		InverseAction: e.Inverse, InverseParameters: e.InverseParameters, Before: &before, After: &after, Change: &e.Change,
	}
	return outcome{hint: hint, made: change}, nil
}

// deleteMessage deletes a message permanently. It starts a step before the call: if a later attempt finds the message gone, an
// earlier attempt whose answer was lost deleted it.
func deleteMessage(ctx context.Context, w *queue.Work[ActionPayload], client *gmailapi.Client, id string, before postroom.Snapshot) (outcome, error) {
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

// failAction ends the action if no attempt follows, and returns the error of the handler.
func (j *jobs) failAction(ctx context.Context, w *queue.Attempt, a postroom.Action, cause error) error {
	return j.endAction(ctx, w, a, cause, func(ctx context.Context, tx queue.Tx) error {
		if gmailapi.ClassOf(cause) != gmailapi.ClassGone {
			return nil
		}
		return j.foundGone(ctx, tx, a.AccountID, a.MessageID)
	})
}
