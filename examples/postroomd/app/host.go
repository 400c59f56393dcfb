package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/agents"
	"github.com/postroom-go/postroom/examples/postroomd/editor"
	"github.com/postroom-go/postroom/examples/postroomd/enrichment"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/mailarchive"
	"github.com/postroom-go/postroom/examples/postroomd/notify"
	"github.com/postroom-go/postroom/examples/postroomd/telemetry"
	"github.com/postroom-go/postroom/examples/postroomd/tokens"
	"github.com/postroom-go/postroom/gmail/appointments"
	"github.com/postroom-go/postroom/gmail/archive"
	"github.com/postroom-go/postroom/gmail/drafting"
	"github.com/postroom-go/postroom/gmail/escalation"
	"github.com/postroom-go/postroom/gmail/filing"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/notes"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/gmail/pipeline"
	"github.com/postroom-go/postroom/gmail/reminders"
	"github.com/postroom-go/postroom/gmail/replies"
	"github.com/postroom-go/postroom/gmail/statistics"
	"github.com/postroom-go/postroom/gmail/tasks"
	"github.com/postroom-go/postroom/gmail/unsubscribe"
	"github.com/postroom-go/postroom/gmail/voice"
	"github.com/postroom-go/postroom/internal/migrate"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/agent"
	"github.com/postroom-go/postroom/llm/decide"
	"github.com/postroom-go/postroom/llm/enrich"
	"github.com/postroom-go/postroom/llm/guidance"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/postgres"
	"github.com/postroom-go/postroom/queue/queueadmin"
	"github.com/postroom-go/postroom/queue/sqlite"
	"github.com/postroom-go/postroom/rules/onboarding"
	"github.com/postroom-go/postroom/rules/ruleschat"
	"github.com/postroom-go/postroom/rules/rulesfile"
	"github.com/postroom-go/postroom/safety/audit"
	"github.com/postroom-go/postroom/safety/checkpoint"
	"github.com/postroom-go/postroom/safety/discord"
	"github.com/postroom-go/postroom/safety/webhook"
)

// silent discards log lines: the demo reports in its progress, its summary and its listings.
var silent = slog.New(slog.DiscardHandler)

