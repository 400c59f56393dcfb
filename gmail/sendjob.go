package gmail

import (
	"context"
	"errors"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/queue"
)

func accountOfSend(p outbox.Payload) string { return p.AccountID }

// send sends the message of an action, once.
func (j *jobs) send(ctx context.Context, w *queue.Work[outbox.Payload]) (err error) {
	action, err := j.startAction(ctx, w.Attempt, ActionPayload{AccountID: w.Payload.AccountID,
		ActionID: w.Payload.ActionID})
	switch {
	case errors.Is(err, outbox.ErrRecipientLimit):
		return j.waitForRecipients(ctx, w.Attempt, action)
	case err != nil:
		return err
	case action.State != postroom.ActionExecuting:
		w.SetResult(map[string]string{"skipped": "the action is " + string(action.State)})
		return j.leaveTurn(ctx, w.Attempt, action)
	}
	defer func() { j.hastenNext(ctx, w.Attempt, action.AccountID, action.MessageID, err) }()
	delivery := j.delivery(w.Attempt, action.AccountID)
	sent, err := delivery.Send(ctx, w.Attempt, action)
	if err != nil {
		return j.failSend(ctx, w.Attempt, delivery, action, err)
	}
	w.SetResult(map[string]string{"sent_message_id": sent.ID, "thread_id": sent.ThreadID})
	end := delivery.Sent(action, sent)
	err = w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error { return j.recordEnd(ctx, tx, action.ID, end) })
	if err != nil {
		// It is sent, whatever the ledger says.
		note := w.Write(ctx, func(ctx context.Context, tx queue.Tx) error { return end.Commit(ctx, tx) })
		return queue.Defer(errors.Join(err, note),
			max(attempts.Soon, attempts.Held(w.Job.Interruptions, time.Time{}, time.Now())))
	}
	return nil
}

// waitForRecipients puts the message of a queued action off until the limits of its recipients allow it, or asks a
// person if that is too long.
func (j *jobs) waitForRecipients(ctx context.Context, w *queue.Attempt, a postroom.Action) error {
	var turn outbox.Turn
	err := w.Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
		if turn, err = j.Outbox.Wait(ctx, tx, a); err != nil || !turn.Ask {
			return err
		}
		if _, err := j.Ledger.Hold(ctx, tx, a.ID, turn.Reason); err != nil {
			return err
		}
		return w.CompleteTx(ctx, tx) // the key of the job is free for the one that follows the approval
	})
	switch {
	case err != nil || turn.Ask:
		return err
	case turn.Until.IsZero(): // its turn came meanwhile
		return queue.Defer(outbox.ErrRecipientLimit, attempts.Busy(w.Job.Interruptions))
	}
	return whileHeld(w.Job.Interruptions, &postroom.HeldError{Until: turn.Until, Reason: turn.Reason})
}

// leaveTurn makes room for those that wait behind an action that has ended before its turn.
func (j *jobs) leaveTurn(ctx context.Context, w *queue.Attempt, a postroom.Action) error {
	if !a.State.Final() {
		return nil
	}
	return w.Write(ctx, func(ctx context.Context, tx queue.Tx) error { return j.Outbox.Leave(ctx, tx, a) })
}

// failSend makes the error of the handler, and fails the action if no attempt follows. While the outcome of a send is
// unknown, another attempt always follows. If it cannot be found out any more, the message goes on counting as one
// that may have been sent.
func (j *jobs) failSend(ctx context.Context, w *queue.Attempt, delivery *outbox.Delivery, a postroom.Action,
	cause error) error {
	if waits, verdict := outbox.WhileUnclear(w, cause); waits {
		return verdict
	}
	if errors.Is(cause, outbox.ErrReplyUnclear) { // soon it is, mostly
		return queue.Defer(cause, attempts.Held(w.Job.Interruptions, time.Time{}, time.Time{}))
	}
	if errors.Is(cause, postroom.ErrHeld) { // it counts no more, begun a day ago
		return whileHeld(w.Job.Interruptions, cause)
	}
	return j.endAction(ctx, w, a, cause, func(ctx context.Context, tx queue.Tx) error {
		return delivery.NoteFailure(ctx, tx, a, cause)
	})
}

// delivery sends what the account's actions send, and finds out what earlier attempts have sent.
func (j *jobs) delivery(w *queue.Attempt, accountID string) *outbox.Delivery {
	open := func(ctx context.Context) (*gmailapi.Client, error) {
		_, client, err := j.open(ctx, accountID)
		return client, err
	}
	return &outbox.Delivery{DB: j.Store.DB(), Write: w.Write, Open: open, Outbox: j.Outbox}
}
