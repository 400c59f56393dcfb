package gmail

import (
	"context"
	"encoding/base64"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
	api "google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/internal/worldtest"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

// A world is a Gmail, a database with one account, and what the jobs need.
type world struct {
	t       *testing.T
	server  *gmailtest.Server
	google  *api.Service    // what the user does by hand
	wire    *worldtest.Wire // what our client's requests go through
	client  *gmailapi.Client
	db      queue.DB
	store   *mailstore.Store
	queue   *queue.Queue
	ledger  *worldtest.Ledger
	account string
	cfg     Config // of Register

	mu   sync.Mutex
	seen []string // Gmail's ids of the messages that OnMessage got
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return newWorldOn(t, dbtest.SQLite(t))
}

// eachWorld runs fn on every database.
func eachWorld(t *testing.T, fn func(t *testing.T, w *world)) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) { fn(t, newWorldOn(t, db)) })
}

func newWorldOn(t *testing.T, db queue.DB) *world {
	t.Helper()
	w := &world{t: t, server: gmailtest.NewServer(t),
		wire: &worldtest.Wire{Next: http.DefaultTransport.(*http.Transport).Clone()}}
	t.Cleanup(w.wire.Next.(*http.Transport).CloseIdleConnections)
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	var err error
	w.google, err = w.server.Service(t.Context())
	require.NoError(t, err)
	w.client = w.newClient(w.server.URL())

	w.db = db
	require.NoError(t, queue.Migrate(t.Context(), w.db))
	require.NoError(t, mailstore.Migrate(t.Context(), w.db))
	w.ledger = worldtest.NewLedger(t, w.db)
	w.store, err = mailstore.New(mailstore.Config{DB: w.db})
	require.NoError(t, err)
	w.account = ensureAccount(t, w.store, w.server.Email())
	w.queue, err = queue.New(w.db, &queue.Config{
		Retry: queue.RetryPolicy{Base: time.Millisecond, Factor: 1, Cap: time.Millisecond},
	})
	require.NoError(t, err)
	clients := gmailapi.ClientsFunc(func(context.Context, string) (*gmailapi.Client, error) { return w.client, nil })
	outbox, err := outbox.New(outbox.Config{Store: w.store, Clients: clients, Ledger: w.ledger, Settle: time.Millisecond})
	require.NoError(t, err)
	w.cfg = Config{Store: w.store, Ledger: w.ledger, Outbox: outbox, OnMessage: w.onMessage, Clients: clients}
	return w
}

func (w *world) newClient(url string) *gmailapi.Client {
	w.t.Helper()
	c, err := gmailapi.NewClient(gmailapi.ClientConfig{HTTPClient: authorized(w), Endpoint: url,
		Limits: gmailapi.Limits{Unlimited: true}})
	require.NoError(w.t, err)
	return c
}

func authorized(w *world) *http.Client {
	token := oauth2.StaticTokenSource(&oauth2.Token{AccessToken: "test"})
	return &http.Client{Transport: &oauth2.Transport{Source: token, Base: w.wire}}
}

func (w *world) onMessage(_ context.Context, tx queue.Tx, m *postroom.Message) error {
	tx.(*driver.WriteTx).OnCommit(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.seen = append(w.seen, m.ProviderID)
	})
	return nil
}

// run enqueues jobs and runs everything until nothing is left to do.
func (w *world) run(jobs ...queue.NewJob) (last string) {
	w.t.Helper()
	for _, job := range jobs {
		enqueued, err := w.queue.Enqueue(w.t.Context(), job)
		require.NoError(w.t, err)
		last = enqueued.ID
	}
	d, err := queue.NewDispatcher(w.queue, &queue.DispatcherConfig{PollInterval: 20 * time.Millisecond, Workers: 4})
	require.NoError(w.t, err)
	require.NoError(w.t, Register(d, w.cfg))
	ctx, cancel := context.WithTimeout(w.t.Context(), 10*time.Minute)
	defer cancel()
	require.NoError(w.t, d.RunUntilIdle(ctx))
	require.NoError(w.t, ctx.Err(), "still not idle")
	return last
}

