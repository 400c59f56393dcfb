package gmail

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"sync"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/queue"
)

// ErrNotWanted is the error of the Confirm and the Wanted of a [Config] for an action that is to be canceled,
// and that no person is asked about.
var ErrNotWanted = errors.New("gmail: the action is not wanted any more")

// Config configures the handlers of this package's jobs. It is copied and checked once, by [Register].
type Config struct {
	// Store holds the mail. Required.
	Store *mailstore.Store
	// Clients returns the client of an account. Required.
	Clients gmailapi.Clients
	// Ledger records the actions to carry out. Default nil: [JobAction] and [JobUnsnooze] are not registered.
	Ledger Ledger
	// Kinds are the actions that are carried out. Default nil: those that package gmail carries out by itself.
	Kinds *postroom.Kinds
	// Outbox composes the messages that actions send (forward and auto_reply). It requires a Ledger. Default nil:
	// [outbox.JobSend] is not registered, and such actions fail.
	Outbox *outbox.Outbox

	// Confirm decides again about a message, as Gmail has it and with the labels that it had before this program changed
	// any since, and returns why the decision of the permit is not made about it; empty if it is. It is called before an
	// action starts that cannot be taken back and that no person has approved, since a stored message can be altered;
	// with a reason, a person is asked. An error that matches [ErrNotWanted] cancels the action. *rules.Engine has such
	// a method. Default nil: a person is asked about each such action.
	Confirm func(ctx context.Context, msg *postroom.Message, p postroom.Permit) (fault string, err error)

	// Wanted returns an error that matches [ErrNotWanted], which cancels the action, if a person has approved it and what
	// decided so does not want it any more. It is called before such an action starts that cannot be taken back. Default
	// nil: what a person has approved is wanted.
	Wanted func(ctx context.Context, p postroom.Permit) error

	// SnoozeLabel is the name of the label of snoozed messages. It is created when it is missing. Default
	// [DefaultSnoozeLabel]. Messages that sleep under another name when it is changed wake all the same.
	SnoozeLabel string

	// LabelColor returns the color of a label that is created, by its name. A label that exists keeps its color, which a
	// person may have chosen. Default nil: labels are created without one.
	LabelColor func(name string) gmailapi.LabelColor

	// OnMessage enqueues the next job for a message. It is called once for each ingested message that has none of
	// SkipLabels, in the transaction that stores the message and completes the job; an error rolls that back, and the
	// job is retried. Default nil: no further job.
	OnMessage func(ctx context.Context, tx queue.Tx, msg *postroom.Message) error
	// Decide decides about a message at once, instead of a job that OnMessage enqueues. It is called before the message
	// is stored and has ids. The function that it returns is called instead of OnMessage, in its transaction, when msg
	// has ids. If it returns nil or an error, which is logged, and after a failed attempt, OnMessage is called.
	// *rules.Classifier has such a method. Default nil: OnMessage is called.
	Decide func(ctx context.Context, msg *postroom.Message) (record func(ctx context.Context, tx queue.Tx) error,
		err error)

	// Aside reports whether a message that has come is none that anything is decided about, such as one that a restore has
	// put back: it is stored, and handed on to nobody. Default nil: no message is.
	Aside func(ctx context.Context, msg *postroom.Message) (bool, error)

	// OnLabelDeleted disables the rules that name a label. It is called for each label that Gmail no longer has, in the
	// transaction that deletes the label here; an error rolls that back. Default nil: nothing follows.
	OnLabelDeleted func(ctx context.Context, tx queue.Tx, accountID string, label postroom.Label) error

	// OnLabelsChanged is called when a person or another program has changed labels: once for each stored message and
	// change, in the transaction that stores the labels. Several changes of a message in one page of the history are
	// one. An error rolls the transaction back, and the job is retried. Default nil: no call.
	OnLabelsChanged func(ctx context.Context, tx queue.Tx, event LabelsEvent) error

	// OnActed is called when an action was carried out, with Gmail's id of the thread of its message, in the transaction
	// that completes the action; an error rolls that back. What sends a message is not reported. Default nil: no call.
	OnActed func(ctx context.Context, tx queue.Tx, a postroom.Action, threadID string) error

	// OnDeleted is called when a person or another program has permanently deleted a message: once for each stored
	// message, in the transaction that marks it; an error rolls that back. Default nil: no call.
	OnDeleted func(ctx context.Context, tx queue.Tx, event DeletedEvent) error

	// OnReconciled is called at the end of a comparison with Gmail, with its result, in the transaction that ends it; an
	// error rolls that back. The result is also logged and stored, see [LastReconciliation]. Default nil: no call.
	OnReconciled func(ctx context.Context, tx queue.Tx, found Reconciliation) error

	// OnReauthorize is called when the grant of an account is revoked, to inform a person, such as by enqueueing a
	// message: once, in the transaction that gives the account the state [mailstore.AccountReauthorize]; an error rolls
	// that back, and the next job finds the grant revoked. Default nil: it is only logged.
	OnReauthorize func(ctx context.Context, tx queue.Tx, account mailstore.Account, cause error) error

	// Topic is the Pub/Sub topic under which Gmail publishes changes, projects/PROJECT/topics/TOPIC; Gmail must be
	// allowed to publish there. Default empty: [JobWatch] is not registered.
	Topic string

	// SkipLabels are label ids. A message with one of them is stored and not passed to OnMessage, also not when the
	// label is removed later: whoever moves mail out of the spam has seen it. Default nil: SENT, DRAFT, SPAM and TRASH.
	// An empty list that is not nil skips none.
	SkipLabels []string

	// SpamAndTrash includes spam and trash in backfills. New mail is always ingested. Default false.
	SpamAndTrash bool

	// PageSize is the number of messages that one backfill job lists. Default 100; bounds 1 to 500.
	PageSize int

	// MailLimits bound the cost of reading one message; the parts beyond them are one unread attachment. Default nil: the
	// defaults of package mime.
	MailLimits *mime.Limits

	// Logger logs lost history, lost and missing grants, the results of comparisons with Gmail, messages without a time,
	// and errors of Decide. Default [slog.Default]; a logger with [slog.DiscardHandler] logs nothing.
	Logger *slog.Logger
}

