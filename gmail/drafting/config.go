package drafting

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/gmail/replies"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/internal/migrate"
	"github.com/postroom-go/postroom/queue"
)

//go:embed migrations
var migrations embed.FS

// Migrate creates the tables of this package, reply_buttons, reply_texts and reply_days, or brings them up to date.
// Call it at every start; several processes may do so at once.
func Migrate(ctx context.Context, db queue.DB) error {
	err := fields.Required("drafting: Migrate: db", db, "a database opened with queue/sqlite or queue/postgres")
	if err != nil {
		return err
	}
	return migrate.Up(ctx, db, string(db.Dialect()), "gmail/drafting", migrations)
}

// Labels are the names of the labels. An empty name is that of [DefaultLabels].
type Labels struct {
	NeedsResponse, Outbox, Rework, Done, ActionRequired, Waiting string
}

// DefaultLabels returns the names that labels have if no others are given: "Postroom/Needs Response" and so on.
func DefaultLabels() Labels {
	return Labels{
		NeedsResponse: "Postroom/Needs Response", Outbox: "Postroom/Outbox", Rework: "Postroom/Rework",
		Done: "Postroom/Done", ActionRequired: "Postroom/Action Required", Waiting: "Postroom/Waiting",
	}
}

// Names returns the names, for [gmail.NewLabelsSyncJob], which makes those that are missing.
func (l Labels) Names() []string {
	var names []string
	for _, b := range buttons {
		names = append(names, l.name(b))
	}
	return names
}

// Color returns the color of one of the labels, by its name, for [gmail.Config].LabelColor; the zero color for others.
func (l Labels) Color(name string) gmailapi.LabelColor {
	names := l.withDefaults()
	for _, b := range buttons {
		if gmailapi.SameLabelName(names.name(b), name) {
			return colors[b]
		}
	}
	return gmailapi.LabelColor{}
}

func (l Labels) withDefaults() Labels {
	d := DefaultLabels()
	return Labels{
		NeedsResponse: cmp.Or(l.NeedsResponse, d.NeedsResponse), Outbox: cmp.Or(l.Outbox, d.Outbox),
		Rework: cmp.Or(l.Rework, d.Rework), Done: cmp.Or(l.Done, d.Done),
		ActionRequired: cmp.Or(l.ActionRequired, d.ActionRequired), Waiting: cmp.Or(l.Waiting, d.Waiting),
	}
}

func (l Labels) validate() error {
	var faults []error
	seen := make(map[string]button)
	for _, b := range buttons {
		name := l.name(b)
		if err := postroom.CheckLabelName(name); err != nil {
			faults = append(faults, fmt.Errorf("drafting: Config.Labels: %s: %w", b, err))
		}
		key := gmailapi.LabelNameKey(name)
		if other, twice := seen[key]; twice {
			faults = append(faults, fmt.Errorf("drafting: Config.Labels: %s and %s are both %q; give each a name of its own",
				other, b, name))
		}
		seen[key] = b
	}
	return errors.Join(faults...)
}

// Config configures a [Service]. It is copied and checked once, by [New].
type Config struct {
	// Store holds the mail. Required.
	Store *mailstore.Store
	// Queue enqueues the jobs that change labels. Required; it must be one of the database of the Store.
	Queue *queue.Queue
	// Replies keeps the states. Required.
	Replies *replies.Store
	// Drafts makes the drafts. Required.
	Drafts *outbox.Drafts
	// Clients returns the client of an account. Required.
	Clients gmailapi.Clients
	// Writer writes the texts. Required.
	Writer Writer

	// Labels are the names of the labels. Default [DefaultLabels].
	Labels Labels
	// Marker is the line below an instruction in a draft. Default "---".
	Marker string
	// MaxThread is the number of messages of a thread that the Writer gets. Default 20; at least 1.
	MaxThread int
	// PerDay is how many drafts nobody has asked for begin at most in a mailbox on a day (UTC): those of [Service.Needed]
	// and, with FollowUpDraft, reminders. Default 20; at least 1.
	PerDay int
	// FollowUp is how long after the label Waiting, or after the person's last message, a thread without an answer comes
	// back into the inbox. Default 0: never.
	FollowUp time.Duration
	// FollowUpSent has a thread wait for an answer, with the label Waiting, when the person has answered what needed an
	// answer: the state of its reply is sent. It needs FollowUp. Default false.
	FollowUpSent bool
	// FollowUpDraft has a reminder written as a draft where a thread comes back whose last message is the person's, in
	// place of the label Action Required: once for a message, and within PerDay. It needs FollowUp. Default false.
	FollowUpDraft bool
	// Record records a decision of the host; *safety.Ledger has such a method. Required with FollowUp: what brings a
	// thread back is actions, which can be undone.
	Record func(ctx context.Context, msg *postroom.Message, d postroom.Decision) func(ctx context.Context, tx queue.Tx) (
		postroom.Action, error)
	// Sent is called for each draft that was sent, by a person or by [Service.Send], for what can be learned of it. The
	// function that it returns is called in the transaction that ends the need. Default nil: nothing is learned.
	Sent func(d SentDraft) (record func(ctx context.Context, tx queue.Tx) error)
	// Held returns a [*postroom.HeldError] while nothing may be changed in a mailbox; *safety.Ledger has such a method.
	// Jobs wait then. Default nil: they never wait.
	Held func(ctx context.Context) error
	// MeterProvider makes the metrics postroom.drafts and postroom.draft.answer_time. Default nil:
	// OpenTelemetry's global one.
	MeterProvider metric.MeterProvider
	// Logger logs what was left alone and why. Default [slog.Default].
	Logger *slog.Logger
}

