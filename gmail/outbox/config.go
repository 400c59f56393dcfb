package outbox

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

// A Ledger is the ledger that an [Outbox] needs; *safety.Ledger implements it.
type Ledger interface {
	// Action returns an action, or an error that matches [postroom.ErrNotFound].
	Action(ctx context.Context, id string) (postroom.Action, error)
	// ActionTx is Action in the caller's transaction.
	ActionTx(ctx context.Context, tx queue.Tx, id string) (postroom.Action, error)
	// Verified is Action, and also reports whether the action is what was permitted, or what a person is asked about: it
	// may have been altered in the database.
	Verified(ctx context.Context, id string) (a postroom.Action, ok bool, err error)
	// SetContent records the hash of what an action sends, in the caller's transaction. An action that already has
	// another hash, or is final, is an error.
	SetContent(ctx context.Context, tx queue.Tx, actionID, sha256 string) error
	// Approver returns the person who approved the action, and the time before which it must start, in the caller's
	// transaction; empty if nobody has, and no approval was needed.
	Approver(ctx context.Context, tx queue.Tx, actionID string) (approver string, until time.Time, err error)
	// DeclareIntent records with the executing action what is about to be sent, or nil if nothing was, in the caller's
	// transaction, and returns the updated action. Start returns the intent with it ([postroom.UndoHint].Intent).
	// If the content, job or intent of the action differs from that of a, the error is not nil.
	DeclareIntent(ctx context.Context, tx queue.Tx, a postroom.Action, declared postroom.Parameters) (
		postroom.Action, error)
}

// Config configures an [Outbox]. It is copied and checked once, by [New].
type Config struct {
	// Store keeps the outbound messages, and has the originals. Required.
	Store *mailstore.Store
	// Clients returns the client of an account. Required.
	Clients gmailapi.Clients
	// Ledger has the actions. Required.
	Ledger Ledger

	// MaxRecipients bounds the recipients of one message. Default 10; bounds 1 to 100, the maximum at Gmail.
	MaxRecipients int
	// MaxSize bounds a message, in bytes. Default 36,700,160, the maximum at Gmail; it must be positive.
	MaxSize int64
	// ReplyInterval is how long a recipient of a reply gets no further one. While it is not known whether one was sent,
	// others wait. It keeps two programs that answer each other from doing so for ever. It is checked when the message
	// is sent, since others may be sent until then. An address with "+" and a tag counts as the address without, since
	// a program may answer from a new tag each time. Default 72 hours; at least 1 second.
	ReplyInterval time.Duration
	// RecipientsDay bounds the messages, replies and forwards, that one recipient gets from an account within 24 hours,
	// at all tags together. What is beyond waits until it may be sent, or asks a person; see [Turn]. Default 50; it must
	// not be negative.
	RecipientsDay int
	// Settle is how long Gmail may take, after an attempt to send whose outcome is unknown, until its search shows the
	// message. Before that time a message that is not found is not sent again. Default 2 minutes; it must not be
	// negative.
	Settle time.Duration
	// MailLimits bound the cost of reading an original. Use those of package gmail. Default nil: the defaults of package
	// mime.
	MailLimits *mime.Limits
	// Names are the names of this struct's fields in the host's own configuration, such as "outbound.max_recipients" for
	// MaxRecipients. Refusals, which people read, use them. Default: the names of the fields.
	Names map[string]string
}

// name returns the name of a field in a refusal.
func (c *Config) name(field string) string {
	return cmp.Or(c.Names[field], "outbox.Config."+field)
}

// The values that fields of several configurations require, for errors.
const (
	storeNeeded   = "a store made by mailstore.New"
	clientsNeeded = "what finds an account's client, such as a gmailapi.ClientsFunc"
)

const (
	defaultRecipients = 10
	defaultSettle     = 2 * time.Minute
)

func (c *Config) checkRecipients(of string) error {
	if c.MaxRecipients < 1 || c.MaxRecipients > 100 {
		return fmt.Errorf("outbox: %s.MaxRecipients is %d; it must be within 1 and 100", of, c.MaxRecipients)
	}
	return nil
}

func (c Config) withDefaults() (Config, error) {
	c.Names = maps.Clone(c.Names)
	c.MaxRecipients = cmp.Or(c.MaxRecipients, defaultRecipients)
	c.MaxSize = cmp.Or(c.MaxSize, 36_700_160)
	c.ReplyInterval = cmp.Or(c.ReplyInterval, 72*time.Hour)
	c.RecipientsDay = cmp.Or(c.RecipientsDay, 50)
	c.Settle = cmp.Or(c.Settle, defaultSettle)
	faults := []error{
		fields.Required("outbox: Config.Store", c.Store, storeNeeded),
		fields.Required("outbox: Config.Clients", c.Clients, clientsNeeded),
		fields.Required("outbox: Config.Ledger", c.Ledger, "a ledger such as *safety.Ledger"),
		c.checkRecipients("Config"),
	}
	if c.ReplyInterval < time.Second {
		faults = append(faults, fmt.Errorf(
			"outbox: Config.ReplyInterval is %v; it must be at least 1s, or 0 for the default", c.ReplyInterval))
	}
	for name, value := range map[string]int64{
		"MaxSize": c.MaxSize, "RecipientsDay": int64(c.RecipientsDay), "Settle": int64(c.Settle),
	} {
		if value < 0 {
			faults = append(faults, fmt.Errorf("outbox: Config.%s is negative; it must be positive, or 0 for the default",
				name))
		}
	}
	if err := c.MailLimits.Validate(); err != nil {
		faults = append(faults, fmt.Errorf("outbox: Config.MailLimits: %w", err))
	}
	return c, errors.Join(faults...)
}
