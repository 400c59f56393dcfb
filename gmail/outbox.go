package gmail

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/queue"
)

// An OutboxLedger is what an [Outbox] needs of a ledger; *safety.Ledger implements it.
type OutboxLedger interface {
	// Action returns an action, or an error that matches [postroom.ErrNotFound].
	Action(ctx context.Context, id string) (postroom.Action, error)
	// SetContent records the hash of what an action sends, in the caller's transaction. An action that has another one
	// already, or is final, is an error.
	SetContent(ctx context.Context, tx queue.Tx, actionID, sha256 string) error
	// Approver returns who has approved the action, in the caller's transaction; empty if nobody has, and none was needed.
	Approver(ctx context.Context, tx queue.Tx, actionID string) (string, error)
}

// OutboxConfig configures an [Outbox]. It is copied and checked once, by [NewOutbox].
type OutboxConfig struct {
	// Store keeps what is sent, and has the originals. Required.
	Store *Store
	// Clients returns the client of an account. Required.
	Clients Clients
	// Ledger has the actions. Required.
	Ledger OutboxLedger

	// MaxRecipients bounds the recipients of one message. Default 10; bounds 1 to 100, which is what Gmail takes.
	MaxRecipients int
	// MaxSize bounds a message, in bytes. Default 36,700,160, which is what Gmail takes; it must be positive.
	MaxSize int64
	// ReplyInterval is how long a recipient who got a reply gets no other one. It keeps two programs that answer each other
	// from doing so for ever. It is checked when the message is sent, since others may be sent until then. An address with "+" and a
	// tag is the recipient that it is without, since a program may answer from a new tag each time. Default 72 hours; at least 1
	// second.
	ReplyInterval time.Duration
	// RecipientsDay bounds the messages, replies and forwards, that one recipient gets from an account within 24 hours, at all
	// tags together. It is checked when the message is sent. Default 50; it must not be negative.
	RecipientsDay int
	// Settle is how long Gmail may take from an attempt to send, whose outcome is not known, until its search shows the message.
	// Before that time a message that is not found is not sent again. Default 2 minutes; it must not be negative.
	Settle time.Duration
	// MailLimits bound the cost of reading an original. Use those of [Config]. Default nil: the defaults of package mime.
	MailLimits *mime.Limits
	// Names are the names that the host's own configuration has for fields of this one, such as "outbound.max_recipients" for
	// MaxRecipients: refusals, which people read, say them. Default: those of the fields.
	Names map[string]string
}

// name is what a refusal calls a field.
func (c *OutboxConfig) name(field string) string {
	return cmp.Or(c.Names[field], "OutboxConfig."+field)
}

