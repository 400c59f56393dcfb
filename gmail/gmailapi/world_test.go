package gmailapi

import (
	"encoding/base64"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
	api "google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailtest"
)

// A world is a Gmail and a client of it.
type world struct {
	t      *testing.T
	server *gmailtest.Server
	google *api.Service // what the user does by hand
	wire   *wire        // what our client's requests go through
	client *Client
}

// wire calls before each request and after each answer, so that a test can do something right then.
type wire struct {
	next   http.RoundTripper
	before func(*http.Request)
	after  func(*http.Request, *http.Response)
	failed func(*http.Request, error)
}

// setBody replaces the body of an answer.
func setBody(answer *http.Response, body string) {
	_ = answer.Body.Close()
	answer.Body, answer.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	answer.Header.Set("Content-Length", strconv.Itoa(len(body)))
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	if w.before != nil {
		w.before(r)
	}
	answer, err := w.next.RoundTrip(r)
	switch {
	case err == nil && w.after != nil:
		w.after(r, answer)
	case err != nil && w.failed != nil:
		w.failed(r, err)
	}
	return answer, err
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, server: gmailtest.NewServer(t), wire: &wire{next: http.DefaultTransport.(*http.Transport).Clone()}}
	t.Cleanup(w.wire.next.(*http.Transport).CloseIdleConnections)
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	var err error
	w.google, err = w.server.Service(t.Context())
	require.NoError(t, err)
	w.client = w.newClient(w.server.URL())
	return w
}

func (w *world) newClient(url string) *Client {
	w.t.Helper()
	c, err := NewClient(ClientConfig{HTTPClient: authorized(w), Endpoint: url, Limits: Limits{Unlimited: true}})
	require.NoError(w.t, err)
	return c
}

func authorized(w *world) *http.Client {
	token := oauth2.StaticTokenSource(&oauth2.Token{AccessToken: "test"})
	return &http.Client{Transport: &oauth2.Transport{Source: token, Base: w.wire}}
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

// latest is where Gmail's history stands.
func (w *world) latest() uint64 {
	w.t.Helper()
	profile, err := w.google.Users.GetProfile("me").Do()
	require.NoError(w.t, err)
	return profile.HistoryId
}

func add(label string) postroom.LabelChange { return postroom.LabelChange{Add: []string{label}} }