// An App is a pipeline with the configuration, the files and the models of an environment, for both the demo and run;
// only its Gmail differs. A command that only reads opens it without changes. A command that runs jobs also takes the
// lock and connects to the Gmail.
type App struct {
	*pipeline.Pipeline
	Env     *environment.Environment
	Log     *slog.Logger
	tracers trace.TracerProvider // nil: unrecorded, where jobs run
	meters  metric.MeterProvider

	DB    database
	Audit *audit.Log

	Models     *Models
	RuleEditor *editor.Editor
	Notifier   *notify.Notifier
	Tasks      *tasks.Store
	Notes      *notes.Store
	Reminders  *reminders.Store
	Statistics *statistics.Store
	Onboarding *onboarding.Service
	Replies    *replies.Store
	Drafting   *drafting.Service // nil: no drafts are written
	Voice      *voice.Service    // nil: nobody learns how people write
	Agents     *agents.Service
	Lists      *unsubscribe.Leaver  // nil: no lists are left
	Enrichment *enrichment.Service  // nil: nothing is found out about what mail means
	Archive    *mailarchive.Service // nil: mail is not archived

	escalations *escalation.Service
	vault       *notes.Vault    // nil: no notes are written
	cabinet     *filing.Cabinet // nil: no attached files are kept by rule

	// Set only if jobs are run or enqueued.
	Server  *gmailtest.Server // of the demo
	bot     *discord.Bot      // nil: nobody is asked at Discord
	sender  *webhook.Sender   // nil: no address is told of requests
	ntfy    *notify.Ntfy      // nil: no topic is told
	release func() error

	dry      dryRun
	base     *http.Transport // carries the calls of all accounts
	opening  sync.Mutex
	granted  granted         // nil before the first use
	demo     *rulesfile.File // the rules of a demo; nil: those of the environment
	register func(*queue.Dispatcher) error
	signIns  signIns
	listsBy  http.RoundTripper // nil: package unsubscribe's own

	rulesWatch atomic.Pointer[rulesWatch] // nil before the daemon runs
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

// Migrate creates the tables of all packages that an App uses, or brings them up to date. An App does so when it is
// opened.
func Migrate(ctx context.Context, db queue.DB) error {
	ctx = migrate.WithKnown(ctx, db.Reader(), string(db.Dialect()))
	for _, up := range []func(context.Context, queue.DB) error{pipeline.Migrate, llm.Migrate, decide.Migrate,
		guidance.Migrate, ruleschat.Migrate, discord.Migrate, notify.Migrate, tasks.Migrate, tokens.Migrate, agent.Migrate,
		replies.Migrate, drafting.Migrate, unsubscribe.Migrate, voice.Migrate, reminders.Migrate,
		onboarding.Migrate, enrich.Migrate, archive.Migrate, notes.Migrate, filing.Migrate,
		appointments.Migrate, statistics.Migrate,
		migrateProbe} {
		if err := up(ctx, db); err != nil {
			return err
		}
	}
	return nil
}

func (h *App) setUp(ctx context.Context) error {
	if err := Migrate(ctx, h.DB); err != nil {
		return err
	}
	var err error
	if h.Tasks, err = tasks.New(tasks.Config{DB: h.DB}); err != nil {
		return err
	}
	if h.Notes, err = notes.NewStore(h.DB); err != nil {
		return err
	}
	if h.Statistics, err = statistics.New(statistics.Config{DB: h.DB}); err != nil {
		return err
	}
	if err := h.Env.AddKinds(h.Env.OwnKinds()); err != nil { // reads the profiles
		return err
	}
	if err := h.Env.CarryOut(h.carriedOut()...); err != nil {
		return err
	}
	if h.Env.Config.Enrich.Enabled {
		h.Enrichment = &enrichment.Service{}
	}
	h.Models = &Models{env: h.Env, log: h.Log, db: h.DB, meaning: h.Enrichment}
	if err := h.Models.open(); err != nil {
		return err
	}
	if h.Env.Folder != "" { // beside PostgreSQL nothing may have been kept there yet
		if err := h.Env.Folder.Create(); err != nil {
			return err
		}
	}
	cfg, err := h.pipelineConfig(ctx)
	if err != nil {
		return err
	}
	if h.Pipeline, err = pipeline.New(cfg); err != nil {
		return err
	}
	if err := h.newNotifier(); err != nil {
		return err
	}
	if h.escalations, err = escalation.New(escalation.Config{Store: h.Mail, Clients: h.Clients,
		Label: h.Env.Config.Replies.ActionRequired, Told: h.tellOfEscalation}); err != nil {
		return err
	}
	h.Models.mail, h.Models.ledger, h.Models.lessons = h.Mail, h.Ledger, h.Lessons
	if err := errors.Join(h.openDrafting(), h.openAgents(), h.openLists(), h.openReminders(),
		h.openOnboarding(), h.openEnrichment(), h.openArchive(), h.openVault(),
		h.openCabinet()); err != nil {
		return err
	}
	h.RuleEditor = editor.New(h.Env, h.DB, h.Queue, h.Mail, h.Rules)
	return nil
}

// A Config configures an App that runs jobs. Only the Environment is required.
type Config struct {
	Environment *environment.Environment

	Logger         *slog.Logger         // default: none
	TracerProvider trace.TracerProvider // default: traces have ids and are not recorded
	MeterProvider  metric.MeterProvider // default: none

	// Kinds are actions of the program's own, besides those of postroomd; rules and models may choose them.
	Kinds []postroom.Kind
	// Register adds handlers of jobs of the program's own to those of postroomd, if it is set.
	Register func(*queue.Dispatcher) error
	// ListTransport makes the requests that leave mailing lists, for tests. Default: one that only asks public addresses.
	ListTransport http.RoundTripper
}

// New opens an App for running jobs. Nobody else runs jobs in its data folder until it is closed.
func New(ctx context.Context, cfg Config) (*App, error) {
	h := &App{Env: cfg.Environment, Log: cmp.Or(cfg.Logger, silent), tracers: cfg.TracerProvider,
		meters: cfg.MeterProvider, register: cfg.Register, listsBy: cfg.ListTransport}
	if _, err := h.Env.AgentProfiles(); err != nil {
		return nil, err
	}
	if err := h.Env.AddKinds(cfg.Kinds); err != nil {
		return nil, err
	}
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
	if h.Env.Demo {
		if err := h.startGmail(ctx); err != nil {
			return errors.Join(err, h.release())
		}
	}
	if err := h.open(ctx); err != nil {
		return errors.Join(err, h.closeGmail(), h.release())
	}
	if h.Env.Demo {
		err = outbox.EndCalls(ctx, h.DB)
	}
	if err == nil {
		err = h.Archive.Lock()
	}
	if err == nil {
		err = h.recordSettings(ctx)
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
func (h *App) checkpoint(ctx context.Context) (checkpoint.Store, error) {
	path, err := h.Env.Checkpoint(ctx, h.DB)
	if err != nil || path == "" {
		return nil, err
	}
	return checkpoint.File(path), nil
}

// Close releases what the App has opened: servers, the database and the lock of the data folder.
func (h *App) Close() error {
	var errs []error
	h.signIns.close()
	if h.Pipeline != nil {
		// what a command has written; a fault was reported, or is at the next start
		_ = h.Ledger.Remember(context.Background())
	}
	errs = append(errs, h.closeGmail())
	if h.sender != nil {
		h.sender.Close()
	}
	if h.ntfy != nil {
		h.ntfy.Close()
	}
	if h.Archive != nil {
		errs = append(errs, h.Archive.Close())
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

// patience is how long a command waits for a running postroomd to process its jobs.
const patience = 10 * time.Second

// CarryOut runs the jobs that a command has enqueued: here for a demo, otherwise in the running postroomd. It reports
// whether done is true at the end. It does not wait if no postroomd runs.
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
