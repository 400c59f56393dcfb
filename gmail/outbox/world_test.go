package outbox_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
	api "google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/internal/worldtest"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// A world is a Gmail, a database with one account, and what the outbox and its jobs need.
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
	cfg     gmail.Config // of Register
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
	w.cfg = gmail.Config{Store: w.store, Ledger: w.ledger, Outbox: outbox, Clients: clients}
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
	require.NoError(w.t, gmail.Register(d, w.cfg))
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

// arrive puts a message into the mailbox and returns Gmail's id.
func (w *world) arrive(raw string, labels ...string) string {
	w.t.Helper()
	m, err := w.google.Users.Messages.Insert("me", &api.Message{
		Raw: base64.URLEncoding.EncodeToString([]byte(raw)), LabelIds: labels,
	}).Do()
	require.NoError(w.t, err)
	return m.Id
}

func (w *world) ours(providerID string) string {
	w.t.Helper()
	id, err := w.store.MessageID(w.t.Context(), w.account, providerID)
	require.NoError(w.t, err)
	return id
}

// latest is where Gmail's history stands.
func (w *world) latest() uint64 {
	w.t.Helper()
	profile, err := w.google.Users.GetProfile("me").Do()
	require.NoError(w.t, err)
	return profile.HistoryId
}

func (w *world) exec(statement string, args ...any) {
	w.t.Helper()
	write(w.t, w.store, func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, statement, args...)
		return err
	})
}

// runUntil runs jobs until something has happened to one of them.
func (w *world) runUntil(jobID string, kind queue.EventKind) queue.Event {
	w.t.Helper()
	events, err := w.queue.Subscribe(queue.EventFilter{JobIDs: []string{jobID}, Kinds: []queue.EventKind{kind}})
	require.NoError(w.t, err)
	defer events.Close()
	d, err := queue.NewDispatcher(w.queue, &queue.DispatcherConfig{PollInterval: 20 * time.Millisecond})
	require.NoError(w.t, err)
	require.NoError(w.t, gmail.Register(d, w.cfg))
	ctx, cancel := context.WithCancel(w.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	patience, end := context.WithTimeout(ctx, 10*time.Minute)
	defer end()
	event, err := events.Next(patience)
	cancel()
	require.NoError(w.t, err)
	require.NoError(w.t, <-ended)
	return event
}

func write(t *testing.T, s *mailstore.Store, fn func(ctx context.Context, tx queue.Tx) error) {
	t.Helper()
	require.NoError(t, s.DB().Write(t.Context(), fn))
}

func ensureAccount(t *testing.T, s *mailstore.Store, email string) (id string) {
	t.Helper()
	write(t, s, func(ctx context.Context, tx queue.Tx) (err error) {
		id, err = s.EnsureAccount(ctx, tx, email, time.Time{})
		return err
	})
	return id
}

// queued adds an action and returns its id.
func (w *world) queued(a postroom.Action) string {
	w.t.Helper()
	a.ID, a.State = uuid.NewString(), postroom.ActionQueued
	if a.AccountID == "" {
		a.AccountID = w.account
	}
	write(w.t, w.store, func(ctx context.Context, tx queue.Tx) error { return w.ledger.Put(ctx, tx, a) })
	return a.ID
}

func (w *world) action(id string) postroom.Action {
	w.t.Helper()
	a, err := worldtest.ReadAction(w.t.Context(), w.db.Reader(), id)
	require.NoError(w.t, err)
	return a
}

// put changes an action behind everybody's back.
func (w *world) put(id string, change func(*postroom.Action)) postroom.Action {
	w.t.Helper()
	a := w.action(id)
	change(&a)
	write(w.t, w.store, func(ctx context.Context, tx queue.Tx) error { return w.ledger.Put(ctx, tx, a) })
	return a
}

// rawAt returns the bytes of a message at Gmail.
func (w *world) rawAt(id string) []byte {
	w.t.Helper()
	m, err := w.client.GetRaw(w.t.Context(), id)
	require.NoError(w.t, err)
	raw, err := m.Bytes()
	require.NoError(w.t, err)
	return raw
}

// letter is a message that has been delivered and ingested; the id is ours.
func (w *world) letter(raw string) (id string, m gmailtest.Message) {
	w.t.Helper()
	m, err := w.server.Deliver(w.t.Context(), []byte(raw))
	require.NoError(w.t, err)
	w.run(gmail.NewIngestJob(w.account, m.ID))
	return w.ours(m.ID), m
}

// carryOut runs an action that sends, and returns it and the job that sent.
func (w *world) carryOut(a postroom.Action) (postroom.Action, *queue.Job) {
	w.t.Helper()
	id := w.queued(a)
	w.run(gmail.NewActionJob(w.account, id))
	jobs, err := w.queue.Jobs(w.t.Context(), queue.Filter{Types: []string{string(outbox.JobSend)}})
	require.NoError(w.t, err)
	for i := range jobs {
		if jobs[i].Key.Name == string(outbox.JobSend)+":"+w.account+":"+id {
			return w.action(id), w.job(jobs[i].ID)
		}
	}
	return w.action(id), nil
}

// hashOf is the hash of what is sent, as the documentation of a preview says.
func hashOf(threadID string, raw []byte) string {
	if threadID != "" {
		raw = append([]byte(threadID+"\n"), raw...)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}
