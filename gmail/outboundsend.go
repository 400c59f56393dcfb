package gmail

import (
	"context"
	"errors"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/queue"
)

// handToOutbox ends the job of an action that sends a message with the job that does: its message is composed, and refused here if
// it must not be sent. It reports whether the action is one.
func (j *jobs) handToOutbox(ctx context.Context, w *queue.Work[ActionPayload]) (sends bool, err error) {
	if j.Outbox == nil {
		return false, nil
	}
	a, err := j.Outbox.Ledger.Action(ctx, w.Payload.ActionID)
	if err != nil || !isOutbound(a.Type) || a.State != postroom.ActionQueued || a.AccountID != w.Payload.AccountID {
		return false, notMissing(err) // whatever is wrong with it, the usual way finds it
	}
	send, err := j.Outbox.sendJob(ctx, a, w.Write)
	switch {
	case errors.Is(err, errNotVouched):
		return false, nil
	case err != nil:
		return true, j.failQueued(ctx, w, err)
	}
	return true, w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
		_, err := w.Queue().EnqueueTx(ctx, tx, send)
		return err
	})
}

func notMissing(err error) error {
	if errors.Is(err, postroom.ErrNotFound) {
		return nil
	}
	return err
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

// send sends the message of an action, once.
func (j *jobs) send(ctx context.Context, w *queue.Work[OutboundPayload]) error {
	action, err := j.startAction(ctx, w.Attempt, ActionPayload{AccountID: w.Payload.AccountID, ActionID: w.Payload.ActionID})
	switch {
	case err != nil:
		return err
	case action.State != postroom.ActionExecuting:
		w.SetResult(map[string]string{"skipped": "the action is " + string(action.State)})
		return nil
	}
	look := j.look(w.Write, action.AccountID)
	sent, err := look.deliver(ctx, w.Attempt, j.Outbox, action)
	if err != nil {
		return j.failSend(ctx, w, action, err)
	}
	w.SetResult(map[string]string{"sent_message_id": sent.ID, "thread_id": sent.ThreadID})
	err = w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
		if err := look.rows.markSent(ctx, tx, action.ID, sent); err != nil {
			return err
		}
		return j.Ledger.Complete(ctx, tx, action.ID, sentHint(sent))
	})
	if err != nil {
		// It is sent, whatever the ledger says.
		note := w.Write(ctx, func(ctx context.Context, tx queue.Tx) error { return look.rows.markSent(ctx, tx, action.ID, sent) })
		return queue.Defer(errors.Join(err, note), max(retrySoon, attempts.Held(w.Job.Interruptions, time.Time{}, time.Now())))
	}
	return nil
}

// failSend makes the error of the handler, and fails the action if no attempt follows. While the outcome of a send is unknown,
// another attempt always follows. If it cannot be found out any more, the message goes on counting as one that may have been sent.
func (j *jobs) failSend(ctx context.Context, w *queue.Work[OutboundPayload], a postroom.Action, cause error) error {
	if waits, verdict := whileUnclear(w.Attempt, cause); waits {
		return verdict
	}
	return j.endAction(ctx, w.Attempt, a, cause, func(ctx context.Context, tx queue.Tx) error {
		return j.look(w.Write, a.AccountID).rows.noteFailure(ctx, tx, a, cause)
	})
}

// look finds out what earlier attempts of the account's actions have sent.
func (j *jobs) look(write writer, accountID string) *look {
	open := func(ctx context.Context) (*gmailapi.Client, error) {
		_, client, err := j.open(ctx, accountID)
		return client, err
	}
	return newLook(j.Store.DB(), write, open, j.Outbox)
}
