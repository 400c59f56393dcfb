package gmail

import (
	"context"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/queue"
)

// An action is abandoned if its job has ended without it: the job was canceled, or was interrupted or has crashed too often. The next
// job of the message ends the action. If it may have sent a message, the job looks for that first.

// endAbandoned ends the action that keeps another of the message from starting, and whose job has ended. From a wake-up whose job has
// ended it takes the turn.
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
		return queue.Defer(busy, attempts.Busy(w.Job.Interruptions)) // it has ended meanwhile
	}
	end := failedEnd(jobEnded)
	if a.State == postroom.ActionExecuting {
		end, err = j.look(w.Write, a.AccountID).end(ctx, a)
	}
	if err != nil {
		return err
	}
	return w.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		if end.Commit != nil {
			if err := end.Commit(ctx, tx); err != nil {
				return err
			}
		}
		switch end.State {
		case postroom.ActionCompleted:
			return j.Ledger.Complete(ctx, tx, a.ID, end.Hint)
		case postroom.ActionCanceled:
			return j.Ledger.Cancel(ctx, tx, a.ID, end.Reason)
		}
		return j.Ledger.Fail(ctx, tx, a.ID, end.Reason)
	})
}

// endUnstarted fails a queued action that keeps another of the message from starting, and that no job is left to carry out. While one
// is, or may be, it defers the job.
func (j *jobs) endUnstarted(ctx context.Context, w *queue.Attempt, busy *postroom.BusyError) error {
	behind := queue.Defer(busy, attempts.Behind(w.Job.Interruptions))
	permit, err := j.Ledger.Permit(ctx, busy.ActionID)
	if err != nil {
		return err
	}
	a := permit.Action
	kind, known := j.Kinds.Kind(a.Type)
	if a.State != postroom.ActionQueued || !known || kind.Job != string(JobAction) && kind.Job != string(JobOutboundSend) {
		return behind
	}
	// The first of these jobs ends with the other.
	for _, job := range []queue.NewJob{NewActionJob(a.AccountID, a.ID), NewOutboundSendJob(a.AccountID, a.ID)} {
		left, err := w.Queue().Jobs(ctx, queue.Filter{Key: job.Key.Name, States: []queue.State{queue.StateQueued, queue.StateRunning}, Limit: 1})
		if err != nil {
			return err
		}
		if len(left) > 0 {
			return behind
		}
	}
	return w.Write(ctx, func(ctx context.Context, tx queue.Tx) error { return j.Ledger.Fail(ctx, tx, a.ID, jobEnded) })
}
