package gmail

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

// retrySoon is the wait for what is usually over in a moment.
const retrySoon = 5 * time.Second

// firstLook is how soon after an attempt whose outcome is not known the job looks what became of it: 5 s by default.
func (o *Outbox) firstLook() time.Duration { return o.Settle / 24 }

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
	m, _, err := j.Outbox.prepare(ctx, a, OutboundPayload{}, w.Write)
	if err != nil {
		return true, j.failQueued(ctx, w, err)
	}
	return true, w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
		_, err := w.Queue().EnqueueTx(ctx, tx, m.job())
		return err
	})
}

// payloadRoom is how large a message may be to go along in the payload of its job, where people see it. The job reads a larger one
// from its table.
const payloadRoom = 256 << 10

func (m *outboundMessage) job() queue.NewJob {
	if len(m.Payload) > payloadRoom {
		return NewOutboundSendJob(m.AccountID, m.ActionID)
	}
	return m.payload.job()
}

func notMissing(err error) error {
	if errors.Is(err, postroom.ErrNotFound) {
		return nil
	}
	return err
}

// failQueued fails an action that has not been started.
func (j *jobs) failQueued(ctx context.Context, w *queue.Work[ActionPayload], cause error) error {
	if verdict := Verdict(cause); ctx.Err() != nil || !w.Ends(verdict) {
		return verdict
	}
	action, err := j.startAction(ctx, w.Attempt, w.Payload)
	if err != nil || action.State != postroom.ActionExecuting {
		return errors.Join(cause, err)
	}
	return j.failAction(ctx, w, action, cause)
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
	sent, err := j.deliver(ctx, w, action)
	if err != nil {
		return j.failSend(ctx, w, action, err)
	}
	w.SetResult(map[string]string{"sent_message_id": sent.ID, "thread_id": sent.ThreadID})
	hint := postroom.UndoHint{InverseAction: postroom.None, Irreversible: true, SentMessageID: sent.ID}
	err = w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
		if err := j.Store.markSent(ctx, tx, action.ID, sent); err != nil {
			return err
		}
		return j.Ledger.Complete(ctx, tx, action.ID, hint)
	})
	if err != nil {
		// It is sent, whatever the ledger says.
		note := w.Write(ctx, func(ctx context.Context, tx queue.Tx) error { return j.Store.markSent(ctx, tx, action.ID, sent) })
		return queue.Defer(errors.Join(err, note), retrySoon)
	}
	return nil
}

// An unclearError says that a message may have been sent.
type unclearError struct {
	err   error
	wait  time.Duration // until looking is of use
	tried bool          // this attempt has tried to send, and counts
}

func (e *unclearError) Error() string {
	return fmt.Sprintf("it is not known whether the message was sent: %v", e.err)
}

func (e *unclearError) Unwrap() error { return e.err }

// waitFor is how long to wait after a look that has failed.
func (o *Outbox) waitFor(err error) time.Duration {
	if e, ok := errors.AsType[*Error](err); ok && (e.Class.spares() || e.RetryAfter > 0) {
		return e.delay()
	}
	return o.firstLook()
}

// errNotSent is that of a message that was certainly not sent.
var errNotSent = errors.New("gmail: Gmail has not sent the message, though it was asked to: neither its search nor its history has it")

// deliver sends the message, or finds it sent by an earlier attempt.
func (j *jobs) deliver(ctx context.Context, w *queue.Work[OutboundPayload], a postroom.Action) (MessageRef, error) {
	_, client, err := j.open(ctx, a.AccountID)
	if err != nil {
		return MessageRef{}, err
	}
	if m, err := j.Store.outbound(ctx, a.ID); err == nil {
		sent, found, err := j.lookForSent(ctx, w, client, m)
		if found || err != nil {
			return sent, err
		}
	} else if !errors.Is(err, postroom.ErrNotFound) {
		return MessageRef{}, err
	}
	m, raw, err := j.Outbox.prepare(ctx, a, w.Payload, w.Write)
	if err != nil {
		return MessageRef{}, err
	}
	return j.attempt(ctx, w, client, m, raw)
}

