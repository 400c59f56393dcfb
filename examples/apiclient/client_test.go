package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/api"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
)

func TestMain(m *testing.M) {
	// It begins with the program.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("go.opencensus.io/stats/view.(*worker).start"),
		goleak.Cleanup(func(code int) { http.DefaultClient.CloseIdleConnections(); os.Exit(code) }))
}

// A client is read at one sitting, and copied.
func TestTheClientIsShort(t *testing.T) {
	text, err := os.ReadFile("client.go")
	require.NoError(t, err)
	require.LessOrEqual(t, bytes.Count(text, []byte("\n")), 200)
}

// A world is a postroomd where starring asks first, with a client of its API.
type world struct {
	*testing.T
	gmail  *gmailtest.Server
	app    *app.App
	server *httptest.Server
	*Client
}

func newWorld(t *testing.T) *world {
	t.Helper()
	server, err := gmailtest.Open(t.Context(), gmailtest.Config{Email: sample.Owner})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	cfg := config.Default()
	cfg.Gmail = config.Gmail{Address: sample.Owner, Token: "token", Endpoint: server.URL(), OldMail: config.SortOldMail}
	cfg.API = config.API{Token: "a token that nobody can guess, it seems", Approver: "api"}
	cfg.Policy.ApprovalAlways = append(cfg.Policy.ApprovalAlways, string(postroom.Star))
	env := &environment.Environment{Folder: environment.Folder(t.TempDir()), Config: cfg}
	require.NoError(t, env.Prepare())
	a, err := app.New(t.Context(), app.Config{Environment: env, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, a.Close()) })
	calls, err := api.New(a)
	require.NoError(t, err)
	w := &world{T: t, gmail: server, app: a, server: httptest.NewServer(calls)}
	t.Cleanup(w.server.Close)
	t.Cleanup(calls.Close) // before the server waits for its streams
	w.Client = &Client{w.server.URL, string(cfg.API.Token), time.Millisecond}
	w.work()
	return w
}

// work takes in the mail, and carries out what is to be done.
func (w *world) work() {
	w.Helper()
	_, err := w.app.Worked(w.Context())
	require.NoError(w, err)
	faults, err := w.app.RunUntilIdle(w.Context())
	require.NoError(w, err)
	require.Empty(w, faults)
}

func (w *world) deliver(subject string) {
	w.Helper()
	_, err := w.gmail.Deliver(w.Context(), fmt.Appendf(nil, "From: ann@example.com\r\nTo: %s\r\nSubject: %s\r\n"+
		"Message-ID: <%s@example.com>\r\n\r\nAt five?\r\n", sample.Owner, subject, subject))
	require.NoError(w, err)
}

// starTea makes a rule, which asks before it stars.
func (w *world) starTea() (path string) {
	w.Helper()
	rule, _, err := call[struct{ ID string }](w.Context(), w.Client, http.MethodPost, "/rules", nil, map[string]any{
		"name": "Tea", "action": "star", "condition": map[string]string{"type": "subject_contains", "value": "tea"}})
	require.NoError(w, err)
	return "/rules/" + rule.ID
}

func status(err error) int {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p.Status
	}
	return 0
}

func TestMailIsReadByPages(t *testing.T) {
	w := newWorld(t)
	for i := range 52 {
		w.deliver(fmt.Sprintf("letter%02d", i))
	}
	w.work()
	var found []string
	for m, err := range w.Mail(t.Context(), sample.Owner, "from:ann@example.com") {
		require.NoError(t, err)
		require.Equal(t, "ann@example.com", m.From.Email)
		found = append(found, m.Subject)
	}
	slices.Sort(found)
	require.Len(t, slices.Compact(found), 52, "two pages, each message once")
	for _, err := range w.Mail(t.Context(), "nobody@example.org", "") {
		require.Equal(t, http.StatusNotFound, status(err))
		require.ErrorContains(t, err, "there is no mailbox nobody@example.org")
	}
}

func TestARequestIsApprovedAndItsActionTakenBack(t *testing.T) {
	w := newWorld(t)
	w.starTea()
	w.deliver("tea")
	w.work()
	waiting, err := w.Waiting(t.Context())
	require.NoError(t, err)
	require.Len(t, waiting, 1)
	require.Equal(t, "tea", waiting[0].Subject)
	require.NotEmpty(t, waiting[0].Would)
	stale := waiting[0]
	stale.Digest = "other"
	require.Equal(t, http.StatusConflict, status(w.Approve(t.Context(), stale)))
	require.NoError(t, w.Approve(t.Context(), waiting[0]))
	require.Equal(t, http.StatusConflict, status(w.Approve(t.Context(), waiting[0])), "it is answered")
	w.work()
	starred := func() (n int) {
		for _, err := range w.Mail(t.Context(), sample.Owner, "is:starred") {
			require.NoError(t, err)
			n++
		}
		return n
	}
	require.Equal(t, 1, starred())
	require.NoError(t, w.Undo(t.Context(), waiting[0].ID))
	w.work()
	require.Zero(t, starred())
	require.Equal(t, http.StatusNotFound, status(w.Undo(t.Context(), "none")))
}

func TestARuleIsChangedAsItWasRead(t *testing.T) {
	w := newWorld(t)
	path := w.starTea()
	priority := func(n int) func(map[string]any) map[string]any {
		return func(map[string]any) map[string]any { return map[string]any{"priority": n} }
	}
	require.NoError(t, w.Change(t.Context(), path, priority(7)))
	err := w.Change(t.Context(), path, func(is map[string]any) map[string]any {
		require.InEpsilon(t, 7, is["priority"], 0)
		require.NoError(t, w.Change(t.Context(), path, priority(8)))
		return priority(9)(is)
	})
	require.Equal(t, http.StatusPreconditionFailed, status(err), err)
	w.Token = "another"
	require.Equal(t, http.StatusUnauthorized, status(w.Undo(t.Context(), "none")))
}

// A stream that breaks goes on where it was, also in another process.
func TestEventsAreFollowed(t *testing.T) {
	w := newWorld(t)
	w.starTea()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seen, next := make(chan Event, 100), make(chan struct{})
	go func() {
		defer close(next)
		for e, err := range w.Events(ctx, "0") {
			if err != nil {
				return
			}
			seen <- e
		}
	}()
	until := func(kind string) (all []Event) {
		for e := range seen {
			if all = append(all, e); e.Kind == kind {
				return all
			}
		}
		return all
	}
	w.deliver("tea")
	w.work()
	all := until("approval")
	last := all[len(all)-1]
	require.Equal(t, sample.Owner, last.Mailbox)
	require.WithinDuration(t, time.Now(), last.At, time.Minute)
	w.server.CloseClientConnections()
	waiting, err := w.Waiting(t.Context())
	require.NoError(t, err)
	require.NoError(t, w.Approve(t.Context(), waiting[0]))
	all = append(all, until("approval")...)
	numbers := map[string]bool{}
	for _, e := range all {
		require.False(t, numbers[e.Number], "%s comes twice", e.Number)
		numbers[e.Number] = true
	}
	cancel()
	<-next
	for e, err := range w.Events(t.Context(), last.Number) {
		require.NoError(t, err)
		require.Equal(t, all[numberOf(all, last)+1], e)
		break
	}
	for _, err := range w.Events(t.Context(), "999999") {
		require.Equal(t, http.StatusUnprocessableEntity, status(err))
	}
}

func numberOf(all []Event, e Event) int {
	for i := range all {
		if all[i].Number == e.Number {
			return i
		}
	}
	return -1
}
