package pipeline

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/away"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/gmail/senders"
	"github.com/postroom-go/postroom/gmail/telemetry"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/lessons"
	"github.com/postroom-go/postroom/rules/rulestore"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/safety/audit"
	"github.com/postroom-go/postroom/undo"
)

// A Pipeline is the assembly of all packages that sort mail, on one database. Its parts are those that the packages
// make; each can be used as its package says. It is safe for concurrent use, but for Run, RunUntilIdle and RunJobs, of
// which one works at a time: another call meanwhile is [ErrRuns]. [New] makes one; the zero Pipeline is unusable.
type Pipeline struct {
	DB     queue.DB
	Queue  *queue.Queue
	Mail   *mailstore.Store
	Rules  *rulestore.Store
	Engine *rules.Engine // decides by the stored rules
	Ledger *safety.Ledger

	Clients *gmail.AccountClients
	Outbox  *outbox.Outbox // nil without [Config].Outbox
	Away    *away.Service  // nil without [Config].Outbox
	Undoer  *undo.Undoer
	Lessons *lessons.Store // nil without [Config].Learn

	Backlog *Backlog

	cfg       Config
	gate      *rulesGate
	telemetry *telemetry.Telemetry
	undoing   undo.Config
	known     *senders.Senders
	ready     readiness
	added     chan struct{} // has an element when an account was added here

	working sync.Mutex // is held by what runs jobs
	// givenUp are the limit keys of accounts that a run which is to end waits for no longer.
	givenUp map[string]bool
}

// Migrate creates the tables of all packages that a pipeline consists of, or brings them up to date. Call it at every
// start; several processes may do so at once. A host that uses other packages, such as llm, migrates those itself.
func Migrate(ctx context.Context, db queue.DB) error {
	for _, migrate := range []func(context.Context, queue.DB) error{
		queue.Migrate, mailstore.Migrate, rulestore.Migrate, safety.Migrate, audit.Migrate, away.Migrate,
		lessons.Migrate,
	} {
		if err := migrate(ctx, db); err != nil {
			return err
		}
	}
	return nil
}

// New makes a pipeline; a bad configuration is an error that names the field. It makes no calls.
func New(cfg Config) (*Pipeline, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	p := &Pipeline{DB: cfg.DB, cfg: cfg, added: make(chan struct{}, 1)}
	if p.telemetry, err = telemetry.New(cfg.Queue.TracerProvider, cfg.Queue.MeterProvider); err != nil {
		return nil, err
	}
	for _, step := range []func() error{p.openStores, p.openLedger, p.connect, p.openEngine, p.openLessons} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	p.gate = newRulesGate(p)
	p.Backlog = &Backlog{db: p.DB, queue: p.Queue, mail: p.Mail}
	return p, nil
}

func (p *Pipeline) openStores() (err error) {
	if p.Queue, err = queue.New(p.DB, &p.cfg.Queue); err != nil {
		return err
	}
	if p.Mail, err = mailstore.New(mailstore.Config{DB: p.DB}); err != nil {
		return err
	}
	if p.Rules, err = rulestore.New(rulestore.Config{DB: p.DB, Kinds: p.cfg.Kinds}); err != nil {
		return err
	}
	p.Rules = p.Rules.As(rulestore.Author{Name: p.cfg.Author})
	return nil
}

// openEngine makes what decides by rules.
func (p *Pipeline) openEngine() (err error) {
	if p.known, err = senders.New(senders.Config{Store: p.Mail, Queue: p.Queue, Clients: p.Clients,
		SpamAndTrash: p.cfg.Gmail.SpamAndTrash}); err != nil {
		return err
	}
	p.Engine, err = rules.NewEngine(rules.EngineConfig{Store: p.Rules, Senders: p.known,
		History: senders.History{Store: p.Mail}, Meanings: p.cfg.Meanings, Logger: p.cfg.Logger})
	return err
}

func (p *Pipeline) openLedger() error {
	refusals := outbox.RefusalsConfig{Store: p.Mail, MayDelete: p.cfg.MayDelete}
	if p.cfg.Outbox != nil {
		refusals.MaxRecipients, refusals.Names = p.cfg.Outbox.MaxRecipients, p.cfg.Outbox.Names
	}
	refuses, err := outbox.NewRefusals(refusals)
	if err != nil {
		return err
	}
	cfg := p.cfg.Safety
	cfg.DB, cfg.Kinds, cfg.Rules, cfg.Labels = p.DB, p.cfg.Kinds, storedRules{p}, p.Mail
	cfg.Drifts = drifts{p}
	cfg.Sent, cfg.Refusals = outbox.NewSentRecord(p.Mail), refuses
	cfg.Correspondents = senders.Correspondents{Store: p.Mail}
	cfg.Execute, cfg.Ask, cfg.Joined, cfg.OnAnswer = p.execute, p.notify, p.notify, p.answered
	cfg.OnEnded = away.Ended
	p.Ledger, err = safety.NewLedger(cfg)
	return err
}

