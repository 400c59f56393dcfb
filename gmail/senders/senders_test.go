package senders

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	api "google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// A world is a mailbox whose older mail is not stored yet.
type world struct {
	*testing.T
	server  *gmailtest.Server
	store   *mailstore.Store
	queue   *queue.Queue
	clients *gmail.AccountClients
	senders *Senders
	account string
}

func newWorld(t *testing.T, db queue.DB, limits gmailapi.Limits) *world {
	t.Helper()
	w := &world{T: t, server: gmailtest.NewServer(t)}
	require.NoError(t, queue.Migrate(t.Context(), db))
	require.NoError(t, mailstore.Migrate(t.Context(), db))
	var err error
	w.store, err = mailstore.New(mailstore.Config{DB: db})
	require.NoError(t, err)
	w.queue, err = queue.New(db, nil)
	require.NoError(t, err)
	w.clients, err = gmail.NewClients(gmail.AccountClientsConfig{Store: w.store, Endpoint: w.server.URL(), Limits: limits,
		HTTPClient: func(ctx context.Context, a mailstore.Account) (*http.Client, error) {
			return w.server.HTTPClient(ctx, a.Email)
		}})
	require.NoError(t, err)
	w.senders, err = New(Config{Store: w.store, Queue: w.queue, Clients: w.clients})
	require.NoError(t, err)
	require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) (err error) {
		w.account, err = w.store.EnsureAccount(ctx, tx, w.server.Email(), time.Now())
		return err
	}))
	return w
}

// has puts a message of the past into the mailbox.
func (w *world) has(from string, at time.Time) {
	w.Helper()
	service, err := w.server.Service(w.Context())
	require.NoError(w, err)
	raw := fmt.Sprintf("From: %s\r\nDate: %s\r\nSubject: then\r\n\r\nGood day.\r\n", from, at.Format(time.RFC1123Z))
	_, err = service.Users.Messages.Insert("me", &api.Message{Raw: base64.URLEncoding.EncodeToString([]byte(raw))}).
		InternalDateSource("dateHeader").Do()
	require.NoError(w, err)
}

func (w *world) seen(from string) bool {
	w.Helper()
	seen, err := w.senders.SenderSeen(w.Context(), w.message(from))
	require.NoError(w, err)
	return seen
}

func (w *world) message(from string) *postroom.Message {
	return &postroom.Message{AccountID: w.account, ID: "m", From: postroom.Address{Email: from}, ReceivedAt: time.Now()}
}

// backfill stores all mail.
func (w *world) backfill(query string) {
	w.Helper()
	_, err := w.queue.Enqueue(w.Context(), gmail.NewBackfillJob(w.account, query, ""))
	require.NoError(w, err)
	d, err := queue.NewDispatcher(w.queue, nil)
	require.NoError(w, err)
	require.NoError(w, gmail.Register(d, gmail.Config{Store: w.store, Clients: w.clients}))
	require.NoError(w, d.RunUntilIdle(w.Context()))
}

var longAgo = time.Now().AddDate(-1, 0, 0)

func TestSendersBeforeTheOlderMailIsStored(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		w := newWorld(t, db, gmailapi.Limits{Unlimited: true})
		w.has("Ann <Ann@example.org>", longAgo)
		w.has(`"bob@example.org" <eve@example.net>`, longAgo)
		w.has("late@example.org", time.Now().Add(time.Hour))
		require.True(t, w.seen("ann@EXAMPLE.org"), "an old friend")
		require.False(t, w.seen("stranger@example.org"))
		require.False(t, w.seen("bob@example.org"), "another's display name")
		require.False(t, w.seen("late@example.org"), "has written later only")
		require.False(t, w.seen(""))

		calls := w.calls()
		require.True(t, w.seen("ann@example.org"))
		require.Equal(t, calls, w.calls(), "Gmail was asked before")

		w.backfill("")
		calls = w.calls()
		require.True(t, w.seen("ann@example.org"))
		require.False(t, w.seen("stranger@example.org"))
		require.Equal(t, calls, w.calls(), "all mail is stored")
	})
}

func (w *world) calls() int {
	counts := w.server.Counts()
	return counts[gmailtest.MessagesList] + counts[gmailtest.MessagesGet]
}

func TestSendersOfMailThatABackfillLeavesOut(t *testing.T) {
	w := newWorld(t, dbtest.SQLite(t), gmailapi.Limits{Unlimited: true})
	w.has("ann@example.org", longAgo)
	w.backfill("newer_than:30d")
	require.True(t, w.seen("ann@example.org"))
}

// While messages wait to be fetched, the mail is not whole.
func TestSendersWhileMailIsBeingFetched(t *testing.T) {
	w := newWorld(t, dbtest.SQLite(t), gmailapi.Limits{Unlimited: true})
	w.backfill("")
	w.has("ann@example.org", longAgo)
	_, err := w.queue.Enqueue(t.Context(), gmail.NewIngestJob(w.account, "waits"))
	require.NoError(t, err)
	require.True(t, w.seen("ann@example.org"))
}

func TestAnAddressIsNoSearch(t *testing.T) {
	w := newWorld(t, dbtest.SQLite(t), gmailapi.Limits{Unlimited: true})
	w.has("ann@example.org", longAgo)
	require.False(t, w.seen(`x" OR from:"ann@example.org`))
}

// A job that may not ask Gmail now is given back, and decides nothing.
func TestSendersWithoutQuota(t *testing.T) {
	w := newWorld(t, dbtest.SQLite(t), gmailapi.Limits{UnitsPerMinute: 60, Burst: 25,
		Costs: map[gmailapi.Method]int{gmailapi.MethodSend: 1, gmailapi.MethodSendDraft: 1, gmailapi.MethodWatch: 1,
			gmailapi.MethodStop: 1}})
	w.has("ann@example.org", longAgo)
	require.True(t, w.seen("ann@example.org"))
	_, err := w.senders.SenderSeen(t.Context(), w.message("stranger@example.org"))
	require.Equal(t, gmailapi.ClassRateLimited, gmailapi.ClassOf(err))
	require.True(t, strings.Contains(err.Error(), "quota is spent"), err)
}

func TestNewSendersRequires(t *testing.T) {
	_, err := New(Config{})
	require.ErrorContains(t, err, "senders: Config.Store is nil")
	require.ErrorContains(t, err, "senders: Config.Queue is nil")
	require.ErrorContains(t, err, "senders: Config.Clients is nil")
}
