package chaos

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/llm/decide"
	"github.com/postroom-go/postroom/llm/llmtest"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/postgres"
	"github.com/postroom-go/postroom/queue/sqlite"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/rulestore"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/safety/gate"
	"github.com/postroom-go/postroom/undo"
)

// topic is where Gmail publishes changes.
const topic = "projects/postroom/topics/gmail"

// How long a call may take, and Gmail until it shows what was sent. A worker that is killed after it has announced a
// sending keeps its successor waiting for both.
const (
	callTimeout = 5 * time.Second
	settle      = 5 * time.Second
)

// A place is where an office works, as one process tells another.
type place struct {
	Database string // the path of an SQLite file, or the URL of a PostgreSQL server
	Gmail    string // URL

	// Obedient lets a model that does what the mail says decide about what no rule matches, under the policy obedience.
	Obedient bool
}

func (p place) policy() gate.Policy {
	if p.Obedient {
		return obedience
	}
	return gate.Policy{}
}

func (p place) database(ctx context.Context) (database, error) {
	if strings.HasPrefix(p.Database, "postgres") {
		return postgres.Open(ctx, p.Database, nil)
	}
	return sqlite.Open(ctx, p.Database, &sqlite.Config{Durability: sqlite.Normal})
}

type database interface {
	queue.DB
	io.Closer
}

// An office has all that sorts mail, as a host has it. Several processes have one at the same place.
type office struct {
	db     database
	queue  *queue.Queue
	mail   *mailstore.Store
	rules  *rulestore.Store
	engine *rules.Engine
	ledger *safety.Ledger
	drafts *outbox.Drafts
	undoer *undo.Undoer

	gmail      gmail.Config
	undo       undo.Config
	classify   rules.Config
	classifier *rules.Classifier
}

var silent = slog.New(slog.DiscardHandler)

// open makes what is not there yet. Requests go through the transport; nil is a usual one.
func open(ctx context.Context, p place, transport http.RoundTripper) (o *office, err error) {
	o = new(office)
	if o.db, err = p.database(ctx); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, o.db.Close())
		}
	}()
	for _, migrate := range []func(context.Context, queue.DB) error{queue.Migrate, mailstore.Migrate, rulestore.Migrate,
		safety.Migrate, migrateArrivals} {
		if err := migrate(ctx, o.db); err != nil {
			return nil, err
		}
	}
	kinds, err := postroom.NewKinds(postroom.KindsConfig{Add: outbox.Kinds()})
	if err != nil {
		return nil, err
	}
	if err := o.openStores(p, kinds); err != nil {
		return nil, err
	}
	return o, o.connect(p.Gmail, transport, kinds)
}

func (o *office) openStores(p place, kinds *postroom.Kinds) (err error) {
	o.queue, err = queue.New(o.db, &queue.Config{
		Logger: silent,
		Retry:  queue.RetryPolicy{Base: 10 * time.Millisecond, Factor: 2, Cap: 200 * time.Millisecond},
		Budget: queue.Budget{Crashes: 1000, Interruptions: 1000},
	})
	if err != nil {
		return err
	}
	if o.mail, err = mailstore.New(mailstore.Config{DB: o.db}); err != nil {
		return err
	}
	if o.rules, err = rulestore.New(rulestore.Config{DB: o.db, Kinds: kinds}); err != nil {
		return err
	}
	o.ledger, err = safety.NewLedger(safety.Config{DB: o.db, Kinds: kinds, Rules: o.rules, Labels: o.mail,
		Policy: p.policy(), Execute: o.execute})
	if err != nil {
		return err
	}
	if o.engine, err = rules.NewEngine(rules.EngineConfig{Store: o.rules, Logger: silent}); err != nil {
		return err
	}
	o.classify = rules.Config{Messages: o.mail, Labels: o.mail, Ledger: o.ledger, Rules: o.engine, Kinds: kinds}
	if p.Obedient {
		o.classify.Fallback, err = decide.New(decide.Config{Client: llmtest.Obedient{}, Kinds: kinds, Guidance: o.offerAll})
		if err != nil {
			return err
		}
	}
	o.classifier, err = rules.NewClassifier(o.classify)
	return err
}

// offerAll offers all labels to a model, and those that are not for models.
func (o *office) offerAll(ctx context.Context, m *postroom.Message) (decide.Guidance, error) {
	labels, err := o.mail.Labels(ctx, m.AccountID)
	for i := range labels {
		labels[i].AvailableToClassifier = true
	}
	return decide.Guidance{Labels: labels}, err
}

func (o *office) execute(ctx context.Context, tx queue.Tx, a postroom.Action) error {
	_, err := o.queue.EnqueueTx(ctx, tx, gmail.NewActionJob(a.AccountID, a.ID))
	return err
}

