package gmail

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/queue"
)

// stepDelete is started before a message is deleted permanently.
const stepDelete = "delete"

// act carries out one action of the ledger. It stores the image of the message before it changes anything at Gmail; a
// later attempt does the rest and completes with that first image.
func (j *jobs) act(ctx context.Context, w *queue.Work[ActionPayload]) (err error) {
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
	defer func() { j.hastenNext(ctx, w.Attempt, action.AccountID, action.MessageID, err) }()
	done, err := j.perform(ctx, w, action)
	if err != nil {
		return j.failAction(ctx, w.Attempt, action, err)
	}
	return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
		if err := j.Ledger.Complete(ctx, tx, action.ID, done.hint); err != nil {
			return err
		}
		if done.commit != nil {
			if err := done.commit(ctx, tx); err != nil {
				return err
			}
		}
		return j.acted(ctx, tx, action)
	})
}

// handToOutbox ends the job of an action that sends a message with the job that does: its message is composed, and
// refused here if it must not be sent. It reports whether the action is one.
func (j *jobs) handToOutbox(ctx context.Context, w *queue.Work[ActionPayload]) (sends bool, err error) {
	if j.Outbox == nil {
		return false, nil
	}
	send, sends, err := j.Outbox.SendJob(ctx, w.Payload.AccountID, w.Payload.ActionID, w.Write)
	switch {
	case sends && err != nil:
		return true, j.failQueued(ctx, w, err)
	case !sends:
		return false, err
	}
	return true, w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
		_, err := w.Queue().EnqueueTx(ctx, tx, send)
		return err
	})
}

// failQueued fails an action that has not been started.
func (j *jobs) failQueued(ctx context.Context, w *queue.Work[ActionPayload], cause error) error {
	if verdict := gmailapi.Verdict(cause); ctx.Err() != nil || !w.Ends(verdict) {
		return verdict
	}
	action, err := j.startAction(ctx, w.Attempt, w.Payload)
	if err != nil || action.State != postroom.ActionExecuting {
		return errors.Join(cause, err)
	}
	return j.failAction(ctx, w.Attempt, action, cause)
}

// An outcome is the result of an action: the hint that undoes it, and what is stored when it completes.
type outcome struct {
	hint   postroom.UndoHint
	commit postroom.Commit // nil: nothing is stored
}

// perform carries out an action that is executing.
func (j *jobs) perform(ctx context.Context, w *queue.Work[ActionPayload], a postroom.Action) (outcome, error) {
	kind, err := j.kindOf(a)
	switch {
	case err != nil:
		return outcome{}, err
	case a.Type == postroom.None:
		return outcome{hint: postroom.UndoHint{InverseAction: postroom.None}}, nil
	case kind.Handler != nil:
		return j.runHandler(ctx, w, kind, a)
	}
	return j.change(ctx, w, kind, a)
}

// kindOf returns the kind of an action that this job carries out. The decision has been checked when it was made; the
// host may carry out other kinds since, and the action may have been recorded otherwise.
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

// A run is an attempt of an action's job, as the Handler of a kind sees it.
type run struct{ *queue.Attempt }

var _ postroom.Run = run{}

func (r run) JobID() string { return r.Job.ID }

func (r run) StepJSON(ctx context.Context, name string, fn func(ctx context.Context) (json.RawMessage,
	error)) (json.RawMessage, error) {
	return queue.Step(ctx, r.Attempt, name, fn)
}

// runHandler carries out an action by the Handler of its kind.
func (j *jobs) runHandler(ctx context.Context, w *queue.Work[ActionPayload], kind postroom.Kind,
	a postroom.Action) (done outcome, err error) {
	if a.Parameters, err = j.withLabels(ctx, w.Attempt, a); err != nil {
		return done, err
	}
	did, err := kind.Handler(ctx, run{w.Attempt}, a)
	if err != nil {
		return done, err
	}
	done = outcome{
		hint:   postroom.UndoHint{InverseAction: postroom.None, Irreversible: kind.Undo == nil},
		commit: did.Commit,
	}
	if kind.Undo != nil {
		done.hint.Undo = did.Undo
		if done.hint.Undo == nil {
			done.hint.Undo = postroom.Parameters{}
		}
	}
	return done, nil
}

