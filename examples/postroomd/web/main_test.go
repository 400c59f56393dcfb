package web_test

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/mailsource"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/web"
	"github.com/postroom-go/postroom/examples/postroomd/web/access"
	"github.com/postroom-go/postroom/safety/stop"
)

func TestMain(m *testing.M) {
	// This one begins with the program.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("go.opencensus.io/stats/view.(*worker).start"))
}

// A world is a demo with the sample mailbox, sorted, and its pages.
type world struct {
	*testing.T
	*app.App
	url    string // with the last slash
	client *http.Client
}

// newWorld sorts the sample mailbox by the rules of the demo.
func newWorld(t *testing.T) *world {
	t.Helper()
	return newWorldBy(t, "")
}

// newWorldBy sorts the sample mailbox by the rules of a file; empty means those of the demo. These actions always ask.
func newWorldBy(t *testing.T, rulesFile string, asks ...string) *world {
	t.Helper()
	return newWorldWith(t, rulesFile, func(c *config.Config) {
		c.Policy.ApprovalAlways = append(c.Policy.ApprovalAlways, asks...)
	})
}

// newWorldWith does that with a configuration of its own.
func newWorldWith(t *testing.T, rulesFile string, configure func(*config.Config)) *world {
	t.Helper()
	folder := environment.Folder(t.TempDir())
	env := environment.Demo(folder)
	configure(&env.Config)
	a, err := app.New(t.Context(), app.Config{Environment: env})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, a.Close()) })
	origin, err := mailsource.Flags{}.Choose(folder)
	require.NoError(t, err)
	source, err := origin.Open()
	require.NoError(t, err)
	_, err = a.Server.Import(t.Context(), source, func(int) {})
	require.NoError(t, err)
	rules, err := environment.ReadRulesFile(rulesFile)
	require.NoError(t, err)
	require.NoError(t, app.NewOneRun(a, rules, printer.NewProgress(io.Discard)).Run(t.Context()))
	return serveWorld(t, a)
}

// serveWorld serves the pages of an App, as to who has signed in on its machine.
func serveWorld(t *testing.T, a *app.App) *world {
	t.Helper()
	return serveWorldTo(t, a, access.Local)
}

// serveWorldTo serves the pages of an App to a person.
func serveWorldTo(t *testing.T, a *app.App, as func(http.Handler) http.Handler) *world {
	t.Helper()
	pages, err := web.New(a)
	require.NoError(t, err)
	server := httptest.NewServer(as(pages))
	t.Cleanup(server.Close)
	t.Cleanup(pages.Close) // before the server waits for its streams
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	return &world{t, a, server.URL + "/", &http.Client{Jar: jar, Transport: new(http.Transport),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// A reply is what the tests look at of an answer.
type reply struct {
	status int
	header http.Header
	body   string
}

func (w *world) do(method, path string, form url.Values, change func(*http.Request)) reply {
	w.Helper()
	r, err := http.NewRequestWithContext(w.Context(), method, w.url+strings.TrimPrefix(path, "/"),
		strings.NewReader(form.Encode()))
	require.NoError(w, err)
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if change != nil {
		change(r)
	}
	answer, err := w.client.Do(r)
	require.NoError(w, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	require.NoError(w, err)
	return reply{answer.StatusCode, answer.Header, string(body)}
}

func (w *world) get(path string) reply {
	w.Helper()
	return w.do(http.MethodGet, path, nil, nil)
}

func (w *world) post(path string, form url.Values) reply {
	w.Helper()
	return w.do(http.MethodPost, path, form, nil)
}

func stopOptions(why string) stop.Options { return stop.Options{Why: why} }

// replaceAmp reads an address as it stands in HTML.
func replaceAmp(s string) string { return strings.ReplaceAll(s, "&amp;", "&") }
