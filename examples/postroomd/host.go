package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/decide"
	"github.com/postroom-go/postroom/llm/guidance"
	"github.com/postroom-go/postroom/llm/rediscache"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/postgres"
	"github.com/postroom-go/postroom/queue/sqlite"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/ruleschat"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/safety/audit"
	"github.com/postroom-go/postroom/safety/discord"
	"github.com/postroom-go/postroom/safety/webhook"
	"github.com/postroom-go/postroom/undo"
)

// silent discards log lines: the demo reports in its progress, its summary and its listings.
var silent = slog.New(slog.DiscardHandler)

// A host wires all packages on one site, for both the demo and run; only its Gmail differs. A command that only reads opens it
// without changes. A command that runs jobs also takes the lock and connects to the Gmail.
type host struct {
	env     *environment.Environment
	log     *slog.Logger
	tracers trace.TracerProvider // nil: unrecorded, where jobs run
	meters  metric.MeterProvider

	db     database
	queue  *queue.Queue
	mail   *gmail.Store
	rules  *rules.Store
	ledger *safety.Ledger
	audit  *audit.Log
	record *record    // of what rules there are: the ledger
	gate   *rulesGate // nil where no file of rules is to be stored first

	records *llm.Records      // of the models
	guide   *guidance.Store   // the instructions to them
	cache   *rediscache.Cache // of their answers; nil: the database keeps them

	// Set only if jobs are run or enqueued.
	server  *gmailtest.Server // of the demo
	clients gmail.Clients
	outbox  *gmail.Outbox
	undoing undo.Config
	undoer  *undo.Undoer
	bot     *discord.Bot    // nil: nobody is asked at Discord
	sender  *webhook.Sender // nil: no address is told of requests
	release func() error

	// givenUp are the limit keys of accounts that a run which is to end waits for no longer.
	givenUp map[string]bool
}

type database interface {
	queue.DB
	io.Closer
}

func openDatabase(ctx context.Context, s *environment.Environment) (database, error) {
	if s.Config.Paths.Database.Postgres() {
		return postgres.Open(ctx, string(s.Config.Paths.Database), nil)
	}
	db, err := sqlite.Open(ctx, s.Database(), nil)
	if err != nil {
		if fault := tryWrite(s.Database()); fault != nil {
			return nil, fmt.Errorf("%s cannot be opened: postroomd has to write there, and cannot: %w", s.Database(), fault)
		}
		return nil, err
	}
	return db, nil
}

