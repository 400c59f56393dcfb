package auth_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/auth"
	"github.com/postroom-go/postroom/gmail/gmailtest"
)

func TestLogin(t *testing.T) {
	w := newWorld(t, gmailtest.Config{Email: "Ann@example.com"})
	cfg := w.config()
	var query url.Values
	cfg.Open = func(ctx context.Context, address string) error {
		u, err := url.Parse(address)
		require.NoError(t, err)
		query = u.Query()
		return w.open(ctx, address)
	}
	result, err := auth.Login(t.Context(), cfg)
	require.NoError(t, err)
	require.Equal(t, "ann@example.com", result.Grant.Email)
	require.Equal(t, []string{"email", auth.ScopeModify, "openid"}, result.Grant.Scopes)
	require.Equal(t, "desktop", result.Grant.ClientID)
	require.NotEmpty(t, result.Grant.RefreshToken)
	require.WithinDuration(t, time.Now(), result.Grant.GrantedAt, time.Minute)
	require.Empty(t, result.Refused)

	require.Equal(t, "S256", query.Get("code_challenge_method"))
	require.Equal(t, "offline", query.Get("access_type"))
	require.Equal(t, "consent", query.Get("prompt"))
	require.Regexp(t, `^http://127\.0\.0\.1:\d+/$`, query.Get("redirect_uri"))
	require.GreaterOrEqual(t, len(query.Get("state")), 20)
	require.False(t, query.Has("login_hint"))

	require.Equal(t, http.StatusOK, w.status)
	require.Contains(t, w.page, "Signed in to ann@example.com.")
	saved, err := w.tokens.Load(t.Context(), "ANN@example.com")
	require.NoError(t, err)
	require.Equal(t, result.Grant, saved)
}

func TestLoginSaysWhatWasRefused(t *testing.T) {
	w := newWorld(t, gmailtest.Config{})
	w.allowed = []string{auth.ScopeModify}
	cfg := w.config()
	cfg.Scopes = []string{auth.ScopeModify, auth.ScopeLabels, auth.ScopeFull, auth.ScopeSettings}
	result, err := auth.Login(t.Context(), cfg)
	require.NoError(t, err)
	require.Equal(t, []auth.Refusal{
		{Scope: auth.ScopeFull, Consequence: "messages cannot be deleted permanently"},
		{Scope: auth.ScopeSettings, Consequence: "filters and settings cannot be changed"},
	}, result.Refused, "labels come with modify")
	require.Contains(t, w.page, "Signed in, with less access")
	require.Contains(t, w.page, "messages cannot be deleted permanently")
}

func TestLoginThatEndsWithoutAGrant(t *testing.T) {
	tests := []struct {
		name string
		set  func(w *world, cfg *auth.LoginConfig)
		want error
		page string
	}{
		{"refused", func(w *world, _ *auth.LoginConfig) { w.deny = true }, auth.ErrDenied, "No access was granted"},
		{"all unticked", func(w *world, _ *auth.LoginConfig) { w.allowed = []string{} }, auth.ErrNothingGranted, "none of the permissions was granted"},
		{"another account", func(_ *world, cfg *auth.LoginConfig) { cfg.Email = "bob@example.com" }, auth.ErrOtherAccount, "another account was chosen"},
		{"not answered", func(_ *world, cfg *auth.LoginConfig) {
			cfg.Timeout = time.Millisecond
			cfg.Open = func(context.Context, string) error { return nil }
		}, auth.ErrNotAnswered, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, gmailtest.Config{})
			cfg := w.config()
			tt.set(w, &cfg)
			_, err := auth.Login(t.Context(), cfg)
			require.ErrorIs(t, err, tt.want)
			require.Contains(t, w.page, tt.page)
			emails, err := w.tokens.List(t.Context())
			require.NoError(t, err)
			require.Empty(t, emails)
		})
	}
}

// A grant that is not kept is of no use to anybody but a thief. One that is kept dies of no sign-in.
func TestGrantThatIsNotKeptIsRevoked(t *testing.T) {
	w := newWorld(t, gmailtest.Config{})
	other := w.config()
	other.Email = "bob@example.com"
	_, err := auth.Login(t.Context(), other)
	require.ErrorIs(t, err, auth.ErrOtherAccount)
	require.Equal(t, 1, w.server.Counts()[gmailtest.OAuthRevoke])

	w.allowed = []string{}
	_, err = auth.Login(t.Context(), w.config())
	require.ErrorIs(t, err, auth.ErrNothingGranted)
	require.Equal(t, 2, w.server.Counts()[gmailtest.OAuthRevoke])

	w.server.Fault(gmailtest.Fault{Method: gmailtest.OAuthRevoke, Status: 503})
	_, err = auth.Login(t.Context(), w.config())
	require.ErrorIs(t, err, auth.ErrNothingGranted)
	require.ErrorContains(t, err, "could not be revoked: remove it in the settings of that account")
	require.Equal(t, 3, w.server.Counts()[gmailtest.OAuthRevoke])

	w.allowed = nil
	source := w.source()
	_, err = auth.Login(t.Context(), other)
	require.ErrorIs(t, err, auth.ErrOtherAccount)
	require.Equal(t, 3, w.server.Counts()[gmailtest.OAuthRevoke])
	_, err = w.client(source).Profile(t.Context())
	require.NoError(t, err, "the grant that is kept goes on")
}

