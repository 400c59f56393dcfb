package gmail

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/queue"
)

// An OutboxLedger is the ledger that an [Outbox] needs; *safety.Ledger implements it.
type OutboxLedger interface {
	// Action returns an action, or an error that matches [postroom.ErrNotFound].
	Action(ctx context.Context, id string) (postroom.Action, error)
	// ActionTx is Action in the caller's transaction.
	ActionTx(ctx context.Context, tx queue.Tx, id string) (postroom.Action, error)
	// Verified is Action, and also reports whether the action is what was permitted, or what a person is asked about: it may have
	// been altered in the database.
	Verified(ctx context.Context, id string) (a postroom.Action, ok bool, err error)
	// SetContent records the hash of what an action sends, in the caller's transaction. An action that already has another hash,
	// or is final, is an error.
	SetContent(ctx context.Context, tx queue.Tx, actionID, sha256 string) error
	// Approver returns the person who approved the action, in the caller's transaction; empty if nobody has, and no approval was
	// needed.
	Approver(ctx context.Context, tx queue.Tx, actionID string) (string, error)
	// DeclareIntent records with the executing action what is about to be sent, or nil if nothing was, in the caller's transaction,
	// and returns the updated action. Start returns the announcement with it ([postroom.UndoHint].Intent). If the content, job
	// or announcement of the action differs from that of a, the error is not nil.
	DeclareIntent(ctx context.Context, tx queue.Tx, a postroom.Action, announced postroom.Parameters) (postroom.Action, error)
}

// OutboxConfig configures an [Outbox]. It is copied and checked once, by [NewOutbox].
type OutboxConfig struct {
	// Store keeps the outbound messages, and has the originals. Required.
	Store *mailstore.Store
	// Clients returns the client of an account. Required.
	Clients Clients
	// Ledger has the actions. Required.
	Ledger OutboxLedger

	// MaxRecipients bounds the recipients of one message. Default 10; bounds 1 to 100, the maximum at Gmail.
	MaxRecipients int
	// MaxSize bounds a message, in bytes. Default 36,700,160, the maximum at Gmail; it must be positive.
	MaxSize int64
	// ReplyInterval is how long a recipient of a reply gets no further one. It keeps two programs that answer each other from
	// doing so for ever. It is checked when the message is sent, since others may be sent until then. An address with "+" and a
	// tag counts as the address without, since a program may answer from a new tag each time. Default 72 hours; at least 1
	// second.
	ReplyInterval time.Duration
	// RecipientsDay bounds the messages, replies and forwards, that one recipient gets from an account within 24 hours, at all
	// tags together. It is checked when the message is sent. Default 50; it must not be negative.
	RecipientsDay int
	// Settle is how long Gmail may take, after an attempt to send whose outcome is unknown, until its search shows the message.
	// Before that time a message that is not found is not sent again. Default 2 minutes; it must not be negative.
	Settle time.Duration
	// MailLimits bound the cost of reading an original. Use those of [Config]. Default nil: the defaults of package mime.
	MailLimits *mime.Limits
	// Names are the names of this struct's fields in the host's own configuration, such as "outbound.max_recipients" for
	// MaxRecipients. Refusals, which people read, use them. Default: the names of the fields.
	Names map[string]string
}

// name returns the name of a field in a refusal.
func (c *OutboxConfig) name(field string) string {
	return cmp.Or(c.Names[field], "OutboxConfig."+field)
}

const (
	defaultRecipients = 10
	defaultSettle     = 2 * time.Minute
)

func (c *OutboxConfig) checkRecipients(of string) error {
	if c.MaxRecipients < 1 || c.MaxRecipients > 100 {
		return fmt.Errorf("gmail: %s.MaxRecipients is %d; it must be within 1 and 100", of, c.MaxRecipients)
	}
	return nil
}

func (c OutboxConfig) withDefaults() (OutboxConfig, error) {
	c.Names = maps.Clone(c.Names)
	c.MaxRecipients = cmp.Or(c.MaxRecipients, defaultRecipients)
	c.MaxSize = cmp.Or(c.MaxSize, 36_700_160)
	c.ReplyInterval = cmp.Or(c.ReplyInterval, 72*time.Hour)
	c.RecipientsDay = cmp.Or(c.RecipientsDay, 50)
	c.Settle = cmp.Or(c.Settle, defaultSettle)
	faults := []error{
		fields.Required("gmail: OutboxConfig.Store", c.Store, giveStore),
		fields.Required("gmail: OutboxConfig.Clients", c.Clients, giveClients),
		fields.Required("gmail: OutboxConfig.Ledger", c.Ledger, "a ledger such as *safety.Ledger"),
		c.checkRecipients("OutboxConfig"),
	}
	if c.ReplyInterval < time.Second {
		faults = append(faults, fmt.Errorf("gmail: OutboxConfig.ReplyInterval is %v; it must be at least 1s, or 0 for the default", c.ReplyInterval))
	}
	for name, value := range map[string]int64{
		"MaxSize": c.MaxSize, "RecipientsDay": int64(c.RecipientsDay), "Settle": int64(c.Settle),
	} {
		if value < 0 {
			faults = append(faults, fmt.Errorf("gmail: OutboxConfig.%s is negative; it must be positive, or 0 for the default", name))
		}
	}
	if err := c.MailLimits.Validate(); err != nil {
		faults = append(faults, fmt.Errorf("gmail: OutboxConfig.MailLimits: %w", err))
	}
	return c, errors.Join(faults...)
}

