package auth_test

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/auth"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/gmailtest"
)

// A world is an authorization server, a program that asks for access, and a person with a browser.
type world struct {
	*testing.T
	server *gmailtest.Server
	app    auth.App
	tokens auth.Tokens
	base   *http.Transport
	shared bool // of new sources
	// The person's answers.
	account string
	allowed []string // nil: all
	deny    bool

	status int    // of the page that the browser shows at the end
	page   string // its text
}

func newWorld(t *testing.T, cfg gmailtest.Config) *world {
	t.Helper()
	cfg.OAuth.Required = true
	server, err := gmailtest.Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	w := &world{T: t, server: server, tokens: new(auth.Memory), account: server.Email(), base: &http.Transport{}}
	t.Cleanup(w.base.CloseIdleConnections)
	w.app = auth.App{
		ClientID: "desktop", ClientSecret: "secret", HTTPClient: &http.Client{Transport: w.base},
		Endpoint: auth.Endpoint{AuthURL: server.OAuthEndpoint().AuthURL, TokenURL: server.OAuthEndpoint().TokenURL,
			RevokeURL: server.URL() + "revoke"},
	}
	return w
}

func (w *world) config() auth.LoginConfig {
	return auth.LoginConfig{App: w.app, Tokens: w.tokens, Open: w.open, Timeout: time.Minute}
}

// open is what the person does in the browser.
func (w *world) open(ctx context.Context, address string) error {
	w.visit(ctx, w.consent(ctx, address))
	return nil
}

// consent answers the consent page, and returns the address to which it sends the browser.
func (w *world) consent(ctx context.Context, address string) string {
	form := url.Values{"answer": {"allow"}, "account": {w.account}, "allowed": w.allowed}
	if w.allowed == nil {
		form["allowed"] = []string{auth.ScopeModify, auth.ScopeFull, auth.ScopeSettings}
	}
	if w.deny {
		form.Set("answer", "deny")
	}
	response := w.send(ctx, http.MethodPost, address, form)
	defer response.Body.Close()
	require.Equal(w, http.StatusFound, response.StatusCode)
	return response.Header.Get("Location")
}

// visit opens an address of the program.
func (w *world) visit(ctx context.Context, address string) {
	response := w.send(ctx, http.MethodGet, address, nil)
	defer response.Body.Close()
	page, err := io.ReadAll(response.Body)
	require.NoError(w, err)
	w.status, w.page = response.StatusCode, string(page)
}

func (w *world) send(ctx context.Context, method, address string, form url.Values) *http.Response {
	request, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(form.Encode()))
	require.NoError(w, err)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := w.base.RoundTrip(request) // follows nothing
	require.NoError(w, err)
	return response
}

// login signs in.
func (w *world) login() auth.Grant {
	w.Helper()
	result, err := auth.Login(w.Context(), w.config())
	require.NoError(w, err)
	return result.Grant
}

// source signs in and returns a source.
func (w *world) source() *auth.Source {
	w.Helper()
	w.login()
	return w.newSource()
}

func (w *world) newSource() *auth.Source {
	w.Helper()
	source, err := auth.NewSource(auth.SourceConfig{App: w.app, Tokens: w.tokens, Email: w.server.Email(),
		Shared: w.shared, Transport: w.base})
	require.NoError(w, err)
	return source
}

// client is a Gmail client of a source.
func (w *world) client(source *auth.Source) *gmailapi.Client {
	w.Helper()
	client, err := gmailapi.NewClient(gmailapi.ClientConfig{
		HTTPClient: source.HTTPClient(), Endpoint: w.server.URL(), Limits: gmailapi.Limits{Unlimited: true},
	})
	require.NoError(w, err)
	return client
}

// refreshes counts the requests to the token endpoint, without the one of the sign-in.
func (w *world) refreshes() int { return w.server.Counts()[gmailtest.OAuthToken] - 1 }

func (w *world) owner() *gmailtest.Account {
	w.Helper()
	owner, err := w.server.Account(w.Context(), w.server.Email())
	require.NoError(w, err)
	return owner
}
