package drafting_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
	api "google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/drafting"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/gmail/replies"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
)

const (
	needsResponse  = "Postroom/Needs Response"
	outboxLabel    = "Postroom/Outbox"
	rework         = "Postroom/Rework"
	done           = "Postroom/Done"
	actionRequired = "Postroom/Action Required"
	waiting        = "Postroom/Waiting"
)

// A tester is what tests and rapid's have in common.
type tester interface {
	require.TestingT
	Helper()
	Context() context.Context
}

// A world is a Gmail with a person, a database with the account of the mailbox, and a service.
type world struct {
	t       tester
	server  *gmailtest.Server
	person  gmailtest.Person
	google  *api.Service // what the person does by hand
	client  *gmailapi.Client
	db      queue.DB
	store   *mailstore.Store
	queue   *queue.Queue
	replies *replies.Store
	drafts  *outbox.Drafts
	ledger  *safety.Ledger
	service *drafting.Service
	cfg     drafting.Config
	account string

	elsewhere func(ours bool) // runs the jobs in another process; nil: in this one

	mu    sync.Mutex
	asked []drafting.Request
	write func(r drafting.Request) (string, error) // of the Writer; nil for a usual text
	heard []func(context.Context, queue.Tx) error  // what happened in the mailbox
}

func eachWorld(t *testing.T, fn func(t *testing.T, w *world)) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) { fn(t, newWorld(t, db)) })
}

func newWorld(t *testing.T, db queue.DB) *world {
	t.Helper()
	w := &world{t: t, server: gmailtest.NewServer(t)}
	w.person = w.server.Person()
	transport := http.DefaultTransport.(*http.Transport).Clone()
	t.Cleanup(transport.CloseIdleConnections)
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	var err error
	w.google, err = w.server.Service(t.Context())
	require.NoError(t, err)
	for _, migrate := range []func(context.Context, queue.DB) error{queue.Migrate, mailstore.Migrate,
		safety.Migrate, replies.Migrate, drafting.Migrate, drafting.Migrate} {
		require.NoError(t, migrate(t.Context(), db))
	}
	w.open(db, gmailapi.ClientConfig{Endpoint: w.server.URL(), HTTPClient: &http.Client{Transport: transport}})
	require.NoError(t, w.queue.Pause(t.Context(), queue.ForType(drafting.JobFollowUp))) // see timePasses
	w.signIn()
	return w
}

// open makes what a process has of the database and of the mailbox.
func (w *world) open(db queue.DB, cfg gmailapi.ClientConfig) {
	w.db = db
	token := oauth2.StaticTokenSource(&oauth2.Token{AccessToken: "test"})
	cfg.HTTPClient = &http.Client{Transport: &oauth2.Transport{Source: token, Base: cfg.HTTPClient.Transport}}
	cfg.Limits = gmailapi.Limits{Unlimited: true}
	var err error
	w.client, err = gmailapi.NewClient(cfg)
	require.NoError(w.t, err)
	w.store, err = mailstore.New(mailstore.Config{DB: db})
	require.NoError(w.t, err)
	w.queue, err = queue.New(db, &queue.Config{
		Retry: queue.RetryPolicy{Base: time.Millisecond, Factor: 1, Cap: time.Millisecond}})
	require.NoError(w.t, err)
	w.ledger, err = safety.NewLedger(safety.Config{DB: db,
		Execute: func(ctx context.Context, tx queue.Tx, a postroom.Action) error {
			_, err := w.queue.EnqueueTx(ctx, tx, gmail.NewActionJob(a.AccountID, a.ID))
			return err
		}})
	require.NoError(w.t, err)
	w.replies, err = replies.New(replies.Config{DB: db, Queue: w.queue})
	require.NoError(w.t, err)
	clients := gmailapi.ClientsFunc(func(context.Context, string) (*gmailapi.Client, error) { return w.client, nil })
	w.drafts, err = outbox.NewDrafts(outbox.DraftsConfig{Store: w.store, Clients: clients, Settle: time.Millisecond})
	require.NoError(w.t, err)
	w.cfg = drafting.Config{Store: w.store, Queue: w.queue, Replies: w.replies, Drafts: w.drafts, Clients: clients,
		Writer: drafting.WriterFunc(w.answer), FollowUp: 7 * 24 * time.Hour, Record: w.ledger.Record}
	w.service, err = drafting.New(w.cfg)
	require.NoError(w.t, err)
}

