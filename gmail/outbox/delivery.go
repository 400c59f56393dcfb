package outbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/queue"
)

// A triedSend is what is known of the earlier attempts to send the message of an action.
type triedSend struct {
	intent
	open bool           // there was an attempt, and it is not certain that it has sent nothing
	row  *storedMessage // nil: there is none, or none that can be read
	sent bool           // the row says so: the ledger may not have recorded it
}

// mayHaveSent reports whether an attempt has sent the message, or may have.
func (e *triedSend) mayHaveSent() bool { return e.open || e.sent }

// triedSend reads what is known of the earlier attempts of an action.
func (s messageRows) triedSend(ctx context.Context, a postroom.Action) (e triedSend, err error) {
	e.row, err = s.message(ctx, a.ID)
	if unread := gmailapi.ClassOf(err) == gmailapi.ClassRefused; errors.Is(err, postroom.ErrNotFound) || unread &&
		a.UndoHint != nil {
		e.row, err = nil, nil // the intent has the same facts
	}
	if err != nil {
		return e, err
	}
	e.intent, e.open, err = begun(a, e.row)
	e.sent = e.row != nil && e.row.SentID != "" && a.ContentSHA256 != ""
	return e, err
}

// An unclearError says that a message may have been sent.
type unclearError struct {
	err   error
	wait  time.Duration // until a look can succeed
	tried bool          // this attempt has tried to send, and counts
}

func (e *unclearError) Error() string {
	return fmt.Sprintf("it is not known whether the message was sent: %v", e.err)
}

func (e *unclearError) Unwrap() error { return e.err }

var (
	// errNotSent is the error of a message that was certainly not sent.
	errNotSent = errors.New(
		"outbox: Gmail has not sent the message, though it was asked to: neither its search nor its history has it")
	// errLost is the error of a message of which nobody can find out any more whether it was sent.
	errLost = errors.New("it cannot be told whether the message was sent")
)

// WhileUnclear reports whether an error of [Delivery.Send] says that it is not known whether the message was sent, and
// then returns the error of a handler that tries again. That spends an attempt only if the attempt has tried to send
// and is not the last.
func WhileUnclear(w *queue.Attempt, cause error) (waits bool, verdict error) {
	unclear, waits := errors.AsType[*unclearError](cause)
	if !waits {
		return false, nil
	}
	if verdict = queue.RetryAfter(cause, unclear.wait); unclear.tried && !w.Ends(verdict) {
		return true, verdict
	}
	return true, queue.Defer(cause, unclear.wait)
}

// A Delivery sends the messages of actions, each once, and finds out what has become of earlier attempts. It is of one
// account, and may be made for one job.
type Delivery struct {
	// DB has the messages. Required.
	DB queue.DB
	// Write runs a write transaction, such as one that belongs to the attempt of a job. Required.
	Write func(ctx context.Context, fn func(ctx context.Context, tx queue.Tx) error) error
	// Open returns the client of the account. If the account was removed, the error is [gmailapi.ClassNotFound].
	// Required.
	Open func(ctx context.Context) (*gmailapi.Client, error)
	// Outbox composes the messages; [Delivery.Send] requires it. Default nil: earlier attempts are looked for by the
	// default of [Config].Settle.
	Outbox *Outbox
}

func (d *Delivery) rows() messageRows { return messageRows{d.DB} }

// settle returns how long Gmail may take to show what it has sent.
func (d *Delivery) settle() time.Duration {
	if d.Outbox == nil {
		return defaultSettle
	}
	return d.Outbox.Settle
}

// find finds out whether an attempt has sent the message. If the ledger could not record that it was sent, the row
// has it. If found is false and there is no error, no attempt has, and the message may be sent.
func (d *Delivery) find(ctx context.Context, e triedSend) (sent gmailapi.MessageRef, found bool, err error) {
	var now time.Time // of the database, like the time of the attempt
	if err := d.Write(ctx, func(_ context.Context, tx queue.Tx) error { now = queue.Now(tx); return nil }); err != nil {
		return sent, false, &unclearError{err: err, wait: attempts.Soon}
	}
	client, err := d.Open(ctx)
	switch {
	case gmailapi.ClassOf(err) == gmailapi.ClassNotFound: // the account was removed
		return sent, false, err
	case err == nil && e.row != nil && e.row.SentID != "":
		return e.recorded(ctx, client)
	case err == nil:
		sent, found, err = e.search(ctx, client)
	}
	switch wait := e.until.Sub(now); {
	case found:
		return sent, true, nil
	case err != nil && gmailapi.ClassOf(err) != gmailapi.ClassGone:
		return sent, false, &unclearError{err: err, wait: d.waitFor(err, d.settle()-wait)}
	case wait > 0:
		return sent, false, &unclearError{err: errors.New("outbox: the message is not found, and may still come"), wait: wait}
	case err != nil:
		return sent, false, fmt.Errorf("%w: %w", errLost, err)
	}
	return sent, false, nil
}

