package gmail

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

// retrySoon is the wait for a condition that is usually brief.
const retrySoon = 5 * time.Second

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
	m, _, err := j.Outbox.prepare(ctx, a, nil, w.Write)
	switch {
	case errors.Is(err, errNotVouched):
		return false, nil
	case err != nil:
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
	sent, err := j.deliver(ctx, w, action)
	if err != nil {
		return j.failSend(ctx, w, action, err)
	}
	w.SetResult(map[string]string{"sent_message_id": sent.ID, "thread_id": sent.ThreadID})
	err = w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
		if err := j.rows().markSent(ctx, tx, action.ID, sent); err != nil {
			return err
		}
		return j.Ledger.Complete(ctx, tx, action.ID, sentHint(sent))
	})
	if err != nil {
		// It is sent, whatever the ledger says.
		note := w.Write(ctx, func(ctx context.Context, tx queue.Tx) error { return j.rows().markSent(ctx, tx, action.ID, sent) })
		return queue.Defer(errors.Join(err, note), max(retrySoon, attempts.Held(w.Job.Interruptions, time.Time{}, time.Now())))
	}
	return nil
}

// deliver sends the message, or finds it sent by an earlier attempt.
func (j *jobs) deliver(ctx context.Context, w *queue.Work[OutboundPayload], a postroom.Action) (gmailapi.MessageRef, error) {
	before, err := j.rows().triedSend(ctx, a)
	if err != nil {
		return gmailapi.MessageRef{}, err
	}
	if before.mayHaveSent() {
		sent, found, err := j.look(w.Write, a.AccountID).find(ctx, before)
		switch {
		case found || err != nil:
			return sent, err
		case w.Ends(errNotSent):
			return sent, queue.Fatal(errNotSent)
		}
	}
	_, client, err := j.open(ctx, a.AccountID)
	if err != nil {
		return gmailapi.MessageRef{}, err
	}
	m, raw, err := j.Outbox.prepare(ctx, a, nil, w.Write)
	if err != nil {
		return gmailapi.MessageRef{}, err
	}
	a.ContentSHA256 = m.SHA256
	s := sending{jobs: j, client: client, action: a, message: m, raw: raw, known: before.announcement, again: before.open}
	return s.attempt(ctx, w)
}

// A sending is one attempt to send a message.
type sending struct {
	*jobs
	client  *gmailapi.Client
	action  postroom.Action // as the ledger has it
	message *outboundMessage
	raw     []byte
	known   announcement // of an earlier attempt
	again   bool         // there was one, and it is not certain that it has sent nothing
}

// attempt sends the message. It signs the announcement before.
func (s *sending) attempt(ctx context.Context, w *queue.Work[OutboundPayload]) (gmailapi.MessageRef, error) {
	m := s.message
	profile, err := profileOf(ctx, s.client, m.mailbox)
	if err != nil {
		return gmailapi.MessageRef{}, err
	}
	next := announcement{mailbox: profile.Email, messageID: m.payload.MessageID, historyID: cmp.Or(s.known.historyID, profile.HistoryID)}
	bound := s.client.UploadTimeout(len(s.raw))
	ctx, cancel := context.WithTimeout(ctx, bound) // whoever takes over knows that no attempt is later than that
	defer cancel()
	err = s.announce(ctx, w.Write, func(ctx context.Context, tx queue.Tx) (*announcement, error) {
		next.until = queue.Now(tx).Add(bound + s.Outbox.Settle)
		return &next, s.Outbox.beginSend(ctx, tx, m, &next, s.again)
	})
	if err != nil {
		return gmailapi.MessageRef{}, err
	}
	sent, err := s.client.Send(ctx, s.raw, m.payload.ThreadID)
	if err == nil && sent.ID == "" {
		err = &gmailapi.Error{Op: "send message", Class: gmailapi.ClassAnswer, Err: errors.New("the answer names no message")}
	}
	if err == nil {
		return sent, nil
	}
	return sent, s.close(ctx, w, next, err)
}

// announce signs an announcement, or its withdrawal if nothing was sent, in the transaction in which fn stores the consequences.
func (s *sending) announce(ctx context.Context, write writer, fn func(ctx context.Context, tx queue.Tx) (*announcement, error)) error {
	var next postroom.Action
	err := write(ctx, func(ctx context.Context, tx queue.Tx) error {
		n, err := fn(ctx, tx)
		if err != nil {
			return err
		}
		var parameters postroom.Parameters
		if n != nil {
			parameters = n.parameters()
		}
		next, err = s.Outbox.Ledger.Announce(ctx, tx, s.action, parameters)
		return err
	})
	if err == nil {
		s.action = next
	}
	return err
}

// close records the end of an attempt that failed. An outcome that is unknown then is known after Settle.
func (s *sending) close(ctx context.Context, w *queue.Work[OutboundPayload], n announcement, cause error) error {
	unclear := gmailapi.IsUnclear(cause, len(s.raw))
	note := s.announce(context.WithoutCancel(ctx), w.Write, func(ctx context.Context, tx queue.Tx) (*announcement, error) {
		if !unclear {
			return nil, s.rows().forgetAttempt(ctx, tx, s.action.ID)
		}
		n.until = queue.Now(tx).Add(s.Outbox.Settle)
		return &n, s.rows().setOpenUntil(ctx, tx, s.action.ID, dbtime.Of(n.until))
	})
	switch {
	case unclear:
		return &unclearError{err: errors.Join(cause, note), wait: firstLook(s.Outbox.Settle), tried: true}
	case note != nil: // the attempt stays open, and is looked after
		return &unclearError{err: errors.Join(cause, note), wait: retrySoon, tried: true}
	}
	return cause
}

// failSend makes the error of the handler, and fails the action if no attempt follows. While the outcome of a send is unknown,
// another attempt always follows. If it cannot be found out any more, the message goes on counting as one that may have been sent.
func (j *jobs) failSend(ctx context.Context, w *queue.Work[OutboundPayload], a postroom.Action, cause error) error {
	if unclear, ok := errors.AsType[*unclearError](cause); ok {
		if verdict := queue.RetryAfter(cause, unclear.wait); unclear.tried && !w.Ends(verdict) {
			return verdict
		}
		return queue.Defer(cause, unclear.wait)
	}
	return j.endAction(ctx, w.Attempt, a, cause, func(ctx context.Context, tx queue.Tx) error {
		if errors.Is(cause, errLost) {
			return nil
		}
		return j.rows().forgetSend(ctx, tx, a)
	})
}
