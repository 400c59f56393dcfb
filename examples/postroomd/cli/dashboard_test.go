package cli

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
)

// A shownDemo is a demo with a dashboard, under way.
type shownDemo struct {
	t         *testing.T
	url       string // of the dashboard
	address   string // that signs in
	client    *http.Client
	interrupt context.CancelFunc
	stdout    bytes.Buffer
	lines     chan string // of what it says
	ended     chan int
}

// startShown starts a demo and signs in.
func startShown(t *testing.T, args ...string) *shownDemo {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	stderr, w := io.Pipe()
	d := &shownDemo{t: t, interrupt: cancel, lines: make(chan string, 1000), ended: make(chan int, 1)}
	go func() {
		status := Run(ctx, append([]string{"demo"}, args...), &d.stdout, w)
		_ = w.Close()
		d.ended <- status
	}()
	go func() {
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			d.lines <- lines.Text()
		}
		close(d.lines)
	}()
	first := <-d.lines
	require.Contains(t, first, "The dashboard is at ")
	d.address = regexp.MustCompile(`http://\S+`).FindString(first)
	d.url, _, _ = strings.Cut(d.address, "?")
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	d.client = &http.Client{Jar: jar,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if d.address != d.url {
		d.signIn()
	}
	return d
}

// signIn uses the address, and reads the next.
func (d *shownDemo) signIn() {
	d.t.Helper()
	answer, err := d.client.Get(d.address)
	require.NoError(d.t, err)
	require.NoError(d.t, answer.Body.Close())
	require.Equal(d.t, http.StatusSeeOther, answer.StatusCode)
	d.address = regexp.MustCompile(`http://\S+`).FindString(d.said("the next sign-in is at "))
}

// said waits for a line.
func (d *shownDemo) said(text string) string {
	d.t.Helper()
	for line := range d.lines {
		if strings.Contains(line, text) {
			return line
		}
	}
	require.Fail(d.t, "it was never said", text)
	return ""
}

func (d *shownDemo) stays() { d.said("The dashboard stays at " + d.url) }

func (d *shownDemo) stop() int {
	d.interrupt()
	return <-d.ended
}

func (d *shownDemo) get(path string, change func(*http.Request)) (status int, page string) {
	d.t.Helper()
	return d.do(http.MethodGet, path, nil, change)
}

func (d *shownDemo) post(path string, form url.Values) (status int, page string) {
	d.t.Helper()
	return d.do(http.MethodPost, path, form, nil)
}

func (d *shownDemo) do(method, path string, form url.Values, change func(*http.Request)) (status int, page string) {
	d.t.Helper()
	r, err := http.NewRequestWithContext(d.t.Context(), method, strings.TrimSuffix(d.url, "/")+path,
		strings.NewReader(form.Encode()))
	require.NoError(d.t, err)
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if change != nil {
		change(r)
	}
	answer, err := d.client.Do(r)
	require.NoError(d.t, err)
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	require.NoError(d.t, err)
	return answer.StatusCode, string(content)
}

func TestDashboardShowsAndRetriesJobs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	failed, _ := failedJob(t, dir)
	d := startShown(t, "--data", dir, "--dashboard", "127.0.0.1:0")
	status, page := d.get("/queue/", nil)
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, page, "<title>Overview – Postroom</title>")
	d.stays()

	job := "/queue/jobs/" + failed
	status, page = d.get(job, nil)
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, page, "undo.action")
	events, err := d.client.Get(d.url + "queue/events?page=/jobs/" + failed)
	require.NoError(t, err)
	defer events.Body.Close()
	h, err := app.Open(t.Context(), environment.Demo(environment.Folder(dir)))
	require.NoError(t, err)
	before, err := h.Queue.Job(t.Context(), failed)
	require.NoError(t, err)
	status, _ = d.post(job+"/retry", nil)
	require.Equal(t, http.StatusSeeOther, status)
	after, err := h.Queue.Wait(t.Context(), before.ID)
	require.NoError(t, err)
	require.Greater(t, after.Attempt, before.Attempt, "it has been tried again")
	require.NoError(t, h.Close())
	require.Equal(t, 0, d.stop(), "to be interrupted then is how it ends")
	require.Contains(t, d.stdout.String(), "Took in ")
	_, err = http.Get(d.url) //nolint:bodyclose // nobody is there
	require.Error(t, err)
}

func TestDashboardIsForThisMachineAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	demoJSON(t, "--data", dir)
	d := startShown(t, "--data", dir, "--dashboard", ":0")
	require.Contains(t, d.url, "http://127.0.0.1:")
	for host, want := range map[string]int{
		"localhost": http.StatusOK, "localhost:8080": http.StatusOK, "[::1]:1": http.StatusOK,
		"evil.example": http.StatusMisdirectedRequest, "127.0.0.1.evil.example:8080": http.StatusMisdirectedRequest, "": http.StatusOK,
	} {
		status, page := d.get("/", func(r *http.Request) {
			for _, c := range d.client.Jar.Cookies(r.URL) {
				r.AddCookie(c)
			}
			r.Host = host
		})
		require.Equal(t, want, status, host)
		require.Equal(t, want == http.StatusOK, strings.Contains(page, "Mailboxes"), host)
	}
	status, _ := d.do(http.MethodPost, "/queue/pause", nil, func(r *http.Request) {
		r.Header.Set("Sec-Fetch-Site", "cross-site")
	})
	require.Equal(t, http.StatusForbidden, status)
	d.stays()
	require.Equal(t, 0, d.stop())
}