// tryWrite returns why a file cannot be written, or none made beside it; SQLite does not say.
func tryWrite(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err == nil {
		err = f.Close()
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	beside, err := os.CreateTemp(filepath.Dir(path), ".postroomd")
	if err != nil {
		return err
	}
	return errors.Join(beside.Close(), os.Remove(beside.Name()))
}

// open opens a host for reading.
func open(ctx context.Context, s *environment.Environment) (*host, error) {
	h := &host{env: s, log: silent}
	if err := h.open(ctx); err != nil {
		return nil, err
	}
	return h, nil
}

func (h *host) open(ctx context.Context) (err error) {
	if h.db, err = openDatabase(ctx, h.env); err != nil {
		return err
	}
	if err := h.setUp(ctx); err != nil {
		return errors.Join(err, h.db.Close())
	}
	return nil
}

func (h *host) setUp(ctx context.Context) error {
	for _, migrate := range []func(context.Context, queue.DB) error{queue.Migrate, gmail.Migrate, rules.Migrate, safety.Migrate, audit.Migrate, llm.Migrate, decide.Migrate, guidance.Migrate, ruleschat.Migrate, discord.Migrate, migrateProbe} {
		if err := migrate(ctx, h.db); err != nil {
			return err
		}
	}
	var err error
	if h.mail, err = gmail.NewStore(gmail.StoreConfig{DB: h.db}); err != nil {
		return err
	}
	h.record = &record{}
	if h.rules, err = rules.NewStore(rules.StoreConfig{DB: h.db, Kinds: environment.Kinds, Log: h.record}); err != nil {
		return err
	}
	h.rules = h.rules.As(rules.Author{Name: me()})
	if err := h.openModels(); err != nil {
		return err
	}
	cfg := queue.Config{Logger: h.log, TracerProvider: h.tracers, MeterProvider: h.meters}
	if h.env.Demo {
		// A demo may be killed many times, which is not the fault of its current job.
		cfg.Budget.Crashes = 1000
	}
	if h.queue, err = queue.New(h.db, &cfg); err != nil {
		return err
	}
	key, err := h.env.ApprovalKey()
	if err != nil {
		return err
	}
	oldKeys, err := h.env.OldApprovalKeys()
	if err != nil {
		return err
	}
	policy, err := h.policy()
	if err != nil {
		return err
	}
	checkpoint, err := h.checkpoint(ctx)
	if err != nil {
		return err
	}
	if h.env.Folder != "" { // beside PostgreSQL nothing may have been kept there yet
		if err := h.env.Folder.Create(); err != nil {
			return err
		}
	}
	refusals, err := h.newRefusals()
	if err != nil {
		return err
	}
	if h.audit, err = audit.New(h.db); err != nil {
		return err
	}
	h.ledger, err = safety.NewLedger(safety.Config{
		DB: h.db, Kinds: environment.Kinds, Rules: h.rules, Forbids: h.guide, Labels: h.mail, Sent: h.mail, Refusals: refusals, Execute: h.execute, Ask: h.ask, OnAnswer: h.tellDoors, Notify: h.logEvent,
		Policy: policy, Approvers: h.env.Config.Policy.Approvers, ApprovalExpiry: h.env.Config.Policy.ApprovalExpiry,
		Key: key, OldKeys: oldKeys, StopFile: h.env.StopFile(), Checkpoint: checkpoint, Audit: h.audit, DryRun: h.env.Config.Safety.DryRun,
	})
	if err != nil {
		return err
	}
	h.record.Ledger = h.ledger
	return nil
}

// work opens a host for running jobs.
func work(ctx context.Context, s *environment.Environment) (*host, error) {
	h := &host{env: s, log: silent}
	if err := h.work(ctx); err != nil {
		return nil, err
	}
	return h, nil
}

func (h *host) work(ctx context.Context) (err error) {
	if h.tracers == nil {
		h.tracers = unrecorded()
	}
	if h.release, err = h.env.Lock(ctx); err != nil {
		return err
	}
	if err := h.open(ctx); err != nil {
		return errors.Join(err, h.release())
	}
	if err = h.recordSettings(ctx); err == nil && h.env.Demo {
		err = h.startGmail(ctx)
	}
	if err == nil {
		err = h.connect(ctx)
	}
	if err == nil {
		err = errors.Join(h.askAgain(ctx), h.newBot(ctx), h.newSender())
	}
	if err != nil {
		return errors.Join(err, h.close())
	}
	return nil
}

// checkpoint returns the file that is not put back with the database; nil if there is no place for one.
func (h *host) checkpoint(ctx context.Context) (safety.CheckpointStore, error) {
	path, err := h.env.Checkpoint(ctx, h.db)
	if err != nil || path == "" {
		return nil, err
	}
	return safety.CheckpointFile(path), nil
}

func (h *host) close() error {
	var errs []error
	if h.ledger != nil {
		_ = h.ledger.Remember(context.Background()) // what a command has written; a fault was reported, or is at the next start
	}
	if h.server != nil {
		errs = append(errs, h.server.Close())
	}
	if h.sender != nil {
		h.sender.Close()
	}
	errs = append(errs, h.db.Close())
	if h.cache != nil {
		errs = append(errs, h.cache.Close())
	}
	if h.release != nil {
		errs = append(errs, h.release())
	}
	return errors.Join(errs...)
}

// These methods connect packages that do not import each other. Each enqueues the next job in the transaction of the last.

// classify is called after ingest if the rules alone do not decide.
func (h *host) classify(ctx context.Context, tx queue.Tx, msg *postroom.Message) error {
	_, err := h.queue.EnqueueTx(ctx, tx, rules.NewClassifyJob(msg.AccountID, msg.ID))
	return err
}

// execute is called by the ledger, at once or when a person has approved.
func (h *host) execute(ctx context.Context, tx queue.Tx, a postroom.Action) error {
	_, err := h.queue.EnqueueTx(ctx, tx, gmail.NewActionJob(a.AccountID, a.ID))
	return err
}

// engine decides by the stored rules. It disables those that it cannot evaluate, so all that decide or explain have this one.
func (h *host) engine() (*rules.Engine, error) {
	return rules.NewEngine(rules.EngineConfig{Store: h.rules, Senders: h.mail, Logger: h.log})
}

// dispatcher runs jobs of all types. On SQLite the lock makes it the only one.
func (h *host) dispatcher() (*queue.Dispatcher, error) {
	d, err := queue.NewDispatcher(h.queue, &queue.DispatcherConfig{
		Workers: h.env.Config.App.Workers, Drain: h.env.Config.App.Drain, Exclusive: !h.env.Config.Paths.Database.Postgres(), Logger: h.log,
		Middleware: []queue.Middleware{h.holdDecisions, leaveToOthers},
	})
	if err != nil {
		return nil, err
	}
	engine, err := h.engine()
	if err != nil {
		return nil, err
	}
	h.registerPrune(d)
	model, err := h.byModel()
	if err != nil {
		return nil, err
	}
	classify := rules.Config{Messages: h.mail, Labels: h.mail, Ledger: h.ledger, Rules: engine, Fallback: model, Kinds: environment.Kinds}
	classifier, err := rules.NewClassifier(classify)
	if err != nil {
		return nil, err
	}
	var asks error
	if h.bot != nil {
		asks = discord.Register(d, h.bot)
	}
	if h.sender != nil {
		asks = errors.Join(asks, webhook.Register(d, h.sender))
	}
	return d, errors.Join(
		asks,
		gmail.Register(d, gmail.Config{
			Store: h.mail, Clients: h.clients, Ledger: h.ledger, Kinds: environment.Kinds, Outbox: h.outbox,
			Decide: h.decideAtOnce(classifier), Confirm: h.confirm(engine), OnMessage: h.classify, OnLabelDeleted: h.disableRules,
			SpamAndTrash: h.env.Config.Gmail.SpamAndTrash, SnoozeLabel: h.env.Config.Gmail.SnoozeLabel, Topic: h.env.Config.Gmail.Topic, Logger: h.log,
		}),
		rules.Register(d, classify),
		undo.Register(d, h.undoing),
	)
}

// patience is how long a command waits for a running postroomd to process its jobs.
const patience = 10 * time.Second

// carryOut runs the jobs that a command has enqueued: here for a demo, otherwise in the running postroomd. It reports whether
// done is true at the end.
func (h *host) carryOut(ctx context.Context, done func(context.Context) (bool, error)) (bool, error) {
	if h.env.Demo {
		if err := h.runJobs(ctx); err != nil {
			return false, err
		}
		return done(ctx)
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for {
		ok, err := done(ctx)
		if ok || err != nil {
			return ok, err
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-late.C:
			return false, nil
		case <-again.C:
		}
	}
}

// waits is the note about jobs that no postroomd has run yet.
const waits = "; a postroomd that runs carries it out"