func (w *world) job(id string) *queue.Job {
	w.t.Helper()
	job, err := w.queue.Job(w.t.Context(), id)
	require.NoError(w.t, err)
	return job
}

// jobs counts the jobs of a type by state.
func (w *world) jobs(jobType string) map[queue.State]int {
	w.t.Helper()
	counts, err := w.queue.Counts(w.t.Context(), queue.Filter{Types: []string{jobType}})
	require.NoError(w.t, err)
	return counts
}

const plainMail = "From: Zoe <zoe@example.org>\r\nTo: me@example.com\r\nSubject: Hello\r\nMessage-ID: <1@example.org>\r\n" +
	"Date: Sat, 07 Mar 2026 12:00:00 +0000\r\n\r\nGood day.\r\n"

// arrive puts a message into the mailbox and returns Gmail's id.
func (w *world) arrive(raw string, labels ...string) string {
	w.t.Helper()
	m, err := w.google.Users.Messages.Insert("me", &api.Message{
		Raw: base64.URLEncoding.EncodeToString([]byte(raw)), LabelIds: labels,
	}).Do()
	require.NoError(w.t, err)
	return m.Id
}

// known is arrive for a message that has been ingested; the id is ours.
func (w *world) known(labels ...string) (id, providerID string) {
	w.t.Helper()
	providerID = w.arrive(plainMail, labels...)
	w.run(NewIngestJob(w.account, providerID))
	return w.ours(providerID), providerID
}

func (w *world) ours(providerID string) string {
	w.t.Helper()
	id, err := w.store.MessageID(w.t.Context(), w.account, providerID)
	require.NoError(w.t, err)
	return id
}

func add(label string) postroom.LabelChange { return postroom.LabelChange{Add: []string{label}} }

// modify is what the user does in Gmail.
func (w *world) modify(providerID string, change postroom.LabelChange) {
	w.t.Helper()
	_, err := w.google.Users.Messages.Modify("me", providerID, &api.ModifyMessageRequest{
		AddLabelIds: change.Add, RemoveLabelIds: change.Remove,
	}).Do()
	require.NoError(w.t, err)
}

func (w *world) userLabel(name string) string {
	w.t.Helper()
	label, err := w.google.Users.Labels.Create("me", &api.Label{Name: name}).Do()
	require.NoError(w.t, err)
	return label.Id
}

// labels are what a message carries at Gmail and here.
func (w *world) labels(providerID string) (atGmail, here []string) {
	w.t.Helper()
	image, err := w.client.GetImage(w.t.Context(), providerID)
	require.NoError(w.t, err)
	m, err := w.store.Message(w.t.Context(), w.account, w.ours(providerID))
	require.NoError(w.t, err)
	return image.LabelIDs, m.LabelIDs
}

func (w *world) state() mailstore.Account {
	w.t.Helper()
	account, err := w.store.Account(w.t.Context(), w.account)
	require.NoError(w.t, err)
	return account
}

// latest is where Gmail's history stands.
func (w *world) latest() uint64 {
	w.t.Helper()
	profile, err := w.google.Users.GetProfile("me").Do()
	require.NoError(w.t, err)
	return profile.HistoryId
}

// synced makes the cursor Gmail's latest.
func (w *world) synced() {
	w.t.Helper()
	write(w.t, w.store, func(ctx context.Context, tx queue.Tx) error {
		return w.store.Progress().MoveCursor(ctx, tx, w.account, w.latest(), true)
	})
}

// logs collects what is logged.
type logs struct {
	mu    sync.Mutex
	lines []string
}

func (l *logs) logger() *slog.Logger { return slog.New(l) }

func (l *logs) Enabled(context.Context, slog.Level) bool { return true }
func (l *logs) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l *logs) WithGroup(string) slog.Handler            { return l }
func (l *logs) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, r.Message)
	return nil
}