func (c OutboxConfig) withDefaults() (OutboxConfig, error) {
	c.Names = maps.Clone(c.Names)
	c.MaxRecipients = cmp.Or(c.MaxRecipients, 10)
	c.MaxSize = cmp.Or(c.MaxSize, 36_700_160)
	c.ReplyInterval = cmp.Or(c.ReplyInterval, 72*time.Hour)
	c.RecipientsDay = cmp.Or(c.RecipientsDay, 50)
	c.Settle = cmp.Or(c.Settle, 2*time.Minute)
	faults := []error{
		fields.Required("gmail: OutboxConfig.Store", c.Store, giveStore),
		fields.Required("gmail: OutboxConfig.Clients", c.Clients, giveClients),
		fields.Required("gmail: OutboxConfig.Ledger", c.Ledger, "a ledger such as *safety.Ledger"),
	}
	if c.MaxRecipients < 1 || c.MaxRecipients > 100 {
		faults = append(faults, fmt.Errorf("gmail: OutboxConfig.MaxRecipients is %d; it must be within 1 and 100", c.MaxRecipients))
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

// An Outbox composes the messages that actions send. It fixes the bytes of each message once: what [Outbox.Preview] shows is
// what the job of type [JobOutboundSend] sends, or it sends nothing. [NewOutbox] makes one; the zero Outbox is unusable. It is
// safe for concurrent use.
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
	// Raw are the bytes, in the form of RFC 5322, without a date: Gmail adds that of the sending.
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
// A message that must not be sent is an error of [ClassRefused], with the reason; see the documentation of the package. If the
// original has gone or can no longer be read as it was, Preview fails, and so does the job.
func (o *Outbox) Preview(ctx context.Context, a postroom.Action) (Preview, error) {
	m, raw, err := o.prepare(ctx, a, OutboundPayload{}, o.Store.db.Write)
	if err != nil {
		return Preview{}, err
	}
	parsed, err := mime.ParseBytes(raw, nil)
	return Preview{Raw: raw, SHA256: m.SHA256, Message: parsed, ThreadID: m.payload.ThreadID}, err
}

// writer runs fn in a write transaction.
type writer = func(ctx context.Context, fn func(ctx context.Context, tx queue.Tx) error) error

// prepare returns the message of the action and its bytes. It composes the message if nobody has: as the payload says, or from
// the parameters of the action. What was composed first stays.
func (o *Outbox) prepare(ctx context.Context, a postroom.Action, given OutboundPayload, write writer) (*outboundMessage, []byte, error) {
	if !isOutbound(a.Type) {
		return nil, nil, refused(a.ID, "%s sends no message; %s and %s do", a.Type, postroom.Forward, postroom.AutoReply)
	}
	client, err := findClient(ctx, o.Clients, a.AccountID)
	if err != nil {
		return nil, nil, fmt.Errorf("gmail: client of account %s: %w", a.AccountID, err)
	}
	m, err := o.Store.outbound(ctx, a.ID)
	if errors.Is(err, postroom.ErrNotFound) {
		m, err = o.compose(ctx, client, a, given, write)
	}
	if err != nil {
		return nil, nil, err
	}
	if err := m.fits(a, given); err != nil {
		return nil, nil, err
	}
	raw, err := o.bytes(ctx, client, m.payload)
	if err != nil {
		return nil, nil, err
	}
	if sum := contentSum(m.payload.ThreadID, raw); sum != m.SHA256 || a.ContentSHA256 != "" && sum != a.ContentSHA256 {
		return nil, nil, refused(a.ID, "its message can no longer be made as it was composed: the original, the stored message or this program "+
			"has changed since. It would be %s; composed was %s, and recorded with the action %q", sum, m.SHA256, a.ContentSHA256)
	}
	return m, raw, nil
}

// compose makes the message and stores it, unless another has done so meanwhile. It returns what is stored.
func (o *Outbox) compose(ctx context.Context, client *Client, a postroom.Action, p OutboundPayload, write writer) (*outboundMessage, error) {
	if a.ContentSHA256 != "" {
		return nil, refused(a.ID, "its message %s was composed, and is no longer stored", a.ContentSHA256)
	}
	msg, err := o.Store.Message(ctx, a.AccountID, a.MessageID)
	if errors.Is(err, postroom.ErrNotFound) {
		err = &Error{Op: "find message", Class: ClassNotFound, Err: err}
	}
	if err == nil {
		err = sameMessage(msg.ProviderID, a)
	}
	if err != nil {
		return nil, err
	}
	own, err := ownAddresses(ctx, o.Store, client, a.AccountID)
	if err != nil {
		return nil, err
	}
	if p.MessageType == "" {
		if p, err = compose(a, msg, own); err != nil {
			return nil, refused(a.ID, "%w", err)
		}
	}
	if err := p.validFor(a); err != nil {
		return nil, err
	}
	if err := p.guard(msg, own, &o.OutboxConfig); err != nil {
		return nil, err
	}
	if p.MessageID == "" {
		if p.MessageID, err = newMessageID(p.From); err != nil {
			return nil, err
		}
	}
	text, p, err := storedPayload(p)
	if err != nil {
		return nil, err
	}
	raw, err := o.bytes(ctx, client, p)
	if err != nil {
		return nil, err
	}
	m := &outboundMessage{
		ActionID: a.ID, AccountID: a.AccountID, MessageID: p.MessageID, Payload: text, SHA256: contentSum(p.ThreadID, raw),
		Size: int64(len(raw)), payload: p,
	}
	return o.fix(ctx, m, write)
}

// fix stores the message, and its hash with the action.
func (o *Outbox) fix(ctx context.Context, m *outboundMessage, write writer) (*outboundMessage, error) {
	stored := m
	err := write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
		if stored, err = o.Store.insertOutbound(ctx, tx, m); err != nil {
			return err
		}
		return o.Ledger.SetContent(ctx, tx, m.ActionID, stored.SHA256)
	})
	return stored, err
}

// ownAddresses returns what the mailbox may send from. Where the grant does not let us ask, that is its own address.
func ownAddresses(ctx context.Context, store *Store, client *Client, accountID string) ([]SendAs, error) {
	account, err := store.Account(ctx, accountID)
	if errors.Is(err, postroom.ErrNotFound) {
		err = &Error{Op: "find account", Class: ClassNotFound, Err: err}
	}
	if err != nil {
		return nil, err
	}
	own, err := client.ListSendAs(ctx)
	if err != nil && ClassOf(err) != ClassForbidden {
		return nil, err
	}
	if len(own) == 0 {
		own = []SendAs{{Email: account.Email, Primary: true}}
	}
	return own, nil
}

// bytes builds the message.
func (o *Outbox) bytes(ctx context.Context, client *Client, p OutboundPayload) ([]byte, error) {
	account, err := o.Store.Account(ctx, p.AccountID)
	if err != nil {
		return nil, err
	}
	var included *original
	if p.needsOriginal() {
		if included, err = o.fetch(ctx, client, p); err != nil {
			return nil, err
		}
	}
	raw, err := p.build(account.Email, included)
	switch {
	case err != nil:
		return nil, refused(p.ActionID, "its message cannot be built: %w", err)
	case int64(len(raw)) > o.MaxSize:
		return nil, refused(p.ActionID, "its message has %d bytes; at most %d are allowed (%s)", len(raw), o.MaxSize, o.name("MaxSize"))
	}
	return raw, nil
}

// fetch reads the original from Gmail.
func (o *Outbox) fetch(ctx context.Context, client *Client, p OutboundPayload) (*original, error) {
	id, err := o.Store.providerID(ctx, p.AccountID, p.OriginalMessageID)
	if err != nil {
		return nil, err
	}
	m, err := client.GetRaw(ctx, id)
	if err != nil {
		return nil, err
	}
	raw, err := m.Bytes()
	if err != nil {
		return nil, &Error{Op: "read the original " + id, Class: ClassAnswer, Err: err}
	}
	parsed, err := mime.ParseBytes(raw, o.MailLimits)
	return &original{raw: raw, parsed: parsed}, err
}
