package outbox

import (
	"context"
	"errors"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/queue"
)

// An Outbox composes the messages that actions send. It fixes the bytes of each message once: the job of type
// [JobSend] sends what [Outbox.Preview] shows, or nothing. [New] makes one; the zero Outbox is
// unusable. It is safe for concurrent use.
type Outbox struct{ Config }

// New makes an outbox; a bad configuration is an error that names the fields.
func New(cfg Config) (*Outbox, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Outbox{cfg}, nil
}

func (o *Outbox) rows() messageRows { return messageRows{o.Store.DB()} }

// A Preview is a message as it will be sent.
type Preview struct {
	// Raw are the bytes, in the form of RFC 5322, without a date: Gmail adds the date of sending.
	Raw []byte
	// SHA256 is, in hexadecimal, the hash of Raw for a forward, and of ThreadID, a line feed and Raw for a reply. It is
	// recorded with the action ([postroom.Action.ContentSHA256]), and an approval names it.
	SHA256 string
	// Message is Raw, read back: its header, its text and its attachments as the recipients will see them.
	Message *mime.Message
	// ThreadID is Gmail's id of the thread that a reply belongs to; empty for a forward.
	ThreadID string
	// Note is the text that was written for the message: all of a reply, and what stands above the original in a
	// forward. [Outbox.Edit] replaces it.
	Note string
}

// Preview returns the message that the action, forward or auto_reply, sends. The first call composes it, fixes its
// bytes, and records their hash with the action; each call returns the same, until a person edits it ([Outbox.Edit]).
// Call it before a person is asked for an approval. The action must not be final.
//
// A message that must not be sent is an error of [gmailapi.ClassRefused], with the reason; see the documentation of
// the package. If the original has gone or can no longer be read as before, Preview fails, and so does the job.
func (o *Outbox) Preview(ctx context.Context, a postroom.Action) (Preview, error) {
	return o.preview(ctx, a, nil)
}

// Fix is Preview for an action whose message the host composes itself: p is the message, within what the action may
// send. If another message has already been composed for the action, Fix changes nothing and returns an error of
// [gmailapi.ClassRefused]. Fix is the only way to give a message: the payload of a job is not signed and is not sent.
func (o *Outbox) Fix(ctx context.Context, p Payload) (Preview, error) {
	a, err := o.Ledger.Action(ctx, p.ActionID)
	if err != nil {
		return Preview{}, err
	}
	return o.preview(ctx, a, &p)
}

func (o *Outbox) preview(ctx context.Context, a postroom.Action, given *Payload) (Preview, error) {
	m, raw, err := o.prepare(ctx, a, given, o.Store.DB().Write)
	if gmailapi.ClassOf(err) == gmailapi.ClassRefused && a.ContentSHA256 != "" && given == nil {
		was := a.ContentSHA256
		if a, err := o.Ledger.Action(ctx, a.ID); err == nil && a.ContentSHA256 != was { // it was edited meanwhile
			return o.preview(ctx, a, nil)
		}
	}
	if err != nil {
		return Preview{}, err
	}
	return m.preview(raw)
}

// preview reads the bytes of the message back.
func (m *storedMessage) preview(raw []byte) (Preview, error) {
	parsed, err := mime.ParseBytes(raw, nil)
	return Preview{Raw: raw, SHA256: m.SHA256, Message: parsed, ThreadID: m.payload.ThreadID, Note: m.payload.note()}, err
}

// A writer runs fn in a write transaction.
type writer = func(ctx context.Context, fn func(ctx context.Context, tx queue.Tx) error) error

// errNotVerified is the error of an action whose message must not be composed.
var errNotVerified = errors.New(
	"it is not what was permitted, or what a person was asked about: it was altered in the database, or signed with another key; " +
		"if it waits, ask again or reject it")