// Other users of the machine reach the dashboard, and the Gmail of the demo, which may hold a copy of real mail.
func TestADashboardIsForWhoHasTheAddress(t *testing.T) {
	d := startShown(t, "--data", filepath.Join(t.TempDir(), "data"), "--dashboard", "127.0.0.1:0")
	jar := d.client.Jar
	for _, path := range []string{"/", "/queue/jobs", "/queue/", "/events", "/static/page.css", "/?token=guess"} {
		d.client.Jar = nil
		status, page := d.get(path, nil)
		require.Equal(t, http.StatusUnauthorized, status, path)
		require.NotContains(t, page, "Postroom")
	}
	status, _ := d.post("/stop", nil)
	require.Equal(t, http.StatusUnauthorized, status)
	d.client.Jar = jar
	status, _ = d.get("/", nil)
	require.Equal(t, http.StatusOK, status)
	d.stays()
	require.Equal(t, 0, d.stop())
}

func TestTheGmailOfADemoIsForItAlone(t *testing.T) {
	tokens := map[string]bool{}
	for range 2 {
		s := environment.Demo(environment.Folder(t.TempDir()))
		h, err := app.New(t.Context(), app.Config{Environment: s})
		require.NoError(t, err)
		get := func(token, host string) int {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.Server.URL()+"gmail/v1/users/me/messages", nil)
			require.NoError(t, err)
			r.Header.Set("Authorization", "Bearer "+token)
			r.Host = host
			answer, err := http.DefaultClient.Do(r)
			require.NoError(t, err)
			require.NoError(t, answer.Body.Close())
			return answer.StatusCode
		}
		secret := string(s.Config.Gmail.Token)
		tokens[secret] = true
		require.Equal(t, http.StatusOK, get(secret, ""))
		require.Equal(t, http.StatusMisdirectedRequest, get(secret, "evil.example"))
		for _, guess := range []string{"demo", "any", "gmailtest:" + h.Server.Email()} {
			require.Equal(t, http.StatusUnauthorized, get(guess, ""), guess)
		}
		require.NoError(t, h.Close())
	}
	require.Len(t, tokens, 2, "each run has its own")
}

func TestAPublicDashboardShowsNoMailAndChangesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	failed, _ := failedJob(t, dir)
	d := startShown(t, "--data", dir, "--dashboard", "127.0.0.1:0", "--dashboard-public")
	job := "/jobs/" + failed
	status, page := d.get(job, func(r *http.Request) { r.Host = "queue.example" })
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, page, "This dashboard does not show what jobs carry.")
	status, _ = d.post(job+"/retry", nil)
	require.Equal(t, http.StatusForbidden, status)
	d.stays()
	require.Equal(t, 0, d.stop())
}

func TestDashboardRetriesNothingInVain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	demoJSON(t, "--data", dir)
	h, err := app.Open(t.Context(), environment.Demo(environment.Folder(dir)))
	require.NoError(t, err)
	var done string
	require.NoError(t, h.DB.Reader().Get(&done, "SELECT id FROM jobs WHERE type = 'action.gmail' ORDER BY id LIMIT 1"))
	require.NoError(t, h.Close())
	d := startShown(t, "--data", dir, "--dashboard", "127.0.0.1:0")
	status, page := d.post("/queue/jobs/"+done+"/retry", nil)
	require.Equal(t, http.StatusForbidden, status)
	require.Contains(t, page, "for good")
	d.stays()
	require.Equal(t, 0, d.stop())
}

func TestWhatIsPausedIsTold(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	demoJSON(t, "--data", dir)
	d := startShown(t, "--data", dir, "--dashboard", "127.0.0.1:0")
	status, _ := d.post("/queue/pause", url.Values{"kind": {"type"}, "name": {"unsnooze.gmail"}})
	require.Equal(t, http.StatusSeeOther, status)
	d.stays()
	require.Equal(t, 0, d.stop())
	r := postroomd(t, "demo", "--data", dir)
	require.Equal(t, 0, r.status, r.stderr)
	require.Contains(t, r.stderr, "warning: the jobs of type unsnooze.gmail are paused")
}

func TestDashboardFlagsAreChecked(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	for name, c := range map[string]struct {
		args   []string
		status int
		says   string
	}{
		"no port":        {[]string{"--dashboard", "127.0.0.1"}, exitUsage, "an address with a port, such as 127.0.0.1:8080"},
		"all interfaces": {[]string{"--dashboard", "0.0.0.0:0"}, exitUsage, "other machines may reach that"},
		"a name":         {[]string{"--dashboard", "localhost.evil.example:0"}, exitUsage, "other machines may reach that"},
		"public alone":   {[]string{"--dashboard-public"}, exitUsage, "--dashboard says where it is"},
		"a taken port":   {[]string{"--dashboard", taken.Addr().String()}, exitFailed, "address already in use"},
	} {
		t.Run(name, func(t *testing.T) {
			data := filepath.Join(t.TempDir(), "data")
			r := postroomd(t, append([]string{"demo", "--data", data}, c.args...)...)
			require.Equal(t, c.status, r.status, r.stderr)
			require.Contains(t, r.stderr, c.says)
			require.NoDirExists(t, data, "nothing is written")
		})
	}
}

func TestPageSaysWhereToSignIn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	d := startShown(t, "--data", dir, "--dashboard", "127.0.0.1:0")
	d.stays()
	for range 2 {
		r := postroomd(t, "page", "--data", dir)
		require.Equal(t, result{0, d.address + "\n", ""}, r)
		d.signIn()
	}
	require.Equal(t, 0, d.stop())
	r := postroomd(t, "page", "--data", dir)
	require.Equal(t, exitUsage, r.status)
	require.Contains(t, r.stderr, "no postroomd serves the page")
	s := environment.Folder(dir)
	require.NoError(t, s.KeepPage(d.address), "as one that was killed leaves it")
	require.Equal(t, exitUsage, postroomd(t, "page", "--data", dir).status)
}
