package gmail

import (
	"context"
	"errors"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/queue"
)

// failAction ends the action if no attempt follows, and returns the error of the handler.
func (j *jobs) failAction(ctx context.Context, w *queue.Attempt, a postroom.Action, cause error) error {
	return j.endAction(ctx, w, a, cause, func(ctx context.Context, tx queue.Tx) error {
		return j.noteGone(ctx, tx, a, cause)
	})
}

// noteGone marks the message of an action as deleted if the action fails because Gmail does not have it.
func (j *jobs) noteGone(ctx context.Context, tx queue.Tx, a postroom.Action, cause error) error {
	if gmailapi.ClassOf(cause) != gmailapi.ClassGone {
		return nil
	}
	return j.foundGone(ctx, tx, a.AccountID, a.MessageID)
}

// removed reports whether the cause of a failure is that the account was removed.
func (j *jobs) removed(ctx context.Context, cause error, accountID string) bool {
	if gmailapi.ClassOf(cause) != gmailapi.ClassNotFound {
		return false
	}
	_, err := j.Store.Account(ctx, accountID)
	return errors.Is(err, postroom.ErrNotFound)
}

// endAction makes the error of a handler. If no attempt follows, the action is failed, or canceled if its account was
// removed, or it is not wanted any more, or if it is a reply to somebody who has got one; note is stored with it,
// unless the account was removed.
func (j *jobs) endAction(
	ctx context.Context, w *queue.Attempt, a postroom.Action, cause error,
	note func(ctx context.Context, tx queue.Tx) error,
) error {
	verdict := gmailapi.Verdict(cause)
	removed := j.removed(ctx, cause, a.AccountID)
	// Who writes often stops no rules by failures.
	canceled := removed || errors.Is(cause, outbox.ErrReplied) || errors.Is(cause, ErrNotWanted)
	switch {
	case removed:
		verdict = canceledWith(a.AccountID)
	case canceled:
		verdict = queue.Cancel(cause)
	}
	if ctx.Err() != nil || !w.Ends(verdict) {
		return verdict // a stopped attempt is not the last
	}
	err := w.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		if removed {
			return j.Ledger.Cancel(ctx, tx, a.ID, attempts.MailboxRemoved)
		}
		if err := note(ctx, tx); err != nil {
			return err
		}
		if canceled {
			return j.Ledger.Cancel(ctx, tx, a.ID, cause.Error())
		}
		return j.Ledger.Fail(ctx, tx, a.ID, cause.Error())
	})
	switch {
	case err != nil:
		return errors.Join(cause, err)
	case canceled:
		return verdict
	}
	return queue.Fatal(cause)
}

// An action is abandoned if its job has ended without it: the job was canceled, or was interrupted or has crashed too
// often. The next job of the message ends the action. If it may have sent a message, the job looks for that first.

// endAbandoned ends the action that keeps another of the message from starting, and whose job has ended. From a
// wake-up whose job has ended it takes the turn.
func (j *jobs) endAbandoned(ctx context.Context, w *queue.Attempt, busy *postroom.BusyError) error {
	permit, err := j.Ledger.Permit(ctx, busy.ActionID)
	if err != nil {
		return err
	}
	a := permit.Action
	holder, err := j.Ledger.Executing(ctx, a.AccountID, a.MessageID)
	if err != nil {
		return err
	}
	if holder == nil || holder.ID != a.ID || holder.JobID != busy.JobID {
		return queue.Defer(attempts.InTurn(busy), attempts.Busy(w.Job.Interruptions)) // it has ended meanwhile
	}
	end := postroom.ActionEnd{State: postroom.ActionFailed, Reason: attempts.JobEnded}
	if a.State == postroom.ActionExecuting {
		end, err = j.delivery(w, a.AccountID).End(ctx, a)
	}
	if err != nil {
		return err
	}
	return w.Write(ctx, func(ctx context.Context, tx queue.Tx) error { return j.recordEnd(ctx, tx, a.ID, end) })
}

// recordEnd records the end of an action in the ledger, and what has to be written with it.
func (j *jobs) recordEnd(ctx context.Context, tx queue.Tx, actionID string, end postroom.ActionEnd) error {
	if end.Commit != nil {
		if err := end.Commit(ctx, tx); err != nil {
			return err
		}
	}
	switch end.State {
	case postroom.ActionCompleted:
		return j.Ledger.Complete(ctx, tx, actionID, end.Hint)
	case postroom.ActionCanceled:
		return j.Ledger.Cancel(ctx, tx, actionID, end.Reason)
	}
	return j.Ledger.Fail(ctx, tx, actionID, end.Reason)
}

// endUnstarted fails a queued action that keeps another of the message from starting, and that no job is left to
// carry out. While one is, or may be, it defers the job.
func (j *jobs) endUnstarted(ctx context.Context, w *queue.Attempt, busy *postroom.BusyError) error {
	behind := queue.Defer(attempts.InTurn(busy), attempts.Behind(w.Job.Interruptions))
	permit, err := j.Ledger.Permit(ctx, busy.ActionID)
	if err != nil {
		return err
	}
	a := permit.Action
	kind, known := j.Kinds.Kind(a.Type)
	if a.State != postroom.ActionQueued || !known || kind.Job != string(JobAction) && kind.Job != string(outbox.JobSend) {
		return behind
	}
	// The first of these jobs ends with the other.
	for _, job := range []queue.NewJob{NewActionJob(a.AccountID, a.ID), outbox.NewSendJob(a.AccountID, a.ID)} {
		left, err := w.Queue().Jobs(ctx,
			queue.Filter{Key: job.Key.Name, States: []queue.State{queue.StateQueued, queue.StateRunning}, Limit: 1})
		if err != nil {
			return err
		}
		if len(left) > 0 {
			return behind
		}
	}
	return w.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		return j.Ledger.Fail(ctx, tx, a.ID, attempts.JobEnded)
	})
}
