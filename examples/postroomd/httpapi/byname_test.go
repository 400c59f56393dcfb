package httpapi

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
)

// The printed address signs in on this machine only; the name of the page leads to who the table knows.
func TestAHostHasItsOwnSignIn(t *testing.T) {
	s := environment.Demo(environment.Folder(t.TempDir()))
	s.Config.App.Dashboard, s.Config.App.Pprof = true, true
	w := &s.Config.Web
	w.URL, w.ProxyHeader, w.ProxyAddresses = "https://mail.example.org", "X-Email", []string{"127.0.0.1", "192.0.2.1"}
	w.People = []string{"ada@example.org=own", "bob@example.org=own bob@example.org"}
	h, err := app.New(t.Context(), app.Config{Environment: s})
	require.NoError(t, err)
	defer func() { require.NoError(t, h.Close()) }()
	listener := newPipeListener()
	login := NewLogin(h, listener, func(string) {})
	pages, onClose, err := NewHandler(h, login)
	require.NoError(t, err)
	defer onClose()
	for _, c := range []struct {
		host, remote, email, path string
		status                    int
	}{
		{"127.0.0.1:17800", "127.0.0.1:5", "", "/healthz", http.StatusOK},
		{"127.0.0.1:17800", "127.0.0.1:5", "", "/", http.StatusUnauthorized},
		{"127.0.0.1:17800", "127.0.0.1:5", "ada@example.org", "/", http.StatusMisdirectedRequest},
		{"127.0.0.1:17800", "192.0.2.1:5", "", "/healthz", http.StatusMisdirectedRequest},
		{"localhost", "192.0.2.1:5", "ada@example.org", "/", http.StatusMisdirectedRequest},
		{"mail.example.org", "192.0.2.1:5", "ada@example.org", "/", http.StatusOK},
		{"mail.example.org", "127.0.0.1:5", "ada@example.org", "/queue/", http.StatusOK},
		{"mail.example.org", "127.0.0.1:5", "ada@example.org", "/debug/pprof/cmdline", http.StatusOK},
		{"mail.example.org", "127.0.0.1:5", "bob@example.org", "/queue/", http.StatusForbidden},
		{"mail.example.org", "127.0.0.1:5", "bob@example.org", "/debug/pprof/cmdline", http.StatusForbidden},
		{"mail.example.org", "192.0.2.2:5", "ada@example.org", "/", http.StatusForbidden},
		{"mail.example.org", "192.0.2.1:5", "", "/", http.StatusForbidden},
		{"mail.example.org", "192.0.2.1:5", "eve@example.org", "/", http.StatusForbidden},
		{"mail.example.org", "127.0.0.1:5", "ada@example.org", "/healthz", http.StatusNotFound},
		{"evil.example", "192.0.2.1:5", "ada@example.org", "/", http.StatusMisdirectedRequest},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+c.host+c.path, nil)
		r.RemoteAddr = c.remote
		if c.email != "" {
			r.Header.Set("X-Email", c.email)
		}
		answer := httptest.NewRecorder()
		pages.ServeHTTP(answer, r)
		require.Equal(t, c.status, answer.Code, "%+v: %s", c, answer.Body)
	}
	for _, name := range []string{"X-Forwarded-For", "Forwarded"} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/healthz", nil)
		r.RemoteAddr = "127.0.0.1:5"
		r.Header.Set(name, "192.0.2.7")
		answer := httptest.NewRecorder()
		pages.ServeHTTP(answer, r)
		require.Equal(t, http.StatusMisdirectedRequest, answer.Code, name)
	}
}
