package outbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

// SendJob composes the message of a queued action, unless that was done before, and makes the job that sends it. write
// runs the transaction that stores the message. sends is false for an action that sends nothing, and for one that
// cannot start: one that does not exist, is of another account, is not queued, or is not what was permitted.
func (o *Outbox) SendJob(ctx context.Context, accountID, actionID string, write writer) (job queue.NewJob, sends bool,
	err error) {
	a, err := o.Ledger.Action(ctx, actionID)
	if err != nil || !sendsMessage(a.Type) || a.State != postroom.ActionQueued || a.AccountID != accountID {
		return job, false, maildb.IgnoreMissing(err)
	}
	_, _, err = o.prepare(ctx, a, nil, write)
	switch {
	case errors.Is(err, errNotVerified):
		return job, false, nil
	case err != nil:
		return job, true, err
	}
	return NewSendJob(a.AccountID, a.ID), true, nil
}

// Send sends the message of an executing action, or finds it sent by an earlier attempt. See [WhileUnclear] for its
// error.
func (d *Delivery) Send(ctx context.Context, w *queue.Attempt, a postroom.Action) (gmailapi.MessageRef, error) {
	before, err := d.rows().triedSend(ctx, a)
	if err != nil {
		return gmailapi.MessageRef{}, err
	}
	if before.mayHaveSent() {
		sent, found, err := d.find(ctx, before)
		switch {
		case found || err != nil:
			return sent, err
		case w.Ends(errNotSent):
			return sent, queue.Fatal(errNotSent)
		}
	}
	client, err := d.Open(ctx)
	if err != nil {
		return gmailapi.MessageRef{}, err
	}
	m, raw, err := d.Outbox.prepare(ctx, a, nil, w.Write)
	if err != nil {
		return gmailapi.MessageRef{}, err
	}
	a.ContentSHA256 = m.SHA256
	s := sending{outbox: d.Outbox, rows: d.rows(), client: client, action: a, message: m, raw: raw,
		known: before.intent, again: before.open}
	return s.attempt(ctx, w)
}

// A sending is one attempt to send a message.
type sending struct {
	outbox  *Outbox
	rows    messageRows
	client  *gmailapi.Client
	action  postroom.Action // as the ledger has it
	message *storedMessage
	raw     []byte
	known   intent // of an earlier attempt
	again   bool   // there was one, and it is not certain that it has sent nothing
}

// attempt sends the message. It signs the intent before.
func (s *sending) attempt(ctx context.Context, w *queue.Attempt) (gmailapi.MessageRef, error) {
	m := s.message
	profile, err := profileOf(ctx, s.client, m.mailbox)
	if err != nil {
		return gmailapi.MessageRef{}, err
	}
	next := intent{mailbox: profile.Email, messageID: m.payload.MessageID,
		historyID: cmp.Or(s.known.historyID, profile.HistoryID)}
	bound := s.client.UploadTimeout(len(s.raw))
	ctx, cancel := context.WithTimeout(ctx, bound) // whoever takes over knows that no attempt is later than that
	defer cancel()
	err = s.declare(ctx, w.Write, func(ctx context.Context, tx queue.Tx) (*intent, error) {
		next.until = queue.Now(tx).Add(bound + s.outbox.Settle)
		return &next, s.outbox.beginSend(ctx, tx, m, &next, s.again)
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

// declare signs an intent, or its withdrawal if nothing was sent, in the transaction in which fn stores the
// consequences.
func (s *sending) declare(ctx context.Context, write writer,
	fn func(ctx context.Context, tx queue.Tx) (*intent, error)) error {
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
		next, err = s.outbox.Ledger.DeclareIntent(ctx, tx, s.action, parameters)
		return err
	})
	if err == nil {
		s.action = next
	}
	return err
}

// close records the end of an attempt that failed. An outcome that is unknown then is known after Settle.
func (s *sending) close(ctx context.Context, w *queue.Attempt, n intent, cause error) error {
	unclear := gmailapi.IsUnclear(cause, len(s.raw))
	note := s.declare(context.WithoutCancel(ctx), w.Write, func(ctx context.Context, tx queue.Tx) (*intent, error) {
		if !unclear {
			return nil, s.rows.forgetAttempt(ctx, tx, s.action.ID)
		}
		n.until = queue.Now(tx).Add(s.outbox.Settle)
		return &n, s.rows.setOpenUntil(ctx, tx, s.action.ID, dbtime.Of(n.until))
	})
	switch {
	case unclear:
		return &unclearError{err: errors.Join(cause, note), wait: firstLook(s.outbox.Settle), tried: true}
	case note != nil: // the attempt stays open, and is looked after
		return &unclearError{err: errors.Join(cause, note), wait: attempts.Soon, tried: true}
	}
	return cause
}

// An intent is signed by the ledger before a message is sent. From it a later attempt finds out whether the
// message was sent. The rows of outbound messages are not signed and say less: altering them sends nothing twice.
type intent struct {
	mailbox   string // as Gmail names it
	messageID string // the Message-ID
	historyID uint64 // from before the first attempt
	until     time.Time
}

// The parameters of an intent.
const (
	intentMailbox   = "mailbox"
	intentMessageID = "rfc_message_id"
	intentHistoryID = "history_id"
	intentUntil     = "until"
)

func (n intent) parameters() postroom.Parameters {
	return postroom.Parameters{
		intentMailbox: n.mailbox, intentMessageID: n.messageID, intentHistoryID: strconv.FormatUint(n.historyID, 10),
		intentUntil: n.until.UTC().Format(time.RFC3339Nano),
	}
}

// intentOf returns the intent of an earlier attempt for the action; ok is false if there is none, or if it has
// sent nothing.
func intentOf(a postroom.Action) (n intent, ok bool, err error) {
	if a.UndoHint == nil || a.UndoHint.Intent == nil {
		return n, false, nil
	}
	p := a.UndoHint.Intent
	n.mailbox, _ = p.Text(intentMailbox)
	n.messageID, _ = p.Text(intentMessageID)
	historyID, _ := p.Text(intentHistoryID)
	until, _ := p.Text(intentUntil)
	n.historyID, err = strconv.ParseUint(historyID, 10, 64)
	if err == nil {
		n.until, err = time.Parse(time.RFC3339Nano, until)
	}
	if err != nil {
		return n, true,
			refused(a.ID, "what was declared by an earlier attempt cannot be read; look among the sent mail: %w", err)
	}
	return n, true, nil
}

// begun returns the intent of an earlier attempt whose outcome is unknown. An attempt from before intents
// existed is only in its row.
func begun(a postroom.Action, m *storedMessage) (n intent, ok bool, err error) {
	if n, ok, err = intentOf(a); ok || err != nil || m == nil || a.ContentSHA256 == "" || m.OpenUntil.IsZero() {
		return n, ok, err
	}
	return intent{messageID: m.MessageID, historyID: uint64(m.HistoryID), until: m.OpenUntil.Time}, true, nil
}

// profileOf reads the profile of a mailbox, which must have the address, as its own or as an additional one. The row
// that maps an account to its grant is not signed either.
func profileOf(ctx context.Context, client *gmailapi.Client, email string) (gmailapi.Profile, error) {
	profile, err := client.Profile(ctx)
	if err != nil || email == "" || strings.EqualFold(profile.Email, email) {
		return profile, err
	}
	own, err := client.ListSendAs(ctx)
	if err == nil && !isOwn(own, email) {
		err = &gmailapi.Error{Op: "find the mailbox", Class: gmailapi.ClassRefused,
			Err: fmt.Errorf("the account signs in to %s, and was that of %s", profile.Email, email)}
	}
	return profile, err
}