// An Outbox composes the messages that actions send. It fixes the bytes of each message once: the job of type [JobOutboundSend]
// sends what [Outbox.Preview] shows, or nothing. [NewOutbox] makes one; the zero Outbox is unusable. It is safe for concurrent
// use.
type Outbox struct{ OutboxConfig }

// NewOutbox makes an outbox; a bad configuration is an error that names the fields.
func NewOutbox(cfg OutboxConfig) (*Outbox, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Outbox{cfg}, nil
}

// A Preview is a message as it will be sent.
type Preview struct {
	// Raw are the bytes, in the form of RFC 5322, without a date: Gmail adds the date of sending.
	Raw []byte
	// SHA256 is, in hexadecimal, the hash of Raw for a forward, and of ThreadID, a line feed and Raw for a reply. It is recorded
	// with the action ([postroom.Action.ContentSHA256]), and an approval names it.
	SHA256 string
	// Message is Raw, read back: its header, its text and its attachments as the recipients will see them.
	Message *mime.Message
	// ThreadID is Gmail's id of the thread that a reply belongs to; empty for a forward.
	ThreadID string
}

// Preview returns the message that the action, forward or auto_reply, sends. The first call composes it, fixes its bytes, and
// records their hash with the action; each call returns the same. Call it before a person is asked for an approval. The action
// must not be final.
//
// A message that must not be sent is an error of [gmailapi.ClassRefused], with the reason; see the documentation of the package. If the
// original has gone or can no longer be read as before, Preview fails, and so does the job.
func (o *Outbox) Preview(ctx context.Context, a postroom.Action) (Preview, error) {
	return o.preview(ctx, a, nil)
}

// Fix is Preview for an action whose message the host composes itself: p is the message, within what the action may send. If
// another message has already been composed for the action, Fix changes nothing and returns an error of [gmailapi.ClassRefused]. Fix is
// the only way to give a message: the payload of a job is not signed and is not sent.
func (o *Outbox) Fix(ctx context.Context, p OutboundPayload) (Preview, error) {
	a, err := o.Ledger.Action(ctx, p.ActionID)
	if err != nil {
		return Preview{}, err
	}
	return o.preview(ctx, a, &p)
}

func (o *Outbox) preview(ctx context.Context, a postroom.Action, given *OutboundPayload) (Preview, error) {
	m, raw, err := o.prepare(ctx, a, given, o.Store.DB().Write)
	if err != nil {
		return Preview{}, err
	}
	parsed, err := mime.ParseBytes(raw, nil)
	return Preview{Raw: raw, SHA256: m.SHA256, Message: parsed, ThreadID: m.payload.ThreadID}, err
}

// writer runs fn in a write transaction.
type writer = func(ctx context.Context, fn func(ctx context.Context, tx queue.Tx) error) error

// errNotVouched is the error of an action that must not be composed.
var errNotVouched = errors.New("it is not what was permitted, or what a person was asked about: it was altered in the database, or signed with another key; " +
	"if it waits, ask again or reject it")

// prepare returns the message of the action and its bytes, which have the hash in the action. If there is none, it composes the
// message from the parameters of the action, or uses the host's. The first message stays. A message that is stored while the
// action has no hash was written by something else.
func (o *Outbox) prepare(ctx context.Context, a postroom.Action, given *OutboundPayload, write writer) (*outboundMessage, []byte, error) {
	if !isOutbound(a.Type) {
		return nil, nil, refused(a.ID, "%s sends no message; %s and %s do", a.Type, postroom.Forward, postroom.AutoReply)
	}
	client, err := findClient(ctx, o.Clients, a.AccountID)
	if err != nil {
		return nil, nil, fmt.Errorf("gmail: client of account %s: %w", a.AccountID, err)
	}
	var included *original
	if a.ContentSHA256 == "" {
		if a, included, err = o.compose(ctx, client, a.ID, given, write); err != nil {
			return nil, nil, err
		}
	}
	m, err := o.rows().outbound(ctx, a.ID)
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
		return nil, nil, refused(a.ID, "its message can no longer be made as it was composed: the original, the stored message or this program "+
			"has changed since. It would be %s; composed was %s, and recorded with the action %q", sum, m.SHA256, a.ContentSHA256)
	}
	return m, raw, nil
}

