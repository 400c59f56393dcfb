package queueui_test

import (
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/queueui"
)

// A guest is a browser at a server with a login.
type guest struct {
	*testing.T
	*http.Client
}

func newGuest(t *testing.T) *guest {
	t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	return &guest{t, &http.Client{Jar: jar,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// A reply is what the tests look at of an answer.
type reply struct {
	StatusCode int
	Header     http.Header
	cookies    []*http.Cookie
}

// Cookies returns the cookies that the answer sets.
func (r reply) Cookies() []*http.Cookie { return r.cookies }

func (g *guest) do(method, address string) reply {
	g.Helper()
	r, err := http.NewRequestWithContext(g.Context(), method, address, http.NoBody)
	require.NoError(g, err)
	answer, err := g.Do(r)
	require.NoError(g, err)
	require.NoError(g, answer.Body.Close())
	return reply{answer.StatusCode, answer.Header, answer.Cookies()}
}

// status is the status of the answer to do.
func (g *guest) status(method, address string) int {
	g.Helper()
	return g.do(method, address).StatusCode
}

// newHall makes a server whose only content is for those who have signed in. next receives the addresses after the
// first.
func newHall(t *testing.T) (base string, login *queueui.Login, next *[]string) {
	t.Helper()
	next = new([]string)
	var handler http.Handler
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	login = queueui.NewLogin(server.URL+"/", func(address string) { *next = append(*next, address) })
	handler = login.Protect(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
	}))
	return server.URL + "/", login, next
}

func TestAnAddressSignsInOnce(t *testing.T) {
	base, login, next := newHall(t)
	ann, bob := newGuest(t), newGuest(t)
	for _, path := range []string{"", "jobs/7", "?token=", "?token=guess", "static/app.js"} {
		require.Equal(t, http.StatusUnauthorized, ann.status(http.MethodGet, base+path), path)
		require.Equal(t, http.StatusUnauthorized, ann.status(http.MethodPost, base+path), path)
	}
	first := login.Address()
	require.Equal(t, http.StatusUnauthorized, ann.status(http.MethodHead, first), "a preview of the link")
	answer := ann.do(http.MethodGet, first)
	require.Equal(t, http.StatusSeeOther, answer.StatusCode)
	require.Equal(t, "./", answer.Header.Get("Location"))
	require.Len(t, answer.Cookies(), 1)
	cookie := answer.Cookies()[0]
	require.Equal(t, http.SameSiteStrictMode, cookie.SameSite)
	require.True(t, cookie.HttpOnly)
	require.NotContains(t, first, cookie.Value, "the address is not the cookie")
	require.Equal(t, http.StatusTeapot, ann.status(http.MethodGet, base))
	require.Equal(t, http.StatusTeapot, ann.status(http.MethodPost, base+"jobs"))
	require.Equal(t, http.StatusSeeOther, ann.status(http.MethodGet, first), "from a bookmark")

	require.Equal(t, http.StatusUnauthorized, bob.status(http.MethodGet, first), "it has been used")
	require.Equal(t, []string{login.Address()}, *next)
	require.NotEqual(t, first, login.Address())
	require.Equal(t, http.StatusSeeOther, bob.status(http.MethodGet, login.Address()))
	require.Equal(t, http.StatusTeapot, bob.status(http.MethodGet, base))
	require.Equal(t, http.StatusTeapot, ann.status(http.MethodGet, base), "she stays signed in")
}

// The redirect stays on the page, and never leads to another site.
func TestSigningInStaysOnThePage(t *testing.T) {
	for path, want := range map[string]string{
		"jobs?state=failed&": "jobs?state=failed", "jobs/a%20b?": "jobs/a%20b", "jobs/?": "jobs/",
		"/evil.example?": "/evil.example", "/evil.example/?": "/evil.example/", "a/javascript:x?": "a/javascript:x",
	} {
		base, login, _ := newHall(t)
		_, token, _ := strings.Cut(login.Address(), "?")
		answer := newGuest(t).do(http.MethodGet, base+path+token)
		require.Equal(t, http.StatusSeeOther, answer.StatusCode, path)
		at, err := url.Parse(base + path)
		require.NoError(t, err)
		to, err := at.Parse(answer.Header.Get("Location"))
		require.NoError(t, err)
		require.Equal(t, base+want, to.String())
	}
}
