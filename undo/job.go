package undo

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
)

// JobAction, "undo.action", undoes one action. Enqueue it with [Undoer.Request].
const JobAction queue.Type[ActionPayload] = attempts.Undo

// An ActionPayload names the action that a [JobAction] undoes.
type ActionPayload struct {
	AccountID        string `json:"account_id"`
	OriginalActionID string `json:"original_action_id"`
}

// newJob has a key that is free again once the job has finished: a failed undo can be requested again.
func (u *Undoer) newJob(original postroom.Action) queue.NewJob {
	options := &queue.Options{Key: queue.WhileUnfinished(jobKey(original)), MaxAttempts: attempts.Unattended,
		Tags: []string{attempts.MessageTag(original.MessageID)}}
	if limiter, ok := u.mailbox.(Limiter); ok {
		options.LimitKey = limiter.LimitKey(original.AccountID)
	}
	return JobAction.New(ActionPayload{AccountID: original.AccountID, OriginalActionID: original.ID}, options)
}

func jobKey(original postroom.Action) string {
	return fmt.Sprintf("%s:%s:%s", JobAction, original.AccountID, original.ID)
}

// handle is the handler of [JobAction].
func (u *Undoer) handle(ctx context.Context, w *queue.Work[ActionPayload]) error {
	original, err := u.original(ctx, w.Payload)
	if err != nil {
		return err
	}
	undo, err := u.begin(ctx, w, original.ID)
	if err != nil {
		return err
	}
	restore := u.restore
	if byHost(original) {
		restore = u.restoreByHost
	}
	if err = restore(ctx, w, original, undo); err != nil {
		err = u.failed(ctx, w, undo.ID, err)
	}
	if err == nil || w.Ends(err) {
		u.hastenNext(ctx, w.Attempt, original)
	}
	return err
}

// hastenNext makes the jobs due that have waited for the end of the undo. If that fails, they run a little later.
func (u *Undoer) hastenNext(ctx context.Context, w *queue.Attempt, original postroom.Action) {
	hastener, ok := u.mailbox.(Hastener)
	if !ok {
		return
	}
	queued, err := u.ledger.Queued(ctx, original.AccountID, original.MessageID)
	if err == nil {
		err = hastener.Hasten(ctx, u.queue, original.AccountID, original.MessageID, queued)
	}
	if err != nil {
		w.Logger().DebugContext(ctx, "the next action of the message is not hastened", "error", err)
	}
}

// original repeats the checks of [Undoer.Request]: the state may have changed since, and jobs can be enqueued by hand.
func (u *Undoer) original(ctx context.Context, p ActionPayload) (postroom.Action, error) {
	a, err := u.ledger.Action(ctx, p.OriginalActionID)
	if errors.Is(err, postroom.ErrNotFound) {
		return a, queue.Fatal(err)
	}
	if err != nil {
		return a, err
	}
	if a.AccountID != p.AccountID {
		return a, queue.Fatal(fmt.Errorf("undo: action %s does not belong to account %s", a.ID, p.AccountID))
	}
	if err := u.check(a, nil); err != nil {
		return a, queue.Fatal(err)
	}
	err = u.checkAccount(ctx, nil, a)
	if errors.Is(err, ErrAccountRemoved) {
		err = queue.Fatal(err)
	}
	return a, err
}

// begin records the undo as this job's. While another action of the message executes, the job is deferred. If the job
// of an action, or of an undo of the same action, has ended without finishing it, because it was canceled or its
// process died too often, begin ends that action.
func (u *Undoer) begin(ctx context.Context, w *queue.Work[ActionPayload], originalID string) (undo postroom.Action,
	err error) {
	start := func(ctx context.Context, tx queue.Tx) error {
		undo, err = u.ledger.StartUndo(ctx, tx, originalID, w.Job.ID)
		return err
	}
	err = w.Write(ctx, start)
	if held, ok := errors.AsType[*postroom.HeldError](err); ok {
		return undo, queue.Defer(held, attempts.Held(w.Job.Interruptions, held.Until, time.Now()))
	}
	if errors.Is(err, safety.ErrAltered) {
		return undo, queue.Fatal(err)
	}
	holder, verdict := inTheWay(err, w.Job.Interruptions)
	if holder.ActionID == "" {
		return undo, verdict
	}
	dead, deadErr := u.ended(ctx, holder.JobID)
	if deadErr != nil || !dead {
		return undo, cmp.Or(deadErr, verdict)
	}
	end, err := u.endOf(ctx, holder.ActionID)
	if err != nil {
		return undo, err
	}
	err = w.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		if err := u.end(ctx, tx, holder.ActionID, end); err != nil {
			return err
		}
		return start(ctx, tx)
	})
	return undo, err
}

