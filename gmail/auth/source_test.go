package auth_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/auth"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/gmailtest"
)

// atOnce runs fn in 50 goroutines.
func atOnce(fn func()) {
	var all sync.WaitGroup
	for range 50 {
		all.Go(fn)
	}
	all.Wait()
}

func TestOneRefreshForAll(t *testing.T) {
	w := newWorld(t, gmailtest.Config{})
	client := w.client(w.source())
	gate := gmailtest.NewGate()
	w.server.Fault(gmailtest.Fault{Method: gmailtest.OAuthToken, Gate: gate, Times: -1})
	go func() {
		<-gate.Arrived()
		gate.Open()
	}()
	call := func() {
		_, err := client.Profile(t.Context())
		require.NoError(t, err)
	}
	atOnce(call)
	require.Equal(t, 1, w.refreshes())

	// All tokens are refused in the same moment.
	require.NoError(t, w.owner().ExpireTokens(t.Context()))
	atOnce(call)
	require.Equal(t, 2, w.refreshes())
}

func TestRefreshBeforeTheEnd(t *testing.T) {
	clock := gmailtest.NewClock(time.Now())
	w := newWorld(t, gmailtest.Config{Now: clock.Now})
	source := w.source()
	first, err := source.Token(t.Context())
	require.NoError(t, err)
	again, err := source.Token(t.Context())
	require.NoError(t, err)
	require.Same(t, first, again)

	auth.Age(source, 54*time.Minute)
	_, err = source.Token(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, w.refreshes())
	auth.Age(source, 2*time.Minute)
	w.server.Fault(gmailtest.Fault{Method: gmailtest.OAuthToken, Status: 503})
	again, err = source.Token(t.Context())
	require.NoError(t, err, "a refresh that fails early costs nothing")
	require.Same(t, first, again)
	require.Equal(t, 2, w.refreshes())
	_, err = source.Token(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2, w.refreshes(), "nor is the server asked at once again")

	auth.Age(source, time.Minute)
	again, err = source.Token(t.Context())
	require.NoError(t, err)
	require.NotSame(t, first, again)
	require.Equal(t, 3, w.refreshes())
}

func TestTokenThatIsRefused(t *testing.T) {
	w := newWorld(t, gmailtest.Config{})
	client := w.client(w.source())
	label, err := client.CreateLabel(t.Context(), "Later")
	require.NoError(t, err)
	require.NoError(t, w.owner().ExpireTokens(t.Context()))
	again, err := client.CreateLabel(t.Context(), "Sooner") // has a body, which is sent twice
	require.NoError(t, err)
	require.NotEqual(t, label.ID, again.ID)
	require.Equal(t, 2, w.refreshes())

	w.server.Fault(gmailtest.Fault{Method: gmailtest.GetProfile, Status: 401, Times: 2})
	_, err = client.Profile(t.Context())
	require.Equal(t, gmailapi.ClassUnauthorized, gmailapi.ClassOf(err), "refreshed once, retried once")
	require.Equal(t, 2, w.server.Counts()[gmailtest.GetProfile])
	_, err = client.Profile(t.Context())
	require.NoError(t, err)
}

// A body that cannot be read twice is not sent twice: the caller gets the 401, and the next request a new token.
func TestBodyThatCannotBeRepeated(t *testing.T) {
	w := newWorld(t, gmailtest.Config{})
	client := w.source().HTTPClient()
	post := func(body io.Reader) int {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.server.URL()+
			"gmail/v1/users/me/labels", body)
		require.NoError(t, err)
		response, err := client.Do(request)
		require.NoError(t, err)
		defer response.Body.Close()
		return response.StatusCode
	}
	once := func(name string) io.Reader { return io.NopCloser(bytes.NewReader([]byte(`{"name":"` + name + `"}`))) }
	require.Equal(t, 200, post(once("a")))
	require.NoError(t, w.owner().ExpireTokens(t.Context()))
	require.Equal(t, 401, post(once("b")))
	require.Equal(t, 200, post(once("b")))
	require.Equal(t, 2, w.refreshes())
}