func (c Config) withDefaults() (Config, error) {
	c.Labels = c.Labels.withDefaults()
	c.Marker = cmp.Or(strings.TrimSpace(c.Marker), "---")
	c.MaxThread = cmp.Or(c.MaxThread, 20)
	c.PerDay = cmp.Or(c.PerDay, 20)
	c.Logger = cmp.Or(c.Logger, slog.Default())
	faults := []error{
		fields.Required("drafting: Config.Store", c.Store, "the store of mail, made by mailstore.New"),
		fields.Required("drafting: Config.Queue", c.Queue, "one made by queue.New for the same database"),
		fields.Required("drafting: Config.Replies", c.Replies, "one made by replies.New"),
		fields.Required("drafting: Config.Drafts", c.Drafts, "one made by outbox.NewDrafts"),
		fields.Required("drafting: Config.Clients", c.Clients, "what finds an account's client, such as a gmailapi.ClientsFunc"),
		fields.Required("drafting: Config.Writer", c.Writer, "what writes the texts, such as a WriterFunc"),
		c.Labels.validate(),
	}
	if c.MaxThread < 1 {
		faults = append(faults, fmt.Errorf("drafting: Config.MaxThread is %d; it must be at least 1, or 0 for the default",
			c.MaxThread))
	}
	if c.PerDay < 1 {
		faults = append(faults, fmt.Errorf("drafting: Config.PerDay is %d; it must be at least 1, or 0 for the default",
			c.PerDay))
	}
	if c.FollowUp < 0 {
		faults = append(faults, fmt.Errorf("drafting: Config.FollowUp is %v; it must not be negative", c.FollowUp))
	}
	if c.FollowUpSent && c.FollowUp == 0 {
		faults = append(faults, errors.New("drafting: Config.FollowUpSent is set, and FollowUp is 0; say how long to wait"))
	}
	if c.FollowUpDraft && c.FollowUp == 0 {
		faults = append(faults, errors.New("drafting: Config.FollowUpDraft is set, and FollowUp is 0; say how long to wait"))
	}
	if c.FollowUp > 0 && c.Record == nil {
		faults = append(faults, errors.New("drafting: Config.Record is missing; FollowUp needs it: give the method of a "+
			"*safety.Ledger"))
	}
	return c, errors.Join(faults...)
}

// A Service writes drafts and follows the labels. It is safe for concurrent use. [New] makes one; the zero Service is
// unusable.
type Service struct {
	cfg     Config
	metrics metrics
	mailbox *gmail.Mailbox
}

// New makes a service; a bad configuration is an error that names the field.
func New(cfg Config) (*Service, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	m, err := newMetrics(cfg.MeterProvider)
	if err != nil {
		return nil, err
	}
	mailbox, err := gmail.NewMailbox(gmail.MailboxConfig{Store: cfg.Store, Clients: cfg.Clients})
	return &Service{cfg, m, mailbox}, err
}

// Register registers the handlers of the jobs draft, manual_draft, rework and cleanup, and of those of this package,
// each with the options.
func (s *Service) Register(d *queue.Dispatcher, opts ...queue.HandlerOption) error {
	if err := fields.Required("drafting: Register: the Dispatcher", d, "one made by queue.NewDispatcher"); err != nil {
		return err
	}
	queue.Handle(d, replies.JobDraft, s.draft, opts...)
	queue.Handle(d, replies.JobManualDraft, s.manualDraft, opts...)
	queue.Handle(d, replies.JobRework, s.rework, opts...)
	queue.Handle(d, replies.JobCleanup, s.cleanup, opts...)
	queue.Handle(d, JobLabels, s.label, opts...)
	queue.Handle(d, JobCheck, s.check, opts...)
	queue.Handle(d, JobFollowUp, s.followUp, opts...)
	return nil
}