// inTheWay returns the executing action that keeps an undo from starting, if any, and the handler's error while it
// executes.
func inTheWay(err error, interruptions int) (holder postroom.BusyError, verdict error) {
	var taken *safety.UndoneError
	var busy *postroom.BusyError
	switch {
	case errors.As(err, &busy):
		return *busy, queue.Defer(attempts.InTurn(err), attempts.Turn(interruptions))
	case errors.As(err, &taken) && taken.Undo.State == postroom.ActionExecuting:
		return postroom.BusyError{ActionID: taken.Undo.ID, JobID: taken.Undo.JobID}, queue.Fatal(err)
	case errors.As(err, &taken):
		return holder, queue.Fatal(err)
	}
	return holder, err
}

// ended reports whether the job has finished, or is no more.
func (u *Undoer) ended(ctx context.Context, jobID string) (bool, error) {
	job, err := u.queue.Job(ctx, jobID)
	if errors.Is(err, queue.ErrJobNotFound) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return job.State.Finished(), nil
}

// restore changes the message and then, in one transaction, the ledger, the stored copy of the message and the job.
//
// The snapshot that the first attempt has read is a step of the job: after a crash, a later attempt cannot mistake the
// first attempt's change for one of the user's.
func (u *Undoer) restore(ctx context.Context, w *queue.Work[ActionPayload], original, undo postroom.Action) error {
	snapshot := func(ctx context.Context) (postroom.Snapshot, error) {
		return u.mailbox.Snapshot(ctx, original.AccountID, original.MessageID)
	}
	if err := u.identify(ctx, original); err != nil {
		return err
	}
	store, err := u.mailbox.Follow(ctx, original.AccountID, original.MessageID)
	if err != nil {
		return err
	}
	fresh := false
	seen, err := queue.Step(ctx, w, "image "+undo.ID, func(ctx context.Context) (postroom.Snapshot, error) {
		fresh = true
		return snapshot(ctx)
	})
	if err != nil {
		return err
	}
	report, err := u.plan(ctx, original, seen)
	if err != nil {
		return err
	}
	if err := u.revive(ctx, w, original); err != nil {
		return err
	}
	change, now := report.Restored, seen
	if !fresh {
		if now, err = snapshot(ctx); err != nil {
			return err
		}
		change, report = resume(report, seen, now)
	}
	if !change.IsZero() {
		if now, err = u.mailbox.Apply(ctx, original.AccountID, original.MessageID, change); err != nil {
			return err
		}
	}
	hint := hintOf(original, seen, now)
	return u.finish(ctx, w, original, undo, report, hint, func(ctx context.Context, tx queue.Tx) error {
		return store(ctx, tx, report.Restored, now)
	})
}

func (u *Undoer) identify(ctx context.Context, original postroom.Action) error {
	if known, ok := u.mailbox.(Identifier); ok {
		return known.Identify(ctx, original)
	}
	return nil
}

// hintOf returns the hint of an undo: the original is its inverse. The undo of an undo has none.
func hintOf(original postroom.Action, before, after postroom.Snapshot) postroom.UndoHint {
	hint := postroom.UndoHint{InverseAction: original.Type, InverseParameters: original.Parameters, Before: &before,
		After: &after}
	if safety.IsUndo(original.Type) {
		hint.InverseAction, hint.InverseParameters, hint.Irreversible = postroom.None, nil, true
		return hint
	}
	if id, ok := original.UndoHint.InverseParameters.Text(postroom.ParamCancelJob); ok {
		hint.InverseParameters = postroom.Parameters{paramReviveJob: id}
		maps.Copy(hint.InverseParameters, original.Parameters)
	}
	return hint
}

func (u *Undoer) finish(
	ctx context.Context, w *queue.Work[ActionPayload], original, undo postroom.Action, report Report,
	hint postroom.UndoHint,
	store func(ctx context.Context, tx queue.Tx) error,
) error {
	stored, err := json.Marshal(report)
	if err != nil {
		return queue.Fatal(err)
	}
	scheduled, err := u.scheduled(ctx, original)
	if err != nil {
		return err
	}
	waiting, err := u.putOff(ctx, original)
	if err != nil {
		return err
	}
	return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
		if err := u.ledger.SetReport(ctx, tx, undo.ID, stored); err != nil {
			return err
		}
		if err := u.ledger.Complete(ctx, tx, undo.ID, hint); err != nil {
			return err
		}
		if err := store(ctx, tx); err != nil {
			return err
		}
		if err := u.cancel(ctx, tx, scheduled); err != nil {
			return err
		}
		return u.makeDue(ctx, tx, waiting)
	})
}