func TestGrantThatIsGone(t *testing.T) {
	w := newWorld(t, gmailtest.Config{})
	source := w.source()
	client := w.client(source)
	_, err := client.Profile(t.Context())
	require.NoError(t, err)
	require.NoError(t, w.owner().RevokeGrants(t.Context()))

	atOnce(func() {
		_, err := client.Profile(t.Context())
		require.Equal(t, gmailapi.ClassReauthorize, gmailapi.ClassOf(err))
	})
	require.Equal(t, 2, w.refreshes(), "nobody asks again about a refresh token that is dead")
	_, err = source.Token(t.Context())
	var gone *gmailapi.Error
	require.ErrorAs(t, err, &gone)
	require.Equal(t, gmailapi.Error{
		Op: "refresh the access to " + w.server.Email(), Class: gmailapi.ClassReauthorize, Status: 400,
		Reason: "invalid_grant",
		Hint:   gmailapi.HintReauthorize, Err: gone.Err,
	}, *gone)

	w.login()
	_, err = client.Profile(t.Context())
	require.NoError(t, err, "the same client goes on")
}

func TestGrantThatRunsOut(t *testing.T) {
	clock := gmailtest.NewClock(time.Now())
	w := newWorld(t, gmailtest.Config{Now: clock.Now, OAuth: gmailtest.OAuth{RefreshTTL: 7 * 24 * time.Hour}})
	client := w.client(w.source())
	_, err := client.Profile(t.Context())
	require.NoError(t, err)
	clock.Move(8 * 24 * time.Hour)
	_, err = client.Profile(t.Context())
	require.Equal(t, gmailapi.ClassReauthorize, gmailapi.ClassOf(err))
	require.ErrorContains(t, err, "after 7 days")
}

func TestNoGrant(t *testing.T) {
	w := newWorld(t, gmailtest.Config{})
	source := w.newSource()
	_, err := w.client(source).Profile(t.Context())
	require.Equal(t, gmailapi.ClassReauthorize, gmailapi.ClassOf(err))
	require.ErrorIs(t, err, auth.ErrNoGrant)
	require.ErrorContains(t, err, "sign in to the account")

	w.login()
	w.app.ClientID = "another"
	_, err = w.client(w.newSource()).Profile(t.Context())
	require.Equal(t, gmailapi.ClassReauthorize, gmailapi.ClassOf(err))
	require.ErrorContains(t, err, "it was granted to the client desktop")
	require.Zero(t, w.refreshes())
}

// Where other machines may have a grant, the lack of one here says nothing about the account.
func TestNoGrantHere(t *testing.T) {
	w := newWorld(t, gmailtest.Config{})
	w.shared = true
	source := w.newSource()
	client := w.client(source)
	_, err := client.Profile(t.Context())
	require.Equal(t, gmailapi.ClassNoAccess, gmailapi.ClassOf(err))
	require.ErrorIs(t, err, auth.ErrNoGrant)

	w.login()
	_, err = client.Profile(t.Context())
	require.NoError(t, err, "the same client goes on")
	require.NoError(t, w.tokens.Delete(t.Context(), w.server.Email()))
	auth.Age(source, 56*time.Minute)
	_, err = client.Profile(t.Context())
	require.Equal(t, gmailapi.ClassNoAccess, gmailapi.ClassOf(err), "a grant that was taken away is not used to its end")

	w.login()
	w.app.ClientID = "another"
	_, err = w.client(w.newSource()).Profile(t.Context())
	require.Equal(t, gmailapi.ClassNoAccess, gmailapi.ClassOf(err))
	require.ErrorContains(t, err, "it was granted to the client desktop")

	w.app.ClientID = "desktop"
	require.NoError(t, w.owner().RevokeGrants(t.Context()))
	_, err = w.client(w.newSource()).Profile(t.Context())
	require.Equal(t, gmailapi.ClassReauthorize, gmailapi.ClassOf(err), "what Gmail says holds for all")

	locked := unreadable{w.tokens, errors.New("the keychain is locked")}
	w.tokens = locked
	_, err = w.client(w.newSource()).Profile(t.Context())
	require.Equal(t, gmailapi.ClassNoAccess, gmailapi.ClassOf(err))
	require.ErrorIs(t, err, locked.err)
}