// Whoever finds the port cannot end the sign-in, nor put another's code into it.
func TestLoginWithAnotherState(t *testing.T) {
	w := newWorld(t, gmailtest.Config{})
	cfg := w.config()
	cfg.Open = func(ctx context.Context, address string) error {
		back := w.consent(ctx, address)
		u, err := url.Parse(back)
		require.NoError(t, err)
		query := u.Query()
		for _, state := range []string{"", "guessed"} {
			query.Set("state", state)
			w.visit(ctx, "http://"+u.Host+"/?"+query.Encode())
			require.Equal(t, http.StatusBadRequest, w.status)
			require.Contains(t, w.page, "Not this sign-in")
		}
		w.visit(ctx, "http://"+u.Host+"/favicon.ico")
		require.Equal(t, http.StatusNotFound, w.status)
		require.Zero(t, w.server.Counts()[gmailtest.OAuthToken])

		w.visit(ctx, back)
		require.Contains(t, w.page, "Signed in")
		w.visit(ctx, back) // reloaded
		require.Contains(t, w.page, "Answered already")
		require.Equal(t, 1, w.server.Counts()[gmailtest.OAuthToken])
		return nil
	}
	_, err := auth.Login(t.Context(), cfg)
	require.NoError(t, err)
}

// The page tells what the person cannot see otherwise, and quotes nothing of the answer as HTML.
func TestLoginThatTheServerFails(t *testing.T) {
	w := newWorld(t, gmailtest.Config{})
	w.server.Fault(gmailtest.Fault{Method: gmailtest.OAuthToken, Status: 400, Reason: "invalid_client",
		Message: "<b>no such client</b>"})
	_, err := auth.Login(t.Context(), w.config())
	require.ErrorContains(t, err, "invalid_client")
	require.Contains(t, w.page, "The sign-in failed")
	require.Contains(t, w.page, "&lt;b&gt;no such client")

	w.server.Fault(gmailtest.Fault{Method: gmailtest.OAuthToken, Cut: gmailtest.CutAfter})
	_, err = auth.Login(t.Context(), w.config())
	require.ErrorContains(t, err, "exchange the code")

	cfg := w.config()
	cfg.Open = func(context.Context, string) error { return errors.New("no screen") }
	_, err = auth.Login(t.Context(), cfg)
	require.ErrorContains(t, err, "show the consent page: no screen")

	cfg = w.config()
	cfg.Tokens = failing{errors.New("disk full")}
	_, err = auth.Login(t.Context(), cfg)
	require.ErrorContains(t, err, "save the grant: disk full")
	require.Contains(t, w.page, "disk full", "the page does not say that all is well")
	w.login()
}

// A sign-in that has succeeded is not failed by the command that opened the browser.
func TestLoginThatEndsBeforeOpenFails(t *testing.T) {
	w := newWorld(t, gmailtest.Config{})
	cfg := w.config()
	cfg.Open = func(ctx context.Context, address string) error {
		w.visit(ctx, w.consent(ctx, address))
		return errors.New("signal: killed")
	}
	result, err := auth.Login(t.Context(), cfg)
	require.NoError(t, err)
	require.Equal(t, w.server.Email(), result.Grant.Email)
}

// failing is a store that fails.
type failing struct{ err error }

func (f failing) Load(context.Context, string) (auth.Grant, error) { return auth.Grant{}, f.err }
func (f failing) Save(context.Context, auth.Grant) error           { return f.err }
func (f failing) Delete(context.Context, string) error             { return f.err }
func (f failing) List(context.Context) ([]string, error)           { return nil, f.err }

func TestLoginConfigIsChecked(t *testing.T) {
	_, err := auth.Login(t.Context(), auth.LoginConfig{
		App: auth.App{Endpoint: auth.Endpoint{AuthURL: "accounts.google.com"}}, Timeout: -1,
	})
	for _, want := range []string{"App.ClientID is empty", "App.Endpoint.AuthURL", "LoginConfig.Tokens is nil",
		"LoginConfig.Open is nil", "LoginConfig.Timeout is -1ns"} {
		require.ErrorContains(t, err, want)
	}
	_, err = auth.NewSource(auth.SourceConfig{App: auth.App{ClientID: "x"}})
	require.ErrorContains(t, err, "SourceConfig.Tokens is nil")
	require.ErrorContains(t, err, "SourceConfig.Email is empty")
	require.ErrorContains(t, auth.OpenBrowser(t.Context(), "file:///etc/passwd"), "not an http or https address")
}

func TestSecretsAreNotPrinted(t *testing.T) {
	grant := auth.Grant{Email: "a@example.com", RefreshToken: "hush", ClientID: "c"}
	var text strings.Builder
	logger := slog.New(slog.NewJSONHandler(&text, nil))
	app := auth.App{ClientID: "c", ClientSecret: "hush"}
	logger.Info("x", "grant", grant, "pointer", &grant, "app", app)
	fmt.Fprintf(&text, "%v %+v %#v %s %v", grant, grant, grant, grant, &grant)
	fmt.Fprintf(&text, "%v %+v %#v %s %v %+v", app, app, app, app, &app, auth.SourceConfig{App: app})
	require.NotContains(t, text.String(), "hush")
	require.Contains(t, text.String(), "a@example.com")
}