// openMessage returns an action's account with its client, and the stored copy of its message.
func (j *jobs) openMessage(ctx context.Context, a postroom.Action) (account mailstore.Account, client *gmailapi.Client,
	known mailstore.Copy, err error) {
	if account, client, err = j.open(ctx, a.AccountID); err != nil {
		return account, nil, known, err
	}
	known, err = j.Store.Copies().Copy(ctx, a.AccountID, a.MessageID)
	if err == nil {
		err = mailstore.CheckProviderID(a, known.ProviderID)
	}
	return account, client, known, err
}

// change changes the message at Gmail. The labels that it needs are made before the image is read.
func (j *jobs) change(ctx context.Context, w *queue.Work[ActionPayload], kind postroom.Kind,
	a postroom.Action) (outcome, error) {
	account, client, known, err := j.openMessage(ctx, a)
	if err != nil {
		return outcome{}, err
	}
	id := known.ProviderID
	parameters, err := j.withLabels(ctx, w.Attempt, a)
	if err != nil {
		return outcome{}, err
	}
	before, err := readBefore(ctx, w, client, id, account.HistoryID)
	if err != nil {
		return outcome{}, err
	}
	var hint postroom.UndoHint
	var made postroom.LabelChange
	switch a.Type {
	case postroom.Delete:
		hint, err = deleteMessage(ctx, w, client, id, before.Snapshot)
	case postroom.Snooze:
		hint, made, err = j.snooze(ctx, w, client, id, before, kind, a)
	default:
		does := kind.Effect(parameters)
		does.Inverse = cmp.Or(does.Inverse, "undo_"+a.Type)
		hint, made, err = applyEffect(ctx, client, id, before, does)
	}
	store := func(ctx context.Context, tx postroom.Tx) error {
		if a.Type == postroom.Delete {
			_, err := j.Store.Copies().MarkDeletedByID(ctx, tx, a.AccountID, a.MessageID)
			return err
		}
		return j.Store.Copies().StoreOwnChange(ctx, tx, a.AccountID, known, made, *hint.After)
	}
	return outcome{hint, store}, before.unlessUntouched(ctx, w, err)
}

// applyEffect makes the change of labels of a kind of action, but for what somebody has taken back since an earlier
// attempt. It returns the hint that undoes it, and what of the change was not so before.
func applyEffect(ctx context.Context, client *gmailapi.Client, id string, before beforeImage,
	e postroom.Effect) (hint postroom.UndoHint, made postroom.LabelChange, err error) {
	after := before.Snapshot
	made = needed(e.Change, before.Snapshot)
	if !made.IsZero() {
		var rest postroom.LabelChange
		if rest, after, err = before.unlessTakenBack(ctx, client, id, made); err == nil && !rest.IsZero() {
			after, err = applyChange(ctx, client, id, rest)
		}
		if err != nil {
			return hint, made, err
		}
	}
	hint = postroom.UndoHint{InverseAction: e.Inverse, InverseParameters: e.InverseParameters, Before: &before.Snapshot,
		After: &after, Change: &e.Change}
	return hint, made, nil
}

// deleteMessage deletes a message permanently. It starts a step before the call: if a later attempt finds the message
// gone, an earlier attempt whose answer was lost deleted it.
func deleteMessage(ctx context.Context, w *queue.Work[ActionPayload], client *gmailapi.Client, id string,
	before postroom.Snapshot) (postroom.UndoHint, error) {
	begun, err := w.StepStarted(ctx, stepDelete)
	if err == nil && !begun {
		err = w.StartStep(ctx, stepDelete)
	}
	if err != nil {
		return postroom.UndoHint{}, err
	}
	if err = client.Delete(ctx, id); err != nil && (!begun || !errors.Is(err, postroom.ErrMessageGone)) {
		return postroom.UndoHint{}, err
	}
	return postroom.UndoHint{InverseAction: postroom.None, Irreversible: true, Before: &before}, nil
}
