package gmail

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/queue"
)

// Config says what the jobs of this package work with. It is copied and checked once, by [Register].
type Config struct {
	// Store is where mail is kept. Required.
	Store *Store
	// Clients finds the client of an account. Required.
	Clients Clients
	// Ledger holds the actions to carry out. Nil: action.gmail is not handled here.
	Ledger Ledger

	// OnMessage is called once for each message that is ingested and carries none of SkipLabels, in the transaction that
	// stores it and completes the job: it enqueues what is next. An error undoes all of it, and the job is tried again.
	// Nil: nothing follows.
	OnMessage func(ctx context.Context, tx queue.Tx, msg *postroom.Message) error

	// OnLabelDeleted is called for each label that is gone from Gmail, in the transaction that deletes it here: it
	// disables the rules that name it. An error undoes all of it. Nil: nothing follows.
	OnLabelDeleted func(ctx context.Context, tx queue.Tx, accountID string, label postroom.Label) error

	// SkipLabels are label ids whose messages are stored and not handed to OnMessage, neither when they come nor when the
	// label goes: whoever takes mail out of the spam has looked at it. Default SENT, DRAFT, SPAM and TRASH; empty but not
	// nil skips none.
	SkipLabels []string

	// SpamAndTrash makes backfills list mail in spam and trash as well. New mail of all kinds is ingested in any case.
	SpamAndTrash bool

	// PageSize is how many messages one backfill job lists. Default 100; bounds 1 to 500.
	PageSize int

	// MailLimits bound what reading one message may cost; a message beyond them is kept as broken. Nil means
	// mime's defaults.
	MailLimits *mime.Limits

	// Logger takes what is worth a line; nil means silence.
	Logger *slog.Logger
}

// Clients finds the client of an account. Each account has one, so that its limits hold.
type Clients interface {
	Client(ctx context.Context, accountID string) (*Client, error)
}

// ClientsFunc makes [Clients] of a function.
type ClientsFunc func(ctx context.Context, accountID string) (*Client, error)

// Client calls f.
func (f ClientsFunc) Client(ctx context.Context, accountID string) (*Client, error) {
	return f(ctx, accountID)
}

const (
	defaultPageSize = 100
	maxPageSize     = 500
)

func (c Config) withDefaults() (Config, error) {
	if c.SkipLabels == nil {
		c.SkipLabels = []string{postroom.LabelSent, postroom.LabelDraft, postroom.LabelSpam, postroom.LabelTrash}
	}
	c.SkipLabels = slices.Clone(c.SkipLabels)
	if c.PageSize == 0 {
		c.PageSize = defaultPageSize
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	switch {
	case c.Store == nil:
		return c, errors.New("gmail: Config.Store is nil; it is required")
	case c.Clients == nil:
		return c, errors.New("gmail: Config.Clients is nil; it is required")
	case c.PageSize < 1 || c.PageSize > maxPageSize:
		return c, fmt.Errorf("gmail: Config.PageSize is %d; it must be within 1 and %d", c.PageSize, maxPageSize)
	}
	return c, nil
}

// jobs holds what the handlers share.
type jobs struct {
	Config
}

// Register registers the handlers of this package's jobs. A bad configuration is an error that names the field.
func Register(d *queue.Dispatcher, cfg Config) error {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return err
	}
	j := &jobs{cfg}
	queue.Handle(d, JobBackfill, j.backfill)
	queue.Handle(d, JobHistorySync, j.syncHistory)
	queue.Handle(d, JobLabelsSync, j.syncLabels)
	queue.Handle(d, JobIngest, j.ingest)
	if cfg.Ledger != nil {
		queue.Handle(d, JobAction, j.act)
	}
	return nil
}

// open finds the account and its client. An account that does not exist does not come into being by waiting.
func (j *jobs) open(ctx context.Context, accountID string) (Account, *Client, error) {
	account, err := j.Store.Account(ctx, accountID)
	if errors.Is(err, postroom.ErrNotFound) {
		err = &Error{Op: "open mailbox", Class: ClassNotFound, Err: err}
	}
	if err != nil {
		return account, nil, err
	}
	client, err := j.Clients.Client(ctx, accountID)
	if err != nil {
		return account, nil, fmt.Errorf("gmail: client of account %s: %w", account.Email, err)
	}
	return account, client, nil
}