// signIn adds the account, and reads what is there.
func (w *world) signIn() {
	w.t.Helper()
	w.tx(func(ctx context.Context, tx queue.Tx) (err error) {
		w.account, err = w.store.EnsureAccount(ctx, tx, w.server.Email(), time.Now().Add(-time.Minute))
		return err
	})
	w.run(gmail.NewLabelsSyncJob(w.account, drafting.DefaultLabels().Names()...), gmail.NewHistorySyncJob(w.account, 0))
}

func (w *world) tx(fn func(ctx context.Context, tx queue.Tx) error) {
	w.t.Helper()
	require.NoError(w.t, w.db.Write(w.t.Context(), fn))
}

// answer is the Writer.
func (w *world) answer(_ context.Context, r drafting.Request) (string, error) {
	w.mu.Lock()
	w.asked = append(w.asked, r)
	n, write := len(w.asked), w.write
	w.mu.Unlock()
	if write != nil {
		return write(r)
	}
	return fmt.Sprintf("Hello %s,\n\nthis is text %d.", r.Message.From.Name, n), nil
}

func (w *world) requests() []drafting.Request {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.asked)
}

// run enqueues jobs, and runs all jobs until nothing is left to do.
func (w *world) run(jobs ...queue.NewJob) {
	w.t.Helper()
	w.runJobs(true, jobs...)
}

func (w *world) runJobs(ours bool, jobs ...queue.NewJob) {
	w.t.Helper()
	for _, job := range jobs {
		_, err := w.queue.Enqueue(w.t.Context(), job)
		require.NoError(w.t, err)
	}
	if w.elsewhere != nil {
		w.elsewhere(ours)
		return
	}
	w.work(ours, queue.DispatcherConfig{PollInterval: 20 * time.Millisecond})
}

// work runs all jobs until nothing is left to do, ours or those of package gmail alone.
func (w *world) work(ours bool, cfg queue.DispatcherConfig) {
	w.t.Helper()
	d := w.dispatcher(ours, cfg)
	ctx, cancel := context.WithTimeout(w.t.Context(), 10*time.Minute)
	defer cancel()
	require.NoError(w.t, d.RunUntilIdle(ctx))
	require.NoError(w.t, ctx.Err(), "still not idle")
}

// dispatcher makes one with the jobs of the mailbox, and ours if they are to be done.
func (w *world) dispatcher(ours bool, cfg queue.DispatcherConfig) *queue.Dispatcher {
	w.t.Helper()
	cfg.Workers, cfg.Logger = 4, slog.New(slog.DiscardHandler)
	d, err := queue.NewDispatcher(w.queue, &cfg)
	require.NoError(w.t, err)
	require.NoError(w.t, gmail.Register(d, gmail.Config{Store: w.store, Clients: w.cfg.Clients, Ledger: w.ledger,
		Logger: cfg.Logger, LabelColor: w.cfg.Labels.Color, OnActed: w.service.Acted,
		OnLabelsChanged: func(ctx context.Context, tx queue.Tx, e gmail.LabelsEvent) error {
			return w.hear(ctx, tx, func(ctx context.Context, tx queue.Tx) error { return w.service.LabelsChanged(ctx, tx, e) })
		},
		OnDeleted: func(ctx context.Context, tx queue.Tx, e gmail.DeletedEvent) error {
			return w.hear(ctx, tx, func(ctx context.Context, tx queue.Tx) error { return w.service.Deleted(ctx, tx, e) })
		},
		OnMessage: w.service.Arrived}))
	if ours {
		require.NoError(w.t, w.service.Register(d))
	}
	return d
}

func (w *world) hear(ctx context.Context, tx queue.Tx, event func(context.Context, queue.Tx) error) error {
	w.mu.Lock()
	w.heard = append(w.heard, event)
	w.mu.Unlock()
	return event(ctx, tx)
}

// sync is what follows a push.
func (w *world) sync() {
	w.t.Helper()
	w.run(gmail.NewHistorySyncJob(w.account, 0))
}

// learn reads the history, and leaves the jobs of this package for later.
func (w *world) learn() {
	w.t.Helper()
	w.runJobs(false, gmail.NewHistorySyncJob(w.account, 0))
}

const question = "From: Zoë <ann@example.com>\r\nTo: You <you@example.com>\r\nSubject: Tea?\r\nMessage-ID: <q%d@example.com>\r\n" +
	"References: <first@example.com>\r\nDate: Sat, 07 Mar 2026 12:00:00 +0000\r\n\r\nAt five?\r\n"

// letter delivers a message of Zoë's.
func (w *world) letter(n int) gmailtest.Message {
	w.t.Helper()
	m, err := w.server.Deliver(w.t.Context(), []byte(fmt.Sprintf(question, n)))
	require.NoError(w.t, err)
	w.sync()
	return m
}