// search looks for the message at Gmail.
func (e *triedSend) search(ctx context.Context, client *gmailapi.Client) (sent gmailapi.MessageRef,
	found bool, err error) {
	if e.mailbox != "" {
		_, err = profileOf(ctx, client, e.mailbox)
	}
	if err == nil {
		sent, found, err = client.FindSent(ctx, e.messageID, e.historyID)
	}
	return sent, found, err
}

// recorded returns the message that the row says was sent. A row that says so about a message without an intent
// must be right.
func (e *triedSend) recorded(ctx context.Context, client *gmailapi.Client) (sent gmailapi.MessageRef,
	found bool, err error) {
	if e.messageID == "" {
		err = e.row.checkSent(ctx, client)
	}
	return gmailapi.MessageRef{ID: e.row.SentID, ThreadID: e.row.SentThreadID}, err == nil, err
}

// checkSent returns an error unless the message that the row says was sent is there, and is this one.
func (m *storedMessage) checkSent(ctx context.Context, client *gmailapi.Client) error {
	header, err := client.Header(ctx, m.SentID)
	if err != nil && !errors.Is(err, postroom.ErrMessageGone) {
		return &unclearError{err: err, wait: attempts.Soon}
	}
	if err != nil || header.MessageID != m.payload.MessageID || !slices.Contains(header.LabelIDs, postroom.LabelSent) {
		return refused(m.ActionID,
			"the database says that it was sent as %s, which it is not, and has no intent to send it; look among the sent mail",
			m.SentID)
	}
	return nil
}

// firstLook is how soon after an attempt with an unknown outcome the job looks for the message: 5 s by default.
func firstLook(settle time.Duration) time.Duration { return settle / 24 }

// waitFor is how long to wait after a look that has failed, when the outcome has been unknown for a time.
func (d *Delivery) waitFor(err error, unknown time.Duration) time.Duration {
	wait := attempts.Look(firstLook(d.settle()), unknown)
	if e, ok := errors.AsType[*gmailapi.Error](err); ok && (e.Class.Defers() || e.RetryAfter > 0) {
		return max(wait, e.Delay())
	}
	return wait
}

// End finds out how an action ends whose job has ended without it. It looks for the message that the action may have
// sent, and sends nothing. While it is not known whether the message was sent, the error defers a job.
func (d *Delivery) End(ctx context.Context, a postroom.Action) (postroom.ActionEnd, error) {
	switch declared := a.UndoHint != nil && a.UndoHint.Intent != nil; {
	case sendsMessage(a.Type):
		return d.endSend(ctx, a)
	case declared: // by a kind of the host's own
		return failedEnd(", and it had declared a step that cannot be taken back: find out whether it was taken"), nil
	}
	return failedEnd(""), nil
}

// endSend looks for what an action may have sent.
func (d *Delivery) endSend(ctx context.Context, a postroom.Action) (postroom.ActionEnd, error) {
	before, err := d.rows().triedSend(ctx, a)
	sent, found := gmailapi.MessageRef{}, false
	if err == nil && before.mayHaveSent() {
		sent, found, err = d.find(ctx, before)
	}
	unclear, waits := errors.AsType[*unclearError](err)
	switch {
	case waits:
		return postroom.ActionEnd{}, queue.Defer(err, unclear.wait)
	case gmailapi.ClassOf(err) == gmailapi.ClassNotFound:
		return postroom.ActionEnd{State: postroom.ActionCanceled, Reason: attempts.MailboxRemoved}, nil
	case errors.Is(err, errLost), gmailapi.ClassOf(err) == gmailapi.ClassRefused: // a person has to look
		return failedEnd(", and " + err.Error()), nil
	case err != nil:
		return postroom.ActionEnd{}, err
	case found:
		return d.Sent(a, sent), nil
	}
	end := failedEnd(", and nothing was sent")
	end.Commit = func(ctx context.Context, tx postroom.Tx) error { return d.rows().forgetSend(ctx, tx, a) }
	return end, nil
}

// failedEnd is the end of an action whose job has ended, with what is known besides.
func failedEnd(known string) postroom.ActionEnd {
	return postroom.ActionEnd{State: postroom.ActionFailed, Reason: attempts.JobEnded + known}
}

// Sent returns the end of an action whose message was sent.
func (d *Delivery) Sent(a postroom.Action, sent gmailapi.MessageRef) postroom.ActionEnd {
	return postroom.ActionEnd{
		State:  postroom.ActionCompleted,
		Hint:   postroom.UndoHint{InverseAction: postroom.None, Irreversible: true, SentMessageID: sent.ID},
		Commit: func(ctx context.Context, tx postroom.Tx) error { return d.rows().markSent(ctx, tx, a.ID, sent) },
	}
}

// NoteFailure notes that an action has failed. If it cannot be told any more whether its message was sent, that goes
// on counting as one that may have been.
func (d *Delivery) NoteFailure(ctx context.Context, tx queue.Tx, a postroom.Action, cause error) error {
	if errors.Is(cause, errLost) {
		return nil
	}
	return d.rows().forgetSend(ctx, tx, a)
}