// unreadable are tokens that cannot be loaded.
type unreadable struct {
	auth.Tokens
	err error
}

func (u unreadable) Load(context.Context, string) (auth.Grant, error) { return auth.Grant{}, u.err }

func TestFailuresThatPass(t *testing.T) {
	w := newWorld(t, gmailtest.Config{})
	client := w.client(w.source())
	for _, tt := range []struct {
		fault gmailtest.Fault
		want  gmailapi.Class
	}{
		{gmailtest.Fault{Status: 503}, gmailapi.ClassServer},
		{gmailtest.Fault{Cut: gmailtest.CutBefore}, gmailapi.ClassNetwork},
		{gmailtest.Fault{Cut: gmailtest.CutAfter}, gmailapi.ClassNetwork},
	} {
		tt.fault.Method = gmailtest.OAuthToken
		w.server.Fault(tt.fault)
		_, err := client.Profile(t.Context())
		require.Equal(t, tt.want, gmailapi.ClassOf(err))
	}
	_, err := client.Profile(t.Context())
	require.NoError(t, err)
}

// Who gives up does not take the refresh along.
func TestCallerThatGivesUp(t *testing.T) {
	w := newWorld(t, gmailtest.Config{})
	source := w.source()
	gate := gmailtest.NewGate()
	w.server.Fault(gmailtest.Fault{Method: gmailtest.OAuthToken, Gate: gate})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-gate.Arrived()
		cancel()
	}()
	_, err := source.Token(ctx)
	require.ErrorIs(t, err, context.Canceled)
	gate.Open()
	_, err = source.Token(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, w.refreshes())
}

// A rotator is a token endpoint that replaces the refresh token at each refresh, and voids the old one.
type rotator struct {
	mu      sync.Mutex
	current string
	n       int
}

func (r *rotator) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if request.FormValue("refresh_token") != r.current {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error":"invalid_grant"}`)
		return
	}
	r.n++
	r.current += "+"
	_, _ = io.WriteString(w, `{"access_token":"a`+r.current+
		`","token_type":"Bearer","expires_in":3600,"refresh_token":"`+r.current+`"}`)
}

// A store is a Memory that fails at times.
type store struct {
	auth.Memory
	mu   sync.Mutex
	fail error
	lock sync.Mutex
}

func (s *store) setFail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail = err
}

func (s *store) Save(ctx context.Context, grant auth.Grant) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		return s.fail
	}
	return s.Memory.Save(ctx, grant)
}

func (s *store) Lock(context.Context, string) (func(), error) {
	s.lock.Lock()
	return s.lock.Unlock, nil
}

var _ auth.Locker = (*store)(nil)

func newRotator(t *testing.T) (*rotator, *store, func() *auth.Source) {
	r := &rotator{current: "r"}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	tokens := new(store)
	require.NoError(t, tokens.Save(t.Context(), auth.Grant{Email: "a@example.com", RefreshToken: "r", ClientID: "c"}))
	base := &http.Transport{}
	t.Cleanup(base.CloseIdleConnections)
	return r, tokens, func() *auth.Source {
		source, err := auth.NewSource(auth.SourceConfig{Tokens: tokens, Email: "a@example.com", App: auth.App{
			ClientID: "c", Endpoint: auth.Endpoint{TokenURL: server.URL}, HTTPClient: &http.Client{Transport: base},
		}})
		require.NoError(t, err)
		return source
	}
}