// compose makes the message and stores it, unless another call has done so meanwhile. It returns the updated action, and the
// original, which it reads again: the stored copy must not determine the addressee of a reply.
func (o *Outbox) compose(
	ctx context.Context, client *gmailapi.Client, id string, given *OutboundPayload, write writer,
) (a postroom.Action, included *original, err error) {
	a, ok, err := o.Ledger.Verified(ctx, id)
	switch {
	case err != nil:
		return a, nil, err
	case !ok:
		return a, nil, refused(id, "%w", errNotVouched)
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
	m := &outboundMessage{ActionID: a.ID, AccountID: a.AccountID, MessageID: p.MessageID, original: included}
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
func (o *Outbox) payload(a postroom.Action, given *OutboundPayload, msg *postroom.Message, own []gmailapi.SendAs) (p OutboundPayload, err error) {
	if given != nil {
		p = *given
	} else if p, err = compose(a, msg, own); err != nil {
		return p, refused(a.ID, "%w", err)
	}
	if err := p.validFor(a); err != nil {
		return p, err
	}
	if err := p.guard(msg, own, &o.OutboxConfig); err != nil {
		return p, err
	}
	if p.MessageID == "" {
		p.MessageID, err = newMessageID(p.From)
	}
	return p, err
}

// fix stores the message, and its hash with the action: the first message that is composed counts. It returns the action.
func (o *Outbox) fix(ctx context.Context, m *outboundMessage, write writer) (a postroom.Action, err error) {
	err = write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
		if err := o.rows().putOutbound(ctx, tx, m, sqlInsertOutbound); err != nil { // it waits for another that does the same
			return err
		}
		if a, err = o.Ledger.ActionTx(ctx, tx, m.ActionID); err != nil || a.ContentSHA256 != "" {
			return err
		}
		if err := o.rows().putOutbound(ctx, tx, m, sqlReplaceOutbound); err != nil {
			return err
		}
		a.ContentSHA256 = m.SHA256
		return o.Ledger.SetContent(ctx, tx, m.ActionID, m.SHA256)
	})
	return a, err
}

// ownAddresses returns the addresses that the mailbox may send from. If the grant does not permit the call, that is its own
// address.
func ownAddresses(ctx context.Context, store *mailstore.Store, client *gmailapi.Client, accountID string) ([]gmailapi.SendAs, error) {
	account, err := store.Account(ctx, accountID)
	if errors.Is(err, postroom.ErrNotFound) {
		err = &gmailapi.Error{Op: "find account", Class: gmailapi.ClassNotFound, Err: err}
	}
	if err != nil {
		return nil, err
	}
	own, err := client.ListSendAs(ctx)
	if err != nil && gmailapi.ClassOf(err) != gmailapi.ClassForbidden {
		return nil, err
	}
	if len(own) == 0 {
		own = []gmailapi.SendAs{{Email: account.Email, Primary: true}}
	}
	return own, nil
}

// bytes builds the message.
func (o *Outbox) bytes(ctx context.Context, client *gmailapi.Client, a postroom.Action, m *outboundMessage) ([]byte, error) {
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
		return nil, refused(a.ID, "its message has %d bytes; at most %d are allowed (%s)", len(raw), o.MaxSize, o.name("MaxSize"))
	}
	return raw, nil
}

// fetch reads the original from Gmail: the message of the decision.
func (o *Outbox) fetch(ctx context.Context, client *gmailapi.Client, a postroom.Action) (*original, error) {
	id, err := o.Store.Copies().ProviderID(ctx, a.AccountID, a.MessageID)
	if errors.Is(err, postroom.ErrNotFound) {
		err = &gmailapi.Error{Op: "find message", Class: gmailapi.ClassNotFound, Err: err}
	}
	if err == nil {
		err = sameMessage(id, a)
	}
	if err != nil {
		return nil, err
	}
	return readOriginal(ctx, client, a, id, o.MailLimits)
}

// readOriginal reads the message of an action from Gmail, by Gmail's id.
func readOriginal(ctx context.Context, client *gmailapi.Client, a postroom.Action, id string, limits *mime.Limits) (*original, error) {
	m, err := client.GetRaw(ctx, id)
	if err != nil {
		return nil, err
	}
	raw, err := m.Bytes()
	if err != nil {
		return nil, &gmailapi.Error{Op: "read the original " + id, Class: gmailapi.ClassAnswer, Err: err}
	}
	parsed, err := mime.ParseBytes(raw, limits)
	if err != nil {
		return nil, err
	}
	m.ID = id
	msg := mailstore.NewMessage(a.AccountID, m, parsed)
	msg.ID = a.MessageID
	return &original{raw: raw, parsed: parsed, message: msg}, nil
}

// readMessage is readOriginal for who needs only what a sync would store.
func readMessage(ctx context.Context, client *gmailapi.Client, a postroom.Action, id string, limits *mime.Limits) (*postroom.Message, error) {
	o, err := readOriginal(ctx, client, a, id, limits)
	if err != nil {
		return nil, err
	}
	return o.message, nil
}
