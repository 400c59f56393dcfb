package main

import (
	"context"
	"errors"
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

// mailboxOwner is whose mailbox the demo's Gmail is.
const mailboxOwner = sample.Owner

// workers is how many jobs run at once.
const workers = 16

// A house is all rooms on one folder. For looking, it is opened as it is; for working, it takes the folder's lock and
// starts the Gmail.
type house struct {
	folder folder
	db     *sqlite.DB
	queue  *queue.Queue
	mail   *gmail.Store
	rules  *rules.Store
	ledger *safety.Ledger

	// Only when working.
	server  *gmailtest.Server
	clients gmail.Clients
	undoer  *undo.Undoer
	release func() error
}

// open opens the rooms for looking.
func open(ctx context.Context, f folder) (*house, error) {
	db, err := sqlite.Open(ctx, f.database(), nil)
	if err != nil {
		return nil, err
	}
	h := &house{folder: f, db: db, mail: gmail.NewStore(db), rules: rules.NewStore(db)}
	if err := h.furnish(ctx); err != nil {
		return nil, errors.Join(err, h.close())
	}
	return h, nil
}

func (h *house) furnish(ctx context.Context) error {
	for _, migrate := range []func(context.Context, queue.DB) error{queue.Migrate, gmail.Migrate, rules.Migrate, safety.Migrate} {
		if err := migrate(ctx, h.db); err != nil {
			return err
		}
	}
	var err error
	// A demo may be killed many times; that is not the fault of the job it was at.
	if h.queue, err = queue.New(h.db, &queue.Config{Budget: queue.Budget{Crashes: 1000}}); err != nil {
		return err
	}
	h.ledger, err = safety.New(safety.Config{DB: h.db, Execute: h.execute})
	return err
}

// work opens the rooms for running jobs.
func work(ctx context.Context, f folder) (_ *house, err error) {
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
func (h *house) connect(ctx context.Context) error {
	server, err := gmailtest.Open(ctx, gmailtest.Config{Dir: h.folder.gmail(), Email: mailboxOwner})
	if err != nil {
		return err
	}
	h.server = server
	token := oauth2.StaticTokenSource(&oauth2.Token{AccessToken: "demo"})
	// Each worker keeps its connection; the default would close all but two after each call, and ask for a proxy.
	base := &http.Transport{MaxIdleConnsPerHost: workers}
	client, err := gmail.NewClient(ctx, gmail.ClientConfig{
		Endpoint:   server.URL(),
		HTTPClient: &http.Client{Transport: &oauth2.Transport{Source: token, Base: base}, Timeout: time.Minute},
	})
	if err != nil {
		return err
	}
	h.clients = gmail.ClientsFunc(func(context.Context, string) (*gmail.Client, error) { return client, nil })
	h.undoer, err = undo.New(undo.Config{Queue: h.queue, Ledger: h.ledger, Mailbox: gmail.NewMailbox(h.mail, h.clients)})
	return err
}

func (h *house) close() error {
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

// The arrows between rooms that do not know each other. Each enqueues the next job in the transaction of the last.

// classify follows ingest.
func (h *house) classify(ctx context.Context, tx queue.Tx, msg *postroom.Message) error {
	_, err := h.queue.EnqueueTx(ctx, tx, rules.NewClassifyJob(msg.AccountID, msg.ID))
	return err
}

// execute follows the ledger: at once, or when a person has approved.
func (h *house) execute(ctx context.Context, tx queue.Tx, a postroom.Action) error {
	_, err := h.queue.EnqueueTx(ctx, tx, gmail.NewAction(a.AccountID, a.ID))
	return err
}

// disableRules follows the end of a label.
func (h *house) disableRules(ctx context.Context, tx queue.Tx, accountID string, label postroom.Label) error {
	_, err := h.rules.DisableUsingLabel(ctx, tx, accountID, label)
	return err
}

// dispatcher runs all jobs there are. The folder's lock makes it the only one.
func (h *house) dispatcher() (*queue.Dispatcher, error) {
	d, err := queue.NewDispatcher(h.queue, &queue.DispatcherConfig{Workers: workers, Exclusive: true})
	if err != nil {
		return nil, err
	}
	classifier := &rules.Classifier{Messages: h.mail, Rules: rules.NewEngine(h.rules, nil), Labels: h.mail, Ledger: h.ledger}
	err = gmail.Register(d, gmail.Config{
		Store: h.mail, Clients: h.clients, Ledger: h.ledger, OnMessage: h.classify, OnLabelDeleted: h.disableRules,
		// All mail is taken in; what lies in spam and trash is not decided about.
		SpamAndTrash: true,
	})
	if err != nil {
		return nil, err
	}
	queue.Handle(d, rules.ClassifyJob, classifier.Handle)
	queue.Handle(d, undo.Job, h.undoer.Handle)
	return d, nil
}

// runJobs works until nothing is left to do.
func (h *house) runJobs(ctx context.Context) error {
	d, err := h.dispatcher()
	if err != nil {
		return err
	}
	// A run that was interrupted stops in good order, and that is no error to the dispatcher.
	return errors.Join(d.RunUntilIdle(ctx), ctx.Err())
}
