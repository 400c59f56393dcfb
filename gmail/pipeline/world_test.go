package pipeline

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
)

// A world is a Gmail with mailboxes, and a database for pipelines.
type world struct {
	*testing.T
	server *gmailtest.Server
	db     queue.DB
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return newWorldOn(t, dbtest.SQLite(t))
}

func newWorldOn(t *testing.T, db queue.DB) *world {
	t.Helper()
	w := &world{T: t, server: gmailtest.NewServer(t), db: db}
	require.NoError(t, Migrate(t.Context(), db))
	return w
}

// pipeline makes a pipeline for the Gmail.
func (w *world) pipeline(cfg Config) *Pipeline {
	w.Helper()
	cfg.DB, cfg.SortOldMail = w.db, true
	cfg.Clients = w.clients()
	p, err := New(cfg)
	require.NoError(w, err)
	return p
}

func (w *world) clients() gmail.AccountClientsConfig {
	return gmail.AccountClientsConfig{Endpoint: w.server.URL(), Limits: gmailapi.Limits{Unlimited: true},
		HTTPClient: func(ctx context.Context, a mailstore.Account) (*http.Client, error) {
			return w.server.HTTPClient(ctx, a.Email)
		}}
}

func (w *world) add(p *Pipeline, email string) (accountID string) {
	w.Helper()
	_, err := w.server.Account(w.Context(), email)
	require.NoError(w, err)
	id, err := p.AddAccount(w.Context(), email)
	require.NoError(w, err)
	return id
}

func (w *world) deliver(email, message string) {
	w.Helper()
	account, err := w.server.Account(w.Context(), email)
	require.NoError(w, err)
	_, err = account.Deliver(w.Context(), []byte(message))
	require.NoError(w, err)
}

// backfill enqueues what takes in the mail of an account.
func (w *world) backfill(p *Pipeline, accountID string) {
	w.Helper()
	_, err := p.Queue.Enqueue(w.Context(), gmail.NewBackfillJob(accountID, "", ""))
	require.NoError(w, err)
}

func (w *world) decisions(p *Pipeline, accountID string) []safety.DecisionRecord {
	w.Helper()
	list, err := p.Ledger.Decisions(w.Context(), safety.Filter{AccountID: accountID, Limit: 100})
	require.NoError(w, err)
	return list
}

func (w *world) actions(p *Pipeline, accountID string) []safety.Entry {
	w.Helper()
	list, err := p.Ledger.Actions(w.Context(), safety.Filter{AccountID: accountID, Limit: 100})
	require.NoError(w, err)
	return list
}

// action returns the type of the only action of an account; empty if there is none, or it is not carried out.
func (w *world) action(p *Pipeline, accountID string) string {
	w.Helper()
	list := w.actions(p, accountID)
	if len(list) != 1 || list[0].Action.State != postroom.ActionCompleted {
		return ""
	}
	return string(list[0].Action.Type)
}

func (w *world) schedules(p *Pipeline) (names []string) {
	w.Helper()
	list, err := p.Queue.Schedules(w.Context())
	require.NoError(w, err)
	for i := range list {
		names = append(names, list[i].Name)
	}
	return names
}

// run runs the pipeline until stopped.
func (w *world) run(p *Pipeline) (stop func()) {
	ctx, cancel := context.WithCancel(w.Context())
	ran := make(chan error, 1)
	go func() { ran <- p.Run(ctx) }()
	return sync.OnceFunc(func() {
		cancel()
		require.NoError(w, <-ran)
	})
}

func (w *world) eventually(done func() bool) {
	w.Helper()
	require.Eventually(w, done, 5*time.Minute, 5*time.Millisecond)
}
