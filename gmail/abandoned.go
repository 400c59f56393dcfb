package gmail

import (
	"context"
	"errors"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/queue"
)

// An action is abandoned if its job has ended without it: the job was canceled, or was interrupted or has crashed too often. The next
// job of the message ends the action. If it may have sent a message, the job looks for that first.

// jobEnded is the reason of an abandoned action that has failed.
const jobEnded = "its job ended before it did"

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

// end finds out how an abandoned action ends. While that is not known, it returns the error of a handler that tries again.
func (l *look) end(ctx context.Context, a postroom.Action) (postroom.ActionEnd, error) {
	switch announced := a.UndoHint != nil && a.UndoHint.Announced != nil; {
	case isOutbound(a.Type):
		return l.endSend(ctx, a)
	case announced: // by a kind of the host's own
		return failedEnd(jobEnded + ", and it had announced a step that cannot be taken back: find out whether it was taken"), nil
	}
	return failedEnd(jobEnded), nil
}

// endSend looks for what an action may have sent.
func (l *look) endSend(ctx context.Context, a postroom.Action) (postroom.ActionEnd, error) {
	before, err := l.rows.triedSend(ctx, a)
	sent, found := gmailapi.MessageRef{}, false
	if err == nil && before.mayHaveSent() {
		sent, found, err = l.find(ctx, before)
	}
	unclear, waits := errors.AsType[*unclearError](err)
	switch {
	case waits:
		return postroom.ActionEnd{}, queue.Defer(err, unclear.wait)
	case gmailapi.ClassOf(err) == gmailapi.ClassNotFound:
		return postroom.ActionEnd{State: postroom.ActionCanceled, Reason: mailboxRemoved}, nil
	case errors.Is(err, errLost), gmailapi.ClassOf(err) == gmailapi.ClassRefused: // a person has to look
		return failedEnd(jobEnded + ", and " + err.Error()), nil
	case err != nil:
		return postroom.ActionEnd{}, err
	case found:
		return sentEnd(l.rows, a, sent), nil
	}
	end := failedEnd(jobEnded + ", and nothing was sent")
	end.Commit = func(ctx context.Context, tx postroom.Tx) error { return l.rows.forgetSend(ctx, tx, a) }
	return end, nil
}

func failedEnd(reason string) postroom.ActionEnd {
	return postroom.ActionEnd{State: postroom.ActionFailed, Reason: reason}
}

// sentEnd is the end of an action whose message was sent.
func sentEnd(s outboundRows, a postroom.Action, sent gmailapi.MessageRef) postroom.ActionEnd {
	return postroom.ActionEnd{
		State: postroom.ActionCompleted, Hint: sentHint(sent),
		Commit: func(ctx context.Context, tx postroom.Tx) error { return s.markSent(ctx, tx, a.ID, sent) },
	}
}

// sentHint is the undo hint of an action that has sent a message.
func sentHint(sent gmailapi.MessageRef) postroom.UndoHint {
	return postroom.UndoHint{InverseAction: postroom.None, Irreversible: true, SentMessageID: sent.ID}
}