// DefaultSnoozeLabel is the name of the label of snoozed messages if no other is given.
const DefaultSnoozeLabel = "Postroom/Snoozed"

const defaultPageSize = 100

func (c Config) withDefaults() (Config, error) {
	if c.SkipLabels == nil {
		c.SkipLabels = []string{postroom.LabelSent, postroom.LabelDraft, postroom.LabelSpam, postroom.LabelTrash}
	}
	c.SkipLabels = slices.Clone(c.SkipLabels)
	c.SnoozeLabel = cmp.Or(c.SnoozeLabel, DefaultSnoozeLabel)
	if c.PageSize == 0 {
		c.PageSize = defaultPageSize
	}
	c.Logger = cmp.Or(c.Logger, slog.Default())
	return c, c.validate()
}

// The values that fields of several configurations require, for errors.
const (
	giveStore   = "a store made by mailstore.New"
	giveClients = "what finds an account's client, such as a gmailapi.ClientsFunc"
)

// topicName is the form of the names of Pub/Sub's topics.
var topicName = regexp.MustCompile(`^projects/[^/]+/topics/[^/]+$`)

func (c *Config) validate() error {
	faults := []error{
		fields.Required("gmail: Config.Store", c.Store, giveStore),
		fields.Required("gmail: Config.Clients", c.Clients, giveClients),
		fields.Optional("gmail: Config.Ledger", c.Ledger),
		c.checkNeighbours(),
	}
	if c.Outbox != nil && c.Ledger == nil {
		faults = append(faults, errors.New(
			"gmail: Config.Outbox is set and Config.Ledger is not; set both: a message is sent for an action"))
	}
	if c.Decide != nil && c.OnMessage == nil {
		faults = append(faults, errors.New(
			"gmail: Config.Decide is set and Config.OnMessage is not; set both: not every message can be decided about at once"))
	}
	if c.Topic != "" && !topicName.MatchString(c.Topic) {
		faults = append(faults, fmt.Errorf("gmail: Config.Topic is %q; write projects/PROJECT/topics/TOPIC", c.Topic))
	}
	if err := postroom.CheckLabelName(c.SnoozeLabel); err != nil {
		faults = append(faults, fmt.Errorf("gmail: Config.SnoozeLabel: %w", err))
	}
	if c.PageSize < 1 || c.PageSize > gmailapi.MaxPageSize {
		faults = append(faults, fmt.Errorf("gmail: Config.PageSize is %d; it must be within 1 and %d", c.PageSize,
			gmailapi.MaxPageSize))
	}
	if err := c.MailLimits.Validate(); err != nil {
		faults = append(faults, fmt.Errorf("gmail: Config.MailLimits: %w", err))
	}
	return errors.Join(faults...)
}

// jobs has the handlers.
type jobs struct {
	Config
	unreachable sync.Map // the ids of the accounts that this process has no access to, as it was logged
	reserved    reservations
}

// checkNeighbours returns an error if the parts work with others than each other, as far as they know.
func (c *Config) checkNeighbours() error {
	if c.Store == nil || fields.Required("", c.Ledger, "") != nil {
		return nil //nolint:nilerr // validate has said so
	}
	var faults []error
	if l, ok := c.Ledger.(interface{ Kinds() *postroom.Kinds }); ok {
		faults = append(faults, fields.Same("gmail: Config.Kinds", c.Kinds, "Config.Ledger", l.Kinds()))
	}
	if l, ok := c.Ledger.(interface{ DB() queue.DB }); ok {
		faults = append(faults, fields.Same("gmail: Config.Store: the database", c.Store.DB(), "Config.Ledger", l.DB()))
	}
	return errors.Join(faults...)
}
