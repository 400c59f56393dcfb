package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/rulesfile"
	"github.com/postroom-go/postroom/safety"
)

// Config configures a [Pipeline]. It is copied and checked once, by [New]. The configurations of other packages in it
// leave out what the pipeline gives them, such as the database: a value there is an error.
type Config struct {
	// DB holds everything. Required; [Migrate] must have prepared it.
	DB queue.DB
	// Kinds are the actions that can be carried out; every part gets these. Default nil: those that package gmail carries
	// out, with an Outbox also those that send messages.
	Kinds *postroom.Kinds
	// Clients says how the client of an account is made: its HTTPClient is required. Leave out Store.
	Clients gmail.AccountClientsConfig

	// Rules returns the rules of an account, which name labels by their names. They replace the stored rules when the
	// account is set up: at each start, and when the account is added. Until then nothing is decided about its mail. If
	// it returns nil, the stored rules stay as they are. Default nil: rules are stored with the Rules of the [Pipeline],
	// and nothing is decided about the mail of an account before a version of its rules is stored, which may be empty.
	Rules func(ctx context.Context, account mailstore.Account) (*rulesfile.File, error)
	// RulesChanged reports whether the rules are others by now than those that Rules has returned. It is called in the
	// transaction that stores them, under the lock of all changes of rules; then Rules is called again. Default nil: they
	// have not changed.
	RulesChanged func(file *rulesfile.File) (bool, error)
	// Author is the name under which changes of rules and undos are recorded. Default "pipeline".
	Author string

	// Model makes what decides about mail that no rule matches, such as a decide.Decider. It is called for each
	// dispatcher, and may use the parts of the pipeline. Default nil, and if it returns nil: such mail is recorded with
	// action none.
	Model func(p *Pipeline) (postroom.Decider, error)
	// ModelAge is how old a message may be that Model is asked about, by when Gmail received it. Default 0: any age.
	ModelAge time.Duration
	// OnModel is called with each decision of Model about a new message, in the transaction that records it; an error
	// rolls that back. It is not called in a dry run. Default nil: no call.
	OnModel func(ctx context.Context, tx queue.Tx, msg *postroom.Message, d postroom.Decision) error
	// OnDecided is called with what rules, or Model, have decided about a new message, in the transaction that records it;
	// an error rolls that back. It is not called in a dry run. Default nil: no call.
	OnDecided func(ctx context.Context, tx queue.Tx, msg *postroom.Message, decided []postroom.Decision) error
	// Meanings knows what messages mean, for rules that ask for it; see [Pipeline.DecideMeant]. Default nil: such rules
	// are disabled.
	Meanings rules.Meanings
	// Notify returns the jobs that notify people of a request for approval, or of its answer, such as webhook.Jobs and
	// discord.Jobs. Register their handlers in Handlers. Default nil: people list the requests.
	Notify []func(request safety.Approval) []queue.NewJob

	// RulesDisabled is called when rules are disabled since a label that they name was deleted from the mailbox, in the
	// transaction that disables them, to inform a person; an error rolls that back. It is logged as well. Default nil: no
	// call.
	RulesDisabled func(ctx context.Context, tx queue.Tx, accountID string, disabled []rules.Rule) error

	// Tried is called in a dry run, which Safety.DryRun makes, for each action that a rule or a model has decided on, and
	// that is neither recorded nor carried out. It may be called concurrently. Default nil: it is logged.
	Tried func(ctx context.Context, msg *postroom.Message, entry safety.Entry)

	// Safety configures the ledger: the policy, approvers, keys and so on. Leave out DB, Kinds, Rules, Labels, Sent,
	// Refusals, Drifts, Correspondents, Execute, Ask, Joined, OnAnswer and OnEnded.
	Safety safety.Config
	// Gmail configures the jobs: the topic, spam and trash, what follows on events. Leave out Store, Clients, Ledger,
	// Kinds, Outbox, Confirm, Wanted, OnMessage, Decide and OnLabelDeleted.
	Gmail gmail.Config
	// Arrived is called for each new message that OnMessage of package gmail would get, in the transaction that stores it;
	// an error rolls that back. Default nil: no call.
	Arrived func(ctx context.Context, tx queue.Tx, msg *postroom.Message) error
	// Labels are names of labels that every account needs besides those of its rules. They are created when an account is
	// set up. Default nil: none.
	Labels []string
	// Outbox configures sending. Leave out Store, Clients and Ledger. Default nil: nothing is sent, and nobody can be
	// away.
	Outbox *outbox.Config
	// MayDelete is that of [outbox.RefusalsConfig].
	MayDelete func(account mailstore.Account) error

	// Learn has corrections by hand recorded, and rules learned from them once a week; see package rules/lessons. Default
	// nil: nothing is recorded.
	Learn *Learn

	// Schedules are the intervals of the jobs that find what no notification reports.
	Schedules Schedules
	// Backfill is the search that the first backfill of an account lists. Default empty: all mail.
	Backfill string
	// SortOldMail has the mail decided about that Gmail had received before an account was added. Default false: it is
	// stored, and nothing is done to it until somebody applies rules to it, see rules.Apply.
	SortOldMail bool
	// Access says what this process lacks to work on an account, for people; empty if nothing. Processes that share a
	// PostgreSQL database may have access to different accounts. Default nil: it lacks nothing.
	Access func(ctx context.Context, account mailstore.Account) string

	// Queue and Dispatcher configure the queue and the dispatchers of Run and RunUntilIdle.
	Queue      queue.Config
	Dispatcher queue.DispatcherConfig
	// Handlers registers the handlers of the host's own jobs, and those of the jobs of Notify. Default nil: none.
	Handlers func(d *queue.Dispatcher) error

	// Now returns the time by which messages become old enough for rules. Default [time.Now].
	Now func() time.Time

	// Logger is the logger of all parts that have none. Default [slog.Default].
	Logger *slog.Logger
}

