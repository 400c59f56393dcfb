package app

import (
	"cmp"
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
	"github.com/postroom-go/postroom/examples/postroomd/telemetry"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/decide"
	"github.com/postroom-go/postroom/llm/guidance"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/postgres"
	"github.com/postroom-go/postroom/queue/queueadmin"
	"github.com/postroom-go/postroom/queue/sqlite"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/ruleschat"
	"github.com/postroom-go/postroom/rules/rulestore"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/safety/audit"
	"github.com/postroom-go/postroom/safety/discord"
	"github.com/postroom-go/postroom/safety/webhook"
	"github.com/postroom-go/postroom/undo"
)

// silent discards log lines: the demo reports in its progress, its summary and its listings.
var silent = slog.New(slog.DiscardHandler)

// An App wires all packages on one site, for both the demo and run; only its Gmail differs. A command that only reads opens it
// without changes. A command that runs jobs also takes the lock and connects to the Gmail.
type App struct {
	Env     *environment.Environment
	Log     *slog.Logger
	tracers trace.TracerProvider // nil: unrecorded, where jobs run
	meters  metric.MeterProvider

	DB     database
	Queue  *queue.Queue
	Mail   *mailstore.Store
	Rules  *rulestore.Store
	Ledger *safety.Ledger
	Audit  *audit.Log
	Gate   *rulesGate // nil where no file of rules is to be stored first

	Backlog    *Backlog
	Models     *Models
	Stopper    *Stopper
	RuleEditor *RuleEditor

	// Set only if jobs are run or enqueued.
	Server  *gmailtest.Server // of the demo
	Clients gmail.Clients
	outbox  *gmail.Outbox
	undoing undo.Config
	Undoer  *undo.Undoer
	bot     *discord.Bot    // nil: nobody is asked at Discord
	sender  *webhook.Sender // nil: no address is told of requests
	release func() error

	register func(*queue.Dispatcher) error // nil: the program has no jobs of its own

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

// Open opens a host for reading.
func Open(ctx context.Context, s *environment.Environment) (*App, error) {
	h := &App{Env: s, Log: silent}
	if err := h.open(ctx); err != nil {
		return nil, err
	}
	return h, nil
}

func (h *App) open(ctx context.Context) (err error) {
	if h.DB, err = openDatabase(ctx, h.Env); err != nil {
		return err
	}
	if err := h.setUp(ctx); err != nil {
		return errors.Join(err, h.DB.Close())
	}
	return nil
}

func (h *App) setUp(ctx context.Context) error {
	for _, migrate := range []func(context.Context, queue.DB) error{queue.Migrate, mailstore.Migrate, rulestore.Migrate, safety.Migrate, audit.Migrate, llm.Migrate, decide.Migrate, guidance.Migrate, ruleschat.Migrate, discord.Migrate, migrateProbe} {
		if err := migrate(ctx, h.DB); err != nil {
			return err
		}
	}
	var err error
	if h.Mail, err = mailstore.New(mailstore.Config{DB: h.DB}); err != nil {
		return err
	}
	if h.Rules, err = rulestore.New(rulestore.Config{DB: h.DB, Kinds: environment.Kinds}); err != nil {
		return err
	}
	h.Rules = h.Rules.As(rulestore.Author{Name: CurrentUser()})
	h.Models = &Models{env: h.Env, log: h.Log, db: h.DB, mail: h.Mail}
	if err := h.Models.open(); err != nil {
		return err
	}
	cfg := queue.Config{Logger: h.Log, TracerProvider: h.tracers, MeterProvider: h.meters}
	if h.Env.Demo {
		// A demo may be killed many times, which is not the fault of its current job.
		cfg.Budget.Crashes = 1000
	}
	if h.Queue, err = queue.New(h.DB, &cfg); err != nil {
		return err
	}
	key, err := h.Env.ApprovalKey()
	if err != nil {
		return err
	}
	oldKeys, err := h.Env.OldApprovalKeys()
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
	if h.Env.Folder != "" { // beside PostgreSQL nothing may have been kept there yet
		if err := h.Env.Folder.Create(); err != nil {
			return err
		}
	}
	refusals, err := h.newRefusals()
	if err != nil {
		return err
	}
	if h.Audit, err = audit.New(h.DB); err != nil {
		return err
	}
	h.Ledger, err = safety.NewLedger(safety.Config{
		DB: h.DB, Kinds: environment.Kinds, Rules: h.Rules, Forbids: h.Models.Guidance, Labels: h.Mail, Sent: gmail.NewSentRecord(h.Mail), Refusals: refusals, Execute: h.execute, Ask: h.askApprovers, OnAnswer: h.notifyApprovers, Notify: h.logEvent,
		Policy: policy, Approvers: h.Env.Config.Policy.Approvers, ApprovalExpiry: h.Env.Config.Policy.ApprovalExpiry,
		Key: key, OldKeys: oldKeys, StopFile: h.Env.StopFile(), Checkpoint: checkpoint, Audit: h.Audit, DryRun: h.Env.Config.Safety.DryRun,
	})
	if err != nil {
		return err
	}
	h.Models.ledger = h.Ledger
	h.Backlog = &Backlog{db: h.DB, queue: h.Queue, mail: h.Mail}
	h.Stopper = &Stopper{db: h.DB, queue: h.Queue, ledger: h.Ledger, log: h.Log}
	h.RuleEditor = &RuleEditor{env: h.Env, db: h.DB, queue: h.Queue, mail: h.Mail, rules: h.Rules}
	return nil
}

// A Config configures an App that runs jobs. Only the Environment is required.
type Config struct {
	Environment *environment.Environment

	Logger         *slog.Logger         // default: none
	TracerProvider trace.TracerProvider // default: traces have ids and are not recorded
	MeterProvider  metric.MeterProvider // default: none

	// Register adds handlers of jobs of the program's own to those of postroomd, if it is set.
	Register func(*queue.Dispatcher) error
}

// New opens an App for running jobs. Nobody else runs jobs in its data folder until it is closed.
func New(ctx context.Context, cfg Config) (*App, error) {
	h := &App{Env: cfg.Environment, Log: cmp.Or(cfg.Logger, silent), tracers: cfg.TracerProvider, meters: cfg.MeterProvider, register: cfg.Register}
	if err := h.work(ctx); err != nil {
		return nil, err
	}
	return h, nil
}

func (h *App) work(ctx context.Context) (err error) {
	if h.tracers == nil {
		h.tracers = telemetry.Unrecorded()
	}
	if h.release, err = h.Env.Lock(ctx); err != nil {
		return err
	}
	if err := h.open(ctx); err != nil {
		return errors.Join(err, h.release())
	}
	if err = h.recordSettings(ctx); err == nil && h.Env.Demo {
		err = h.startGmail(ctx)
	}
	if err == nil {
		err = h.Connect(ctx)
	}
	if err == nil {
		err = errors.Join(h.Backlog.AskAgain(ctx), h.NewBot(ctx), h.newSender())
	}
	if err != nil {
		return errors.Join(err, h.Close())
	}
	return nil
}

// checkpoint returns the file that is not put back with the database; nil if there is no place for one.
func (h *App) checkpoint(ctx context.Context) (safety.CheckpointStore, error) {
	path, err := h.Env.Checkpoint(ctx, h.DB)
	if err != nil || path == "" {
		return nil, err
	}
	return safety.CheckpointFile(path), nil
}

// Close releases what the App has opened: servers, the database and the lock of the data folder.
func (h *App) Close() error {
	var errs []error
	if h.Ledger != nil {
		_ = h.Ledger.Remember(context.Background()) // what a command has written; a fault was reported, or is at the next start
	}
	if h.Server != nil {
		errs = append(errs, h.Server.Close())
	}
	if h.sender != nil {
		h.sender.Close()
	}
	errs = append(errs, h.DB.Close())
	if h.Models != nil && h.Models.cache != nil {
		errs = append(errs, h.Models.cache.Close())
	}
	if h.release != nil {
		errs = append(errs, h.release())
	}
	return errors.Join(errs...)
}

// These methods connect packages that do not import each other. Each enqueues the next job in the transaction of the last.

// classify is called after ingest if the rules alone do not decide.
func (h *App) classify(ctx context.Context, tx queue.Tx, msg *postroom.Message) error {
	_, err := h.Queue.EnqueueTx(ctx, tx, rules.NewClassifyJob(msg.AccountID, msg.ID))
	return err
}

// execute is called by the ledger, at once or when a person has approved.
func (h *App) execute(ctx context.Context, tx queue.Tx, a postroom.Action) error {
	_, err := h.Queue.EnqueueTx(ctx, tx, gmail.NewActionJob(a.AccountID, a.ID))
	return err
}

// NewEngine decides by the stored rules. It disables those that it cannot evaluate, so all that decide or explain have this one.
func (h *App) NewEngine() (*rules.Engine, error) {
	return rules.NewEngine(rules.EngineConfig{Store: h.Rules, Senders: h.Mail, Logger: h.Log})
}

// NewDispatcher runs jobs of all types. On SQLite the lock makes it the only one.
func (h *App) NewDispatcher() (*queue.Dispatcher, error) {
	d, err := queue.NewDispatcher(h.Queue, &queue.DispatcherConfig{
		Workers: h.Env.Config.App.Workers, Drain: h.Env.Config.App.Drain, Exclusive: !h.Env.Config.Paths.Database.Postgres(), Logger: h.Log,
		Middleware: []queue.Middleware{h.HoldDecisions, leaveToOthers},
	})
	if err != nil {
		return nil, err
	}
	engine, err := h.NewEngine()
	if err != nil {
		return nil, err
	}
	h.registerPrune(d)
	model, err := h.Models.byModel()
	if err != nil {
		return nil, err
	}
	classify := rules.Config{Messages: h.Mail, Labels: h.Mail, Ledger: h.Ledger, Rules: engine, Fallback: model, Kinds: environment.Kinds}
	classifier, err := rules.NewClassifier(classify)
	if err != nil {
		return nil, err
	}
	if h.register != nil {
		if err := h.register(d); err != nil {
			return nil, err
		}
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
			Store: h.Mail, Clients: h.Clients, Ledger: h.Ledger, Kinds: environment.Kinds, Outbox: h.outbox,
			Decide: h.decideAtOnce(classifier), Confirm: h.confirm(engine), OnMessage: h.classify, OnLabelDeleted: h.disableRules,
			SpamAndTrash: h.Env.Config.Gmail.SpamAndTrash, SnoozeLabel: h.Env.Config.Gmail.SnoozeLabel, Topic: h.Env.Config.Gmail.Topic, Logger: h.Log,
		}),
		rules.Register(d, classify),
		undo.Register(d, h.undoing),
	)
}

// patience is how long a command waits for a running postroomd to process its jobs.
const patience = 10 * time.Second

// CarryOut runs the jobs that a command has enqueued: here for a demo, otherwise in the running postroomd. It reports whether
// done is true at the end. It does not wait if no postroomd runs.
func (h *App) CarryOut(ctx context.Context, done func(context.Context) (bool, error)) (bool, error) {
	if h.Env.Demo {
		if err := h.RunJobs(ctx); err != nil {
			return false, err
		}
		return done(ctx)
	}
	stats, err := queueadmin.ReadStats(ctx, h.Queue, &queueadmin.StatsRequest{Window: time.Minute, MaxCount: 1})
	if err != nil || len(stats.Workers) == 0 {
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