func (o *office) connect(endpoint string, transport http.RoundTripper, kinds *postroom.Kinds) error {
	clients, err := gmail.NewClients(gmail.AccountClientsConfig{
		Store: o.mail, Endpoint: endpoint, Timeout: callTimeout, Limits: gmailapi.Limits{Unlimited: true},
		HTTPClient: func(_ context.Context, a mailstore.Account) (*http.Client, error) {
			token := oauth2.StaticTokenSource(&oauth2.Token{AccessToken: "gmailtest:" + a.Email})
			return &http.Client{Transport: &oauth2.Transport{Source: token, Base: transport}}, nil
		},
	})
	if err != nil {
		return err
	}
	sends, err := outbox.New(outbox.Config{
		Store: o.mail, Clients: clients, Ledger: o.ledger, RecipientsDay: 1 << 30, Settle: settle,
	})
	if err != nil {
		return err
	}
	if o.drafts, err = outbox.NewDrafts(outbox.DraftsConfig{Store: o.mail, Clients: clients, Settle: settle}); err != nil {
		return err
	}
	mailbox, err := gmail.NewMailbox(gmail.MailboxConfig{Store: o.mail, Clients: clients})
	if err != nil {
		return err
	}
	o.gmail = gmail.Config{
		Store: o.mail, Clients: clients, Ledger: o.ledger, Kinds: kinds, Outbox: sends, Decide: o.decide,
		Confirm: o.engine.Confirm, OnMessage: o.arrived,
		Topic: topic, SpamAndTrash: true, PageSize: 20, Logger: silent,
	}
	o.undo = undo.Config{Queue: o.queue, Ledger: o.ledger, Mailbox: mailbox, Kinds: kinds}
	o.undoer, err = undo.NewUndoer(o.undo)
	return err
}

func migrateArrivals(ctx context.Context, db queue.DB) error {
	return db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		// No key: an arrival that is noted twice must be seen.
		_,
			err := tx.ExecContext(ctx,
			"CREATE TABLE IF NOT EXISTS arrivals (account_id TEXT NOT NULL, provider_id TEXT NOT NULL)")
		return err
	})
}

// decide decides at once about every other message, and notes that it has arrived; a job decides about the rest.
func (o *office) decide(ctx context.Context, m *postroom.Message) (func(context.Context, queue.Tx) error, error) {
	if rand.IntN(2) == 0 {
		return nil, nil
	}
	record, err := o.classifier.Decide(ctx, m)
	if record == nil || err != nil {
		return nil, err
	}
	return func(ctx context.Context, tx queue.Tx) error {
		if err := noteArrival(ctx, tx, m); err != nil {
			return err
		}
		return record(ctx, tx)
	}, nil
}

// arrived notes that a message is passed on, and passes it on.
func (o *office) arrived(ctx context.Context, tx queue.Tx, m *postroom.Message) error {
	if err := noteArrival(ctx, tx, m); err != nil {
		return err
	}
	_, err := o.queue.EnqueueTx(ctx, tx, rules.NewClassifyJob(m.AccountID, m.ID))
	return err
}

func noteArrival(ctx context.Context, tx queue.Tx, m *postroom.Message) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO arrivals (account_id, provider_id) VALUES ($1, $2)",
		m.AccountID, m.ProviderID)
	return err
}

// A letter is a draft that a job makes and sends.
type letter struct{ AccountID, To, Subject string }

const sendLetter queue.Type[letter] = "letter"

func (o *office) sendLetter(ctx context.Context, w *queue.Work[letter]) error {
	l := w.Payload
	_, err := o.drafts.Create(ctx, l.AccountID, l.Subject, outbox.DraftContent{To: []mime.Address{{Email: l.To}},
		Subject: l.Subject, Text: "Hello."})
	if err == nil {
		_, err = o.drafts.Send(ctx, l.AccountID, l.Subject)
	}
	return gmailapi.Verdict(err)
}

// dispatcher runs all jobs that there are.
func (o *office) dispatcher(cfg queue.DispatcherConfig) (*queue.Dispatcher, error) {
	cfg.PollInterval = 20 * time.Millisecond
	cfg.Workers = cmp.Or(cfg.Workers, 8)
	d, err := queue.NewDispatcher(o.queue, &cfg)
	if err != nil {
		return nil, err
	}
	queue.Handle(d, sendLetter, o.sendLetter)
	return d, errors.Join(
		gmail.Register(d, o.gmail),
		rules.Register(d, o.classify),
		undo.Register(d, o.undo),
	)
}

// finish works until nothing is left to do. Nobody else may be at work.
func (o *office) finish(ctx context.Context) error {
	d, err := o.dispatcher(queue.DispatcherConfig{Exclusive: true})
	if err != nil {
		return err
	}
	return d.RunUntilIdle(ctx)
}
