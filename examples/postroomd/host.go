package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"golang.org/x/oauth2"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/sqlite"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/undo"
)

// mailboxOwner is the owner of the demo's mailbox.
const mailboxOwner = sample.Owner

// workers is the number of jobs that run at once.
const workers = 16

// silent discards log lines: this program reports in its progress, its summary and its listings.
var silent = slog.New(slog.DiscardHandler)

// A host wires all packages on one folder. A command that only reads opens it as it is; one that runs jobs also takes the
// folder's lock and starts the Gmail.
type host struct {
	folder folder
	db     *sqlite.DB
	queue  *queue.Queue
	mail   *gmail.Store
	rules  *rules.Store
	ledger *safety.Ledger

	// Set only by work.
	server  *gmailtest.Server
	clients gmail.Clients
	undoing undo.Config
	undoer  *undo.Undoer
	release func() error
}

// open opens a host for reading.
func open(ctx context.Context, f folder) (*host, error) {
	db, err := sqlite.Open(ctx, f.database(), nil)
	if err != nil {
		return nil, err
	}
	h := &host{folder: f, db: db}
	if err := h.setUp(ctx); err != nil {
		return nil, errors.Join(err, h.close())
	}
	return h, nil
}

func (h *host) setUp(ctx context.Context) error {
	for _, migrate := range []func(context.Context, queue.DB) error{queue.Migrate, gmail.Migrate, rules.Migrate, safety.Migrate} {
		if err := migrate(ctx, h.db); err != nil {
			return err
		}
	}
	var err error
	if h.mail, err = gmail.NewStore(gmail.StoreConfig{DB: h.db}); err != nil {
		return err
	}
	if h.rules, err = rules.NewStore(rules.StoreConfig{DB: h.db}); err != nil {
		return err
	}
	// A demo may be killed many times; that is not the fault of the job it was at.
	if h.queue, err = queue.New(h.db, &queue.Config{Logger: silent, Budget: queue.Budget{Crashes: 1000}}); err != nil {
		return err
	}
	h.ledger, err = safety.NewLedger(safety.Config{DB: h.db, Execute: h.execute})
	return err
}

// work opens a host for running jobs.
func work(ctx context.Context, f folder) (_ *host, err error) {
	release, err := f.lock(ctx)
	if err != nil {
		return nil, err
	}
	h, err := open(ctx, f)
	if err != nil {
		return nil, errors.Join(err, release())
	}
	h.release = release
	if err := h.connect(ctx); err != nil {
		return nil, errors.Join(err, h.close())
	}
	return h, nil
}

// connect starts the Gmail and everything that talks to it, through the real client and real HTTP.
func (h *host) connect(ctx context.Context) error {
	server, err := gmailtest.Open(ctx, gmailtest.Config{Dir: h.folder.gmail(), Email: mailboxOwner})
	if err != nil {
		return err
	}
	h.server = server
	token := oauth2.StaticTokenSource(&oauth2.Token{AccessToken: "demo"})
	// Each worker keeps its connection; the default would close all but two after each call, and ask for a proxy.
	base := &http.Transport{MaxIdleConnsPerHost: workers}
	client, err := gmail.NewClient(gmail.ClientConfig{
		Endpoint:   server.URL(),
		HTTPClient: &http.Client{Transport: &oauth2.Transport{Source: token, Base: base}, Timeout: time.Minute},
		// The Gmail is the demo's own: there is no quota to keep.
		Limits: gmail.Limits{Unlimited: true},
	})
	if err != nil {
		return err
	}
	h.clients = gmail.ClientsFunc(func(context.Context, string) (*gmail.Client, error) { return client, nil })
	mailbox, err := gmail.NewMailbox(gmail.MailboxConfig{Store: h.mail, Clients: h.clients})
	if err != nil {
		return err
	}
	h.undoing = undo.Config{Queue: h.queue, Ledger: h.ledger, Mailbox: mailbox}
	h.undoer, err = undo.NewUndoer(h.undoing)
	return err
}

func (h *host) close() error {
	var errs []error
	if h.server != nil {
		errs = append(errs, h.server.Close())
	}
	errs = append(errs, h.db.Close())
	if h.release != nil {
		errs = append(errs, h.release())
	}
	return errors.Join(errs...)
}

// These methods connect packages that do not import each other. Each enqueues the next job in the transaction of the last.

// classify follows ingest.
func (h *host) classify(ctx context.Context, tx queue.Tx, msg *postroom.Message) error {
	_, err := h.queue.EnqueueTx(ctx, tx, rules.NewClassifyJob(msg.AccountID, msg.ID))
	return err
}

// execute follows the ledger: at once, or when a person has approved.
func (h *host) execute(ctx context.Context, tx queue.Tx, a postroom.Action) error {
	_, err := h.queue.EnqueueTx(ctx, tx, gmail.NewActionJob(a.AccountID, a.ID))
	return err
}

// disableRules follows the end of a label.
func (h *host) disableRules(ctx context.Context, tx queue.Tx, accountID string, label postroom.Label) error {
	_, err := h.rules.DisableUsingLabel(ctx, tx, accountID, label)
	return err
}

// dispatcher runs all jobs there are. The folder's lock makes it the only one.
func (h *host) dispatcher() (*queue.Dispatcher, error) {
	d, err := queue.NewDispatcher(h.queue, &queue.DispatcherConfig{Workers: workers, Exclusive: true})
	if err != nil {
		return nil, err
	}
	engine, err := rules.NewEngine(rules.EngineConfig{Store: h.rules, Logger: silent})
	if err != nil {
		return nil, err
	}
	return d, errors.Join(
		gmail.Register(d, gmail.Config{
			Store: h.mail, Clients: h.clients, Ledger: h.ledger, OnMessage: h.classify, OnLabelDeleted: h.disableRules,
			// All mail is taken in; what lies in spam and trash is not decided about.
			SpamAndTrash: true, Logger: silent,
		}),
		rules.Register(d, rules.Config{Messages: h.mail, Labels: h.mail, Ledger: h.ledger, Rules: engine}),
		undo.Register(d, h.undoing),
	)
}

// runJobs works until nothing is left to do.
func (h *host) runJobs(ctx context.Context) error {
	d, err := h.dispatcher()
	if err != nil {
		return err
	}
	// A run that was interrupted stops in good order, and that is no error to the dispatcher.
	return errors.Join(d.RunUntilIdle(ctx), ctx.Err())
}