func TestRefreshTokenThatIsReplacedIsSavedBeforeUse(t *testing.T) {
	r, tokens, newSource := newRotator(t)
	source := newSource()
	tokens.setFail(errors.New("disk full"))
	_, err := source.Token(t.Context())
	require.ErrorContains(t, err, "save the new refresh token of a@example.com: disk full")
	_, err = source.Token(t.Context())
	require.ErrorContains(t, err, "disk full")
	require.Equal(t, 1, r.n, "nothing is used before it is saved")

	tokens.setFail(nil)
	token, err := source.Token(t.Context())
	require.NoError(t, err)
	require.Equal(t, "ar++", token.AccessToken)
	saved, err := tokens.Load(t.Context(), "a@example.com")
	require.NoError(t, err)
	require.Equal(t, "r++", saved.RefreshToken)

	// A new sign-in goes before a token that could not be saved.
	auth.Age(source, time.Hour)
	tokens.setFail(errors.New("disk full"))
	_, err = source.Token(t.Context())
	require.ErrorContains(t, err, "disk full")
	tokens.setFail(nil)
	saved.RefreshToken, r.current = "new", "new"
	require.NoError(t, tokens.Save(t.Context(), saved))
	token, err = source.Token(t.Context())
	require.NoError(t, err)
	require.Equal(t, "anew+", token.AccessToken)
}

// Processes that share a store with a lock never use a refresh token that another has replaced.
func TestSourcesThatShareAStore(t *testing.T) {
	r, _, newSource := newRotator(t)
	atOnce(func() {
		_, err := newSource().Token(t.Context())
		require.NoError(t, err)
	})
	require.Equal(t, 50, r.n)
}

// fullDisk keeps what it has.
type fullDisk struct{ auth.Tokens }

func (fullDisk) Delete(context.Context, string) error { return os.ErrPermission }

func TestRevoke(t *testing.T) {
	w := newWorld(t, gmailtest.Config{})
	source := w.source()
	_, err := source.Token(t.Context())
	require.NoError(t, err)
	w.server.Fault(gmailtest.Fault{Method: gmailtest.OAuthRevoke, Status: 503})
	require.ErrorContains(t, auth.Revoke(t.Context(), w.app, w.tokens, w.server.Email()), "answers 503")
	_, err = w.tokens.Load(t.Context(), w.server.Email())
	require.NoError(t, err, "it is kept to try again")

	require.NoError(t, auth.Revoke(t.Context(), w.app, w.tokens, w.server.Email()))
	_, err = w.tokens.Load(t.Context(), w.server.Email())
	require.ErrorIs(t, err, auth.ErrNoGrant)
	_, err = w.client(source).Profile(t.Context())
	require.Equal(t, gmailapi.ClassReauthorize, gmailapi.ClassOf(err))
	require.ErrorIs(t, auth.Revoke(t.Context(), w.app, w.tokens, w.server.Email()), auth.ErrNoGrant)

	w.login()
	err = auth.Revoke(t.Context(), w.app, fullDisk{w.tokens}, w.server.Email())
	require.ErrorIs(t, err, auth.ErrNotDeleted)
	require.ErrorIs(t, err, os.ErrPermission)

	w.login()
	require.NoError(t, w.owner().RevokeGrants(t.Context()))
	require.NoError(t, auth.Revoke(t.Context(), w.app, w.tokens, w.server.Email()), "it is gone already")
	require.Error(t, auth.Revoke(t.Context(), w.app, nil, ""))
}

// The token goes to Gmail alone.
func TestRedirectsAreNotFollowed(t *testing.T) {
	w := newWorld(t, gmailtest.Config{})
	source := w.source()
	var asked []*url.URL
	elsewhere := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL)
		http.Redirect(answer, r, "/next", http.StatusFound)
	}))
	defer elsewhere.Close()
	response, err := source.HTTPClient().Get(elsewhere.URL)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusFound, response.StatusCode)
	require.Len(t, asked, 1)
}

func TestMissingScopes(t *testing.T) {
	full := auth.Grant{Scopes: []string{auth.ScopeFull}}
	require.Empty(t, full.Missing(auth.ScopeModify, auth.ScopeSend, auth.ScopeReadonly))
	require.Equal(t, []auth.Refusal{{Scope: "calendar", Consequence: "calls that need it are refused"}},
		full.Missing("calendar"))
}
