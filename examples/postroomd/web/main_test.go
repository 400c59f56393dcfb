package web_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
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
	"github.com/postroom-go/postroom/internal/browsertest"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/internal/scrypt"
	"github.com/postroom-go/postroom/safety/stop"
)

func TestMain(m *testing.M) {
	scrypt.WorkFactor = 10 // a passphrase costs a millisecond
	// This one begins with the program.
	goleak.VerifyTestMain(browsertest.Main(m), goleak.IgnoreTopFunction("go.opencensus.io/stats/view.(*worker).start"),
		goleak.Cleanup(func(code int) { os.Exit(sorted.remove(code)) }))
}

// sorted is the folder of a demo that has been sorted by its own rules, of which most tests begin with a copy.
var sorted sortedFolder

type sortedFolder struct {
	mu     sync.Mutex
	folder string // empty before the first test
}

// copyTo copies it, and sorts the sample mailbox before the first copy.
func (s *sortedFolder) copyTo(t *testing.T, folder string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.folder == "" {
		made, err := os.MkdirTemp("", "postroom-web-") //nolint:usetesting // other tests need it too
		require.NoError(t, err)
		a := sortedApp(t, made, "", func(*config.Config) {})
		require.NoError(t, a.Close())
		s.folder = made
	}
	dbtest.CopyFolder(t, s.folder, folder)
}

// remove returns the code the program ends with.
func (s *sortedFolder) remove(code int) int {
	if s.folder == "" {
		return code
	}
	if err := os.RemoveAll(s.folder); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	return code
}

// A world is a demo with the sample mailbox, sorted, and its pages.
type world struct {
	*testing.T
	*app.App
	url    string // with the last slash
	client *http.Client
}

// newWorld has the sample mailbox sorted by the rules of the demo.
func newWorld(t *testing.T) *world {
	t.Helper()
	folder := t.TempDir()
	sorted.copyTo(t, folder)
	a, err := app.New(t.Context(), app.Config{Environment: environment.Demo(environment.Folder(folder))})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, a.Close()) })
	return serveWorld(t, a)
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
	a := sortedApp(t, t.TempDir(), rulesFile, configure)
	t.Cleanup(func() { require.NoError(t, a.Close()) })
	return serveWorld(t, a)
}

// sortedApp sorts the sample mailbox in a folder. The caller closes the App.
func sortedApp(t *testing.T, dir, rulesFile string, configure func(*config.Config)) *app.App {
	t.Helper()
	folder := environment.Folder(dir)
	env := environment.Demo(folder)
	configure(&env.Config)
	a, err := app.New(t.Context(), app.Config{Environment: env})
	require.NoError(t, err)
	origin, err := mailsource.Flags{}.Choose(folder)
	require.NoError(t, err)
	source, err := origin.Open()
	require.NoError(t, err)
	_, err = a.Server.Import(t.Context(), source, func(int) {})
	require.NoError(t, err)
	rules, err := environment.ReadRulesFile(rulesFile)
	require.NoError(t, err)
	require.NoError(t, app.NewOneRun(a, rules, printer.NewProgress(io.Discard)).Run(t.Context()))
	return a
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