func (w *world) label(name string, ids ...string) {
	w.t.Helper()
	require.NoError(w.t, w.person.Label(w.t.Context(), name, ids...))
}

func (w *world) unlabel(name string, ids ...string) {
	w.t.Helper()
	require.NoError(w.t, w.person.Unlabel(w.t.Context(), name, ids...))
}

// labels returns the names of the labels of a message at Gmail that are of this package, or the inbox.
func (w *world) labels(id string) (names []string) {
	w.t.Helper()
	m, err := w.google.Users.Messages.Get("me", id).Format("minimal").Do()
	require.NoError(w.t, err)
	all, err := w.google.Users.Labels.List("me").Do()
	require.NoError(w.t, err)
	for _, l := range all.Labels {
		if slices.Contains(m.LabelIds, l.Id) && (strings.HasPrefix(l.Name, "Postroom/") || l.Name == "INBOX") {
			names = append(names, l.Name)
		}
	}
	slices.Sort(names)
	return names
}

// A draftAt is a draft at Gmail.
type draftAt struct {
	id string
	*mime.Message
}

func (w *world) draftsAt(query string) (list []draftAt) {
	w.t.Helper()
	page, err := w.google.Users.Drafts.List("me").Q(query).Do()
	require.NoError(w.t, err)
	for _, d := range page.Drafts {
		full, err := w.google.Users.Drafts.Get("me", d.Id).Format("raw").Do()
		require.NoError(w.t, err)
		raw, err := (&gmailapi.RawMessage{Encoded: full.Message.Raw}).Bytes()
		require.NoError(w.t, err)
		m, err := mime.ParseBytes(raw, nil)
		require.NoError(w.t, err)
		list = append(list, draftAt{d.Id, m})
	}
	return list
}

func (w *world) oneDraft() draftAt {
	w.t.Helper()
	list := w.draftsAt("")
	require.Len(w.t, list, 1)
	return list[0]
}

// edit replaces the text of a draft, as a person does in Gmail.
func (w *world) edit(d draftAt, change func(text string) string) {
	w.t.Helper()
	out := mime.Outgoing{Draft: true, From: d.From, To: d.To, Cc: d.Cc, Subject: d.Subject, InReplyTo: d.InReplyTo,
		References: d.References, MessageID: fmt.Sprintf("edited%d@mail.example.com", time.Now().UnixNano()),
		Text: change(d.Text)}
	raw, err := out.Build()
	require.NoError(w.t, err)
	_, err = w.client.UpdateDraft(w.t.Context(), d.id, raw, "")
	require.NoError(w.t, err)
}

func (w *world) send(d draftAt) {
	w.t.Helper()
	_, err := w.google.Users.Drafts.Send("me", &api.Draft{Id: d.id}).Do()
	require.NoError(w.t, err)
}

func (w *world) reply(threadID string) replies.Reply {
	w.t.Helper()
	r, err := w.replies.Reply(w.t.Context(), w.account, threadID)
	require.NoError(w.t, err)
	return r
}

func (w *world) states(threadID string) (list []replies.State) {
	w.t.Helper()
	history, err := w.replies.History(w.t.Context(), w.account, threadID)
	require.NoError(w.t, err)
	for _, c := range history {
		if c.From != c.To {
			list = append(list, c.To)
		}
	}
	return list
}

func dbSQLite(t *testing.T) queue.DB { return dbtest.SQLite(t) }

func (w *world) exec(statement string) {
	w.t.Helper()
	w.tx(func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, statement)
		return err
	})
}

// letterAt puts a message of Zoë's into the inbox that was received some hours from now, and leaves the sync to the
// caller.
func (w *world) letterAt(n, hours int) string {
	w.t.Helper()
	at := time.Now().Add(time.Duration(hours) * time.Hour)
	raw := strings.Replace(fmt.Sprintf(question, n), "Sat, 07 Mar 2026 12:00:00 +0000", at.UTC().Format(time.RFC1123Z), 1)
	m, err := w.google.Users.Messages.Insert("me", &api.Message{LabelIds: []string{"INBOX"},
		Raw: encoded(raw)}).InternalDateSource("dateHeader").Do()
	require.NoError(w.t, err)
	return m.Id
}

func encoded(raw string) string { return base64.URLEncoding.EncodeToString([]byte(raw)) }

// newest returns Gmail's id of the newest message of a thread.
func (w *world) newest(thread string) string {
	w.t.Helper()
	all, err := w.google.Users.Threads.Get("me", thread).Do()
	require.NoError(w.t, err)
	return all.Messages[len(all.Messages)-1].Id
}