// connect makes everything that uses Gmail.
func (p *Pipeline) connect() (err error) {
	clients := p.cfg.Clients
	clients.Store = p.Mail
	if p.Clients, err = gmail.NewClients(clients); err != nil {
		return err
	}
	if p.cfg.Outbox != nil {
		sends := *p.cfg.Outbox
		sends.Store, sends.Clients, sends.Ledger = p.Mail, p.Clients, p.Ledger
		if p.Outbox, err = outbox.New(sends); err != nil {
			return err
		}
		if err := p.openAway(); err != nil {
			return err
		}
	}
	mailbox, err := gmail.NewMailbox(gmail.MailboxConfig{Store: p.Mail, Clients: p.Clients})
	if err != nil {
		return err
	}
	p.undoing = undo.Config{Queue: p.Queue, Ledger: p.Ledger, Mailbox: mailbox, Kinds: p.cfg.Kinds,
		ByHand: p.Mail.ByHand, OnRequest: p.undoRequested}
	undoer, err := undo.NewUndoer(p.undoing)
	if err != nil {
		return err
	}
	p.Undoer = undoer.As(p.cfg.Author)
	return nil
}

// shared reports whether other processes may work on the same accounts.
func (p *Pipeline) shared() bool { return p.DB.Dialect() == driver.Postgres }

// These methods connect packages that do not import each other. Each enqueues the next job in the transaction of the
// last.

// arrived is called after ingest.
func (p *Pipeline) arrived(ctx context.Context, tx queue.Tx, msg *postroom.Message) error {
	if p.cfg.Arrived == nil {
		return nil
	}
	return p.cfg.Arrived(ctx, tx, msg)
}

// classify is called after ingest if the rules alone do not decide.
func (p *Pipeline) classify(ctx context.Context, tx queue.Tx, msg *postroom.Message) error {
	if err := p.arrived(ctx, tx, msg); err != nil {
		return err
	}
	_, err := p.Queue.EnqueueTx(ctx, tx, rules.NewClassifyJob(msg.AccountID, msg.ID))
	return err
}

// execute is called by the ledger, at once or when a person has approved.
func (p *Pipeline) execute(ctx context.Context, tx queue.Tx, a postroom.Action) error {
	_, err := p.Queue.EnqueueTx(ctx, tx, gmail.NewActionJob(a.AccountID, a.ID))
	return err
}

// notify is called after a request for approval, and after its answer from anywhere. It enqueues the jobs that update
// the places where people are asked.
func (p *Pipeline) notify(ctx context.Context, tx queue.Tx, request safety.Approval) error {
	for _, jobs := range p.cfg.Notify {
		if _, err := p.Queue.EnqueueManyTx(ctx, tx, jobs(request)); err != nil {
			return err
		}
	}
	return nil
}

// NewDispatcher makes a dispatcher with all handlers, for a host that runs jobs without [Pipeline.Run].
func (p *Pipeline) NewDispatcher() (*queue.Dispatcher, error) {
	cfg := p.cfg.Dispatcher
	cfg.Middleware = append(slices.Clone(cfg.Middleware), p.Middleware()...)
	d, err := queue.NewDispatcher(p.Queue, &cfg)
	if err != nil {
		return nil, err
	}
	return d, p.Register(d)
}

// Middleware returns what the handlers of Register need around them: jobs that may not decide yet, or whose account
// another process has access to, are given back, and the way of mail is reported to OpenTelemetry. The
// [Pipeline.NewDispatcher] adds it; a dispatcher of the host's own needs it in its configuration.
func (p *Pipeline) Middleware() []queue.Middleware {
	return []queue.Middleware{p.holdDecisions, leaveToOthers, p.telemetry.Middleware(p.Ledger)}
}

// Register registers the handlers of all jobs, including those of [Config].Handlers.
func (p *Pipeline) Register(d *queue.Dispatcher) error {
	if err := fields.Required("pipeline: Register: the Dispatcher", d, "one made by queue.NewDispatcher"); err != nil {
		return err
	}
	var model postroom.Decider
	if p.cfg.Model != nil {
		var err error
		if model, err = p.cfg.Model(p); err != nil {
			return err
		}
	}
	classify := rules.Config{Messages: p.Mail, Labels: p.Mail, Ledger: p.telemetry.Ledger(p.Ledger),
		Rules: gatedEngine{p.Engine, p.gate}, Fallback: model, FallbackAge: p.cfg.ModelAge, OnFallback: p.cfg.OnModel,
		Kinds: p.cfg.Kinds, Rejected: p.rejected}
	if p.cfg.Safety.DryRun {
		classify.Ledger, classify.DryRun = p.telemetry.Ledger(triedLedger{p.Ledger}), p.try
	}
	classify.Beside = p.besides(classify.Ledger)
	classifier, err := rules.NewClassifier(classify)
	if err != nil {
		return err
	}
	jobs := p.cfg.Gmail
	jobs.Store, jobs.Clients, jobs.Ledger, jobs.Kinds, jobs.Outbox = p.Mail, p.Clients, p.Ledger, p.cfg.Kinds, p.Outbox
	jobs.Decide = p.telemetry.Decide(p.decideAtOnce(classifier))
	jobs.Confirm, jobs.OnMessage = p.confirm, p.classify
	jobs.Wanted = p.wanted
	jobs.OnLabelDeleted, jobs.OnLabelsChanged = p.disableRules, p.labelsChanged
	err = errors.Join(gmail.Register(d, jobs), rules.Register(d, classify), undo.Register(d, p.undoing),
		p.registerAging(d), p.registerLessons(d))
	if err == nil && p.cfg.Handlers != nil {
		err = p.cfg.Handlers(d)
	}
	return err
}