// Schedules are intervals. 0 is the default, and a negative interval schedules nothing.
type Schedules struct {
	HistorySync time.Duration // changes, new mail among them; default 1 min
	LabelsSync  time.Duration // labels; default 1 h
	Watch       time.Duration // Gmail's notifications, with a topic; default 24 h
	Reconcile   time.Duration // the comparison with Gmail; default 24 h
	Age         time.Duration // rules about age are asked again; default 1 h
}

func (s Schedules) withDefaults() Schedules {
	return Schedules{
		HistorySync: cmp.Or(s.HistorySync, time.Minute), LabelsSync: cmp.Or(s.LabelsSync, time.Hour),
		Watch: cmp.Or(s.Watch, 24*time.Hour), Reconcile: cmp.Or(s.Reconcile, 24*time.Hour),
		Age: cmp.Or(s.Age, time.Hour),
	}
}

func (c Config) withDefaults() (Config, error) {
	c.Logger = cmp.Or(c.Logger, slog.Default())
	c.Author = cmp.Or(c.Author, "pipeline")
	c.Schedules = c.Schedules.withDefaults()
	c.Queue.Logger = cmp.Or(c.Queue.Logger, c.Logger)
	c.Gmail.Logger = cmp.Or(c.Gmail.Logger, c.Logger)
	if c.Outbox != nil {
		sends := *c.Outbox
		c.Outbox = &sends
	}
	if err := c.validate(); err != nil {
		return c, err
	}
	if c.Kinds == nil && c.Outbox != nil {
		kinds, err := postroom.NewKinds(postroom.KindsConfig{Add: outbox.Kinds()})
		if err != nil {
			return c, err
		}
		c.Kinds = kinds
	}
	return c, nil
}

func (c *Config) validate() error {
	faults := []error{
		fields.Required("pipeline: Config.DB", c.DB, "a database opened with queue/sqlite or queue/postgres"),
		fields.Required("pipeline: Config.Clients.HTTPClient", c.Clients.HTTPClient,
			"a function that returns an account's HTTP client"),
	}
	for name, given := range c.reserved() {
		if given {
			faults = append(faults, fmt.Errorf("pipeline: Config.%s is set; leave it out, since the pipeline sets it", name))
		}
	}
	return errors.Join(faults...)
}

// reserved are the fields that the pipeline sets, and whether the host has set them.
func (c *Config) reserved() map[string]bool {
	s, g := &c.Safety, &c.Gmail
	all := map[string]bool{
		"Clients.Store": c.Clients.Store != nil,

		"Safety.DB": s.DB != nil, "Safety.Kinds": s.Kinds != nil, "Safety.Rules": s.Rules != nil,
		"Safety.Labels": s.Labels != nil, "Safety.Sent": s.Sent != nil, "Safety.Refusals": s.Refusals != nil,
		"Safety.Correspondents": s.Correspondents != nil,
		"Safety.Execute":        s.Execute != nil, "Safety.Ask": s.Ask != nil, "Safety.Joined": s.Joined != nil, "Safety.OnAnswer": s.OnAnswer != nil,
		"Safety.OnEnded": s.OnEnded != nil,

		"Gmail.Store": g.Store != nil, "Gmail.Clients": g.Clients != nil, "Gmail.Ledger": g.Ledger != nil,
		"Gmail.Kinds": g.Kinds != nil, "Gmail.Outbox": g.Outbox != nil, "Gmail.Confirm": g.Confirm != nil,
		"Gmail.Wanted": g.Wanted != nil, "Gmail.OnMessage": g.OnMessage != nil, "Gmail.Decide": g.Decide != nil,
		"Gmail.OnLabelDeleted": g.OnLabelDeleted != nil,
	}
	if o := c.Outbox; o != nil {
		all["Outbox.Store"], all["Outbox.Clients"], all["Outbox.Ledger"] = o.Store != nil, o.Clients != nil, o.Ledger != nil
	}
	return all
}
