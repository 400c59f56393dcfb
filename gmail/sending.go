package gmail

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
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

// sendJob composes the message of an action, and makes the job that sends it.
func (o *Outbox) sendJob(ctx context.Context, a postroom.Action, write writer) (queue.NewJob, error) {
	m, _, err := o.prepare(ctx, a, nil, write)
	if err != nil {
		return queue.NewJob{}, err
	}
	return m.job(), nil
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

// deliver sends the message, or finds it sent by an earlier attempt.
func (l *look) deliver(ctx context.Context, w *queue.Attempt, o *Outbox, a postroom.Action) (gmailapi.MessageRef, error) {
	before, err := l.rows.triedSend(ctx, a)
	if err != nil {
		return gmailapi.MessageRef{}, err
	}
	if before.mayHaveSent() {
		sent, found, err := l.find(ctx, before)
		switch {
		case found || err != nil:
			return sent, err
		case w.Ends(errNotSent):
			return sent, queue.Fatal(errNotSent)
		}
	}
	client, err := l.open(ctx)
	if err != nil {
		return gmailapi.MessageRef{}, err
	}
	m, raw, err := o.prepare(ctx, a, nil, w.Write)
	if err != nil {
		return gmailapi.MessageRef{}, err
	}
	a.ContentSHA256 = m.SHA256
	s := sending{outbox: o, rows: l.rows, client: client, action: a, message: m, raw: raw, known: before.announcement, again: before.open}
	return s.attempt(ctx, w)
}

// A sending is one attempt to send a message.
type sending struct {
	outbox  *Outbox
	rows    outboundRows
	client  *gmailapi.Client
	action  postroom.Action // as the ledger has it
	message *outboundMessage
	raw     []byte
	known   announcement // of an earlier attempt
	again   bool         // there was one, and it is not certain that it has sent nothing
}

// attempt sends the message. It signs the announcement before.
func (s *sending) attempt(ctx context.Context, w *queue.Attempt) (gmailapi.MessageRef, error) {
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
		next, err = s.outbox.Ledger.DeclareIntent(ctx, tx, s.action, parameters)
		return err
	})
	if err == nil {
		s.action = next
	}
	return err
}

// close records the end of an attempt that failed. An outcome that is unknown then is known after Settle.
func (s *sending) close(ctx context.Context, w *queue.Attempt, n announcement, cause error) error {
	unclear := gmailapi.IsUnclear(cause, len(s.raw))
	note := s.announce(context.WithoutCancel(ctx), w.Write, func(ctx context.Context, tx queue.Tx) (*announcement, error) {
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
		return &unclearError{err: errors.Join(cause, note), wait: retrySoon, tried: true}
	}
	return cause
}

// An announcement is signed by the ledger before a message is sent. From it a later attempt finds out whether the message was
// sent. The rows of outbound messages are not signed and say less: altering them sends nothing twice.
type announcement struct {
	mailbox   string // as Gmail names it
	messageID string // the Message-ID
	historyID uint64 // from before the first attempt
	until     time.Time
}

// The parameters of an announcement.
const (
	announcedMailbox   = "mailbox"
	announcedMessageID = "rfc_message_id"
	announcedHistoryID = "history_id"
	announcedUntil     = "until"
)

func (n announcement) parameters() postroom.Parameters {
	return postroom.Parameters{
		announcedMailbox: n.mailbox, announcedMessageID: n.messageID, announcedHistoryID: strconv.FormatUint(n.historyID, 10),
		announcedUntil: n.until.UTC().Format(time.RFC3339Nano),
	}
}

// announced returns the announcement of an earlier attempt for the action; ok is false if there is none, or if it has sent
// nothing.
func announced(a postroom.Action) (n announcement, ok bool, err error) {
	if a.UndoHint == nil || a.UndoHint.Intent == nil {
		return n, false, nil
	}
	p := a.UndoHint.Intent
	n.mailbox, _ = p.Text(announcedMailbox)
	n.messageID, _ = p.Text(announcedMessageID)
	historyID, _ := p.Text(announcedHistoryID)
	until, _ := p.Text(announcedUntil)
	n.historyID, err = strconv.ParseUint(historyID, 10, 64)
	if err == nil {
		n.until, err = time.Parse(time.RFC3339Nano, until)
	}
	if err != nil {
		return n, true, refused(a.ID, "what was announced of an earlier attempt cannot be read; look among the sent mail: %w", err)
	}
	return n, true, nil
}

// begun returns the announcement of an earlier attempt whose outcome is unknown. An attempt from before announcements existed is
// only in its row.
func begun(a postroom.Action, m *outboundMessage) (n announcement, ok bool, err error) {
	if n, ok, err = announced(a); ok || err != nil || m == nil || a.ContentSHA256 == "" || m.OpenUntil.IsZero() {
		return n, ok, err
	}
	return announcement{messageID: m.MessageID, historyID: uint64(m.HistoryID), until: m.OpenUntil.Time}, true, nil
}

// profileOf reads the profile of a mailbox, which must have the address, as its own or as an additional one. The row that maps an
// account to its grant is not signed either.
func profileOf(ctx context.Context, client *gmailapi.Client, email string) (gmailapi.Profile, error) {
	profile, err := client.Profile(ctx)
	if err != nil || email == "" || strings.EqualFold(profile.Email, email) {
		return profile, err
	}
	own, err := client.ListSendAs(ctx)
	if err == nil && !isOwn(own, email) {
		err = &gmailapi.Error{Op: "find the mailbox", Class: gmailapi.ClassRefused, Err: fmt.Errorf("the account signs in to %s, and was that of %s", profile.Email, email)}
	}
	return profile, err
}