// prepare returns the message of the action and its bytes, which have the hash in the action. If there is none, it
// composes the message from the parameters of the action, or uses the host's. The first message stays. A message that
// is stored while the action has no hash was written by something else.
func (o *Outbox) prepare(ctx context.Context, a postroom.Action, given *Payload,
	write writer) (*storedMessage, []byte, error) {
	if !sendsMessage(a.Type) {
		return nil, nil, refused(a.ID, "%s sends no message; %s and %s do", a.Type, postroom.Forward, postroom.AutoReply)
	}
	client, err := gmailapi.FindClient(ctx, o.Clients, a.AccountID)
	if err != nil {
		return nil, nil, fmt.Errorf("outbox: client of account %s: %w", a.AccountID, err)
	}
	var included *original
	if a.ContentSHA256 == "" {
		if a, included, err = o.compose(ctx, client, a.ID, given, write); err != nil {
			return nil, nil, err
		}
	}
	m, err := o.rows().message(ctx, a.ID)
	switch {
	case errors.Is(err, postroom.ErrNotFound):
		return nil, nil, refused(a.ID, "its message %s was composed, and is no longer stored", a.ContentSHA256)
	case err != nil:
		return nil, nil, err
	}
	m.original = included
	if err := m.fits(a, given); err != nil {
		return nil, nil, err
	}
	raw, err := o.bytes(ctx, client, a, m)
	if err != nil {
		return nil, nil, err
	}
	if sum := contentSum(m.payload.ThreadID, raw); sum != m.SHA256 || sum != a.ContentSHA256 {
		return nil, nil, refused(a.ID,
			"its message can no longer be made as it was composed: the original, the stored message or this program "+
				"has changed since. It would be %s; composed was %s, and recorded with the action %q", sum, m.SHA256,
			a.ContentSHA256)
	}
	return m, raw, nil
}

// compose makes the message and stores it, unless another call has done so meanwhile. It returns the updated action,
// and the original, which it reads again: the stored copy must not determine the addressee of a reply.
func (o *Outbox) compose(
	ctx context.Context, client *gmailapi.Client, id string, given *Payload, write writer,
) (a postroom.Action, included *original, err error) {
	a, ok, err := o.Ledger.Verified(ctx, id)
	switch {
	case err != nil:
		return a, nil, err
	case !ok:
		return a, nil, refused(id, "%w", errNotVerified)
	case a.ContentSHA256 != "":
		return a, nil, nil
	}
	if included, err = o.fetch(ctx, client, a); err != nil {
		return a, nil, err
	}
	own, err := ownAddresses(ctx, o.Store, client, a.AccountID)
	if err != nil {
		return a, nil, err
	}
	p, err := o.payload(a, given, included.message, own)
	if err != nil {
		return a, nil, err
	}
	m := &storedMessage{ActionID: a.ID, AccountID: a.AccountID, MessageID: p.MessageID, original: included}
	if m.Payload, m.payload, err = storedPayload(p); err != nil {
		return a, nil, err
	}
	raw, err := o.bytes(ctx, client, a, m)
	if err != nil {
		return a, nil, err
	}
	m.SHA256, m.Size = contentSum(p.ThreadID, raw), int64(len(raw))
	a, err = o.fix(ctx, m, write)
	return a, included, err
}

// payload is the message of an action, as the host has given it or as its parameters say.
func (o *Outbox) payload(a postroom.Action, given *Payload, msg *postroom.Message,
	own []gmailapi.SendAs) (p Payload, err error) {
	if given != nil {
		p = *given
	} else if p, err = compose(a, msg, own); err != nil {
		return p, refused(a.ID, "%w", err)
	}
	if err := p.validFor(a); err != nil {
		return p, err
	}
	if err := p.guard(msg, own, &o.Config); err != nil {
		return p, err
	}
	if p.MessageID == "" {
		p.MessageID, err = newMessageID(p.From)
	}
	return p, err
}

// fix stores the message, and its hash with the action: the first message that is composed counts. It returns the
// action.
func (o *Outbox) fix(ctx context.Context, m *storedMessage, write writer) (a postroom.Action, err error) {
	err = write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
		if err := o.rows().putMessage(ctx, tx, m, sqlInsertMessage); err != nil { // it waits for another that does the same
			return err
		}
		if a, err = o.Ledger.ActionTx(ctx, tx, m.ActionID); err != nil || a.ContentSHA256 != "" {
			return err
		}
		if err := o.rows().putMessage(ctx, tx, m, sqlReplaceMessage); err != nil {
			return err
		}
		a.ContentSHA256 = m.SHA256
		return o.Ledger.SetContent(ctx, tx, m.ActionID, m.SHA256)
	})
	return a, err
}

// bytes builds the message.
func (o *Outbox) bytes(ctx context.Context, client *gmailapi.Client, a postroom.Action,
	m *storedMessage) ([]byte, error) {
	account, err := o.Store.Account(ctx, a.AccountID)
	if err != nil {
		return nil, err
	}
	m.mailbox = account.Email
	if m.original == nil && m.payload.needsOriginal() {
		if m.original, err = o.fetch(ctx, client, a); err != nil {
			return nil, err
		}
	}
	raw, err := m.payload.build(account.Email, m.original)
	switch {
	case err != nil:
		return nil, refused(a.ID, "its message cannot be built: %w", err)
	case int64(len(raw)) > o.MaxSize:
		return nil, refused(a.ID, "its message has %d bytes; at most %d are allowed (%s)", len(raw), o.MaxSize,
			o.name("MaxSize"))
	}
	return raw, nil
}