// lookForSent finds out what became of an earlier attempt whose outcome is not known. If the message was sent, found is true; if
// it certainly was not, there is no error, and the message may be sent.
func (j *jobs) lookForSent(ctx context.Context, w *queue.Work[OutboundPayload], client *Client, m *outboundMessage) (sent MessageRef, found bool, err error) {
	switch {
	case m.SentID != "":
		return MessageRef{ID: m.SentID, ThreadID: m.SentThreadID}, true, nil
	case m.OpenUntil.IsZero():
		return MessageRef{}, false, nil
	}
	var now time.Time // of the database, as that of the attempt was
	if err := w.Write(ctx, func(_ context.Context, tx queue.Tx) error { now = queue.Now(tx); return nil }); err != nil {
		return MessageRef{}, false, err
	}
	sent, found, err = client.FindSent(ctx, m.MessageID, uint64(m.HistoryID))
	wait := m.OpenUntil.Sub(now)
	switch {
	case err != nil:
		return sent, false, &unclearError{err: err, wait: j.Outbox.waitFor(err)}
	case found:
		return sent, true, nil
	case wait > 0:
		return sent, false, &unclearError{err: errors.New("gmail: the message is not found, and may still come"), wait: wait}
	case w.Ends(errNotSent):
		return sent, false, queue.Fatal(errNotSent)
	}
	return sent, false, nil
}

// attempt sends the message. That it is about to do so is stored before.
func (j *jobs) attempt(ctx context.Context, w *queue.Work[OutboundPayload], client *Client, m *outboundMessage, raw []byte) (MessageRef, error) {
	before := uint64(m.HistoryID)
	if before == 0 {
		profile, err := client.Profile(ctx)
		if err != nil {
			return MessageRef{}, err
		}
		before = profile.HistoryID
	}
	bound := client.uploadTimeout(len(raw))
	ctx, cancel := context.WithTimeout(ctx, bound) // whoever takes over knows that no attempt is later than that
	defer cancel()
	err := w.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		return j.Outbox.beginSend(ctx, tx, m, before, dbtime.Of(queue.Now(tx).Add(bound+j.Outbox.Settle)))
	})
	if err != nil {
		return MessageRef{}, err
	}
	sent, err := client.Send(ctx, raw, m.payload.ThreadID)
	if err == nil && sent.ID == "" {
		err = &Error{Op: "send message", Class: ClassAnswer, Err: errors.New("the answer names no message")}
	}
	if err == nil {
		return sent, nil
	}
	return sent, j.closeAttempt(ctx, w, m, err, isUnclear(err, len(raw)))
}

// closeAttempt notes the end of an attempt that failed. What is not known then is known after Settle.
func (j *jobs) closeAttempt(ctx context.Context, w *queue.Work[OutboundPayload], m *outboundMessage, cause error, unclear bool) error {
	note := w.Write(context.WithoutCancel(ctx), func(ctx context.Context, tx queue.Tx) error {
		if !unclear {
			return j.Store.forgetAttempt(ctx, tx, m.ActionID)
		}
		return j.Store.setOpenUntil(ctx, tx, m.ActionID, dbtime.Of(queue.Now(tx).Add(j.Outbox.Settle)))
	})
	switch {
	case unclear:
		return &unclearError{err: errors.Join(cause, note), wait: j.Outbox.firstLook(), tried: true}
	case note != nil: // the attempt stays open, and is looked after
		return &unclearError{err: errors.Join(cause, note), wait: retrySoon, tried: true}
	}
	return cause
}

// failSend makes the error of the handler, and fails the action if no attempt follows. While it is not known whether the message
// was sent, one always follows.
func (j *jobs) failSend(ctx context.Context, w *queue.Work[OutboundPayload], a postroom.Action, cause error) error {
	if unclear, ok := errors.AsType[*unclearError](cause); ok {
		if verdict := queue.RetryAfter(cause, unclear.wait); unclear.tried && !w.Ends(verdict) {
			return verdict
		}
		return queue.Defer(cause, unclear.wait)
	}
	return j.endAction(ctx, w.Attempt, a, cause, func(ctx context.Context, tx queue.Tx) error {
		if err := j.Store.forgetRecipients(ctx, tx, a.AccountID, a.ID); err != nil {
			return err
		}
		return j.Store.forgetAttempt(ctx, tx, a.ID)
	})
}
