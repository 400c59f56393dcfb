package queueui_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
	"github.com/postroom-go/postroom/queue/queueui"
)

// client follows no redirects.
var client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

type answer struct {
	*http.Response
	body string
}

func (s *site) do(req *http.Request) answer {
	s.Helper()
	response, err := client.Do(req)
	require.NoError(s, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(s, err)
	client.CloseIdleConnections()
	return answer{response, string(body)}
}

func (s *site) get(path string) answer {
	s.Helper()
	req, err := http.NewRequestWithContext(s.Context(), http.MethodGet, s.url+path, nil)
	require.NoError(s, err)
	return s.do(req)
}

// post sends a form as a browser does from a page of the given site: same-origin, same-site, cross-site or none.
func (s *site) post(path, from string, form url.Values) answer {
	s.Helper()
	req, err := http.NewRequestWithContext(s.Context(), http.MethodPost, s.url+path, strings.NewReader(form.Encode()))
	require.NoError(s, err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Sec-Fetch-Site", from)
	return s.do(req)
}

// act posts, and follows the way back.
func (s *site) act(path string, form url.Values) answer {
	s.Helper()
	a := s.post(path, "same-origin", form)
	require.Equal(s, http.StatusSeeOther, a.StatusCode, a.body)
	base, err := url.Parse(s.url + path)
	require.NoError(s, err)
	location, err := base.Parse(a.Header.Get("Location"))
	require.NoError(s, err)
	require.True(s, strings.HasPrefix(location.String(), s.url), location)
	return s.get(strings.TrimPrefix(location.String(), s.url))
}

func (s *site) state(id string) queue.State {
	s.Helper()
	job, err := s.q.Job(s.Context(), id)
	require.NoError(s, err)
	return job.State
}

func TestConfigIsChecked(t *testing.T) {
	q := queuetest.New(t)
	for _, c := range []struct {
		cfg  queueui.Config
		want string
	}{
		{queueui.Config{Interval: time.Millisecond}, "queueui: Config.Interval is 1ms; it must be at least 100ms"},
		{queueui.Config{Prefix: "jobs"},
			`queueui: Config.Prefix is "jobs"; it must begin with a slash and not end with one`},
		{queueui.Config{Prefix: "/jobs/"}, "must begin with a slash and not end with one"},
		{queueui.Config{Prefix: "/"}, "must begin with a slash and not end with one"},
	} {
		_, err := queueui.New(q, &c.cfg)
		require.ErrorContains(t, err, c.want)
	}
	_, err := queueui.New(nil, nil)
	require.EqualError(t, err, "queueui: the Queue is nil: make one with queue.New")
}

// As http.FileServer, the dashboard does not mind a StripPrefix that takes the slash as well.
func TestAPrefixMayBeStrippedWithItsSlash(t *testing.T) {
	s := newSite(t, nil)
	mux := http.NewServeMux()
	mux.Handle("/ops/jobs/", http.StripPrefix("/ops/jobs/", s.ui))
	for path, want := range map[string]string{"": "No jobs are stored.", "jobs": "No jobs", "static/icon.svg": "<svg"} {
		answer := httptest.NewRecorder()
		mux.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/ops/jobs/"+path, nil))
		require.Equal(t, http.StatusOK, answer.Code, path)
		require.Contains(t, answer.Body.String(), want, path)
	}
}

// Where the prefix was not taken away, the page says so.
func TestAMountWithItsPrefixIsNamed(t *testing.T) {
	s := newSite(t, nil)
	answer := httptest.NewRecorder()
	s.ui.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/ops/jobs/", nil))
	require.Equal(t, http.StatusNotFound, answer.Code)
	require.Contains(t, answer.Body.String(), "There is no such page: /ops/jobs/.")
	require.Contains(t, answer.Body.String(), "http.StripPrefix or Config.Prefix")
}

func TestWithoutALoggerFailuresGoToTheDefaultLogger(t *testing.T) {
	var log bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	t.Cleanup(func() { slog.SetDefault(before) })
	for silent, cfg := range map[bool]*queueui.Config{
		false: nil,
		true:  {Logger: slog.New(slog.DiscardHandler)},
	} {
		log.Reset()
		s := newSite(t, cfg)
		require.NoError(t, s.q.DB().Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			_, err := tx.ExecContext(ctx, "ALTER TABLE jobs RENAME TO secret_name")
			return err
		}))
		require.Equal(t, http.StatusInternalServerError, s.get("jobs").StatusCode)
		if silent {
			require.Empty(t, log.String())
		} else {
			require.Contains(t, log.String(), "no such table")
		}
	}
}

func TestEmptyPagesSayWhatIsMissing(t *testing.T) {
	s := newSite(t, nil)
	overview := s.get("")
	require.Equal(t, http.StatusOK, overview.StatusCode)
	require.Contains(t, overview.body, "No jobs are stored.")
	require.Contains(t, overview.body, "No process is registered that runs jobs.")
	require.Contains(t, s.get("jobs").body, "No jobs are stored.")
	require.Contains(t, s.get("jobs?type=none").body, "No jobs are like that.")
	require.Contains(t, s.get("jobs?before=0").body, "There are no older jobs.")
}

func TestMountedAnywhere(t *testing.T) {
	q := queuetest.New(t)
	enqueued, err := q.Enqueue(t.Context(), classify.New(letter{}, nil))
	require.NoError(t, err)
	for name, mount := range map[string]struct {
		prefix  string
		handler func(ui http.Handler) http.Handler
		cfg     *queueui.Config
	}{
		"at the root":   {"", func(ui http.Handler) http.Handler { return ui }, nil},
		"stripped":      {"/a/b", func(ui http.Handler) http.Handler { return http.StripPrefix("/a/b", ui) }, nil},
		"by its config": {"/a/b", func(ui http.Handler) http.Handler { return ui }, &queueui.Config{Prefix: "/a/b"}},
		"behind a proxy": {"/outside", func(ui http.Handler) http.Handler { return http.StripPrefix("/outside", ui) },
			nil},
	} {
		t.Run(name, func(t *testing.T) {
			ui, err := queueui.New(q, mount.cfg)
			require.NoError(t, err)
			server := httptest.NewServer(mount.handler(ui))
			defer server.Close()
			s := &site{T: t, q: q, url: server.URL + mount.prefix + "/"}
			require.Contains(t, s.get("").body, `href="./jobs"`)
			require.Contains(t, s.get("jobs").body, `href="./jobs/`+enqueued.ID)
			require.Contains(t, s.get("jobs/"+enqueued.ID).body, `href="../static/style.css"`)
			require.Equal(t, http.StatusOK, s.get("static/style.css").StatusCode)
			require.Equal(t, "jobs/"+enqueued.ID, s.get("find?id=+"+enqueued.ID).Header.Get("Location"))
			if mount.prefix != "" {
				a := s.do(httptestRequest(t, strings.TrimSuffix(s.url, "/")))
				require.Equal(t, http.StatusSeeOther, a.StatusCode)
				require.Equal(t, mount.prefix[strings.LastIndex(mount.prefix, "/")+1:]+"/", a.Header.Get("Location"))
			}
		})
	}
}

func httptestRequest(t *testing.T, address string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	require.NoError(t, err)
	return req
}

func TestReadOnlyOffersAndDoesNothing(t *testing.T) {
	s := newSite(t, &queueui.Config{ReadOnly: true})
	id := s.failed()
	for _, path := range []string{"", "jobs?state=failed", "jobs/" + id} {
		require.NotContains(t, s.get(path).body, `method="post"`)
	}
	for _, path := range []string{"jobs/" + id + "/retry", "jobs/" + id + "/cancel", "jobs/retry", "jobs/cancel",
		"pause", "resume", "limit", "fire", "release", "flows/x/retry", "flows/x/cancel"} {
		a := s.post(path, "same-origin", url.Values{"state": {"failed"}})
		require.Equal(t, http.StatusForbidden, a.StatusCode, path)
		require.Contains(t, a.body, "does not change them")
	}
	require.Equal(t, queue.StateFailed, s.state(id))
}

func TestTheHostDecidesWhoMayWhat(t *testing.T) {
	asked := make(map[queueui.Action]bool)
	refused := queueui.Action("")
	s := newSite(t, &queueui.Config{Authorize: func(_ *http.Request, action queueui.Action) error {
		asked[action] = true
		if action == refused {
			return errors.New("ask an <operator>")
		}
		return nil
	}})
	id := s.failed()
	for action, path := range map[queueui.Action]string{
		queueui.ActionRetry: "jobs/" + id + "/retry", queueui.ActionCancel: "jobs/" + id + "/cancel",
		queueui.ActionPause: "pause", queueui.ActionOperate: "limit",
		queueui.ActionFlow: "flows/x/retry",
	} {
		refused = action
		a := s.post(path, "same-origin", nil)
		require.Equal(t, http.StatusForbidden, a.StatusCode)
		require.Contains(t, a.body, "ask an &lt;operator&gt;")
		require.True(t, asked[action])
	}
	refused = queueui.ActionView
	for _, path := range []string{"", "jobs", "jobs/" + id, "find", "events?page=/", "flows", "flows/x"} {
		require.Equal(t, http.StatusForbidden, s.get(path).StatusCode, path)
	}
	require.Equal(t, queue.StateFailed, s.state(id))
}

func TestAJobShowsItsHistory(t *testing.T) {
	s := newSite(t, nil)
	page := s.get("jobs/" + s.populate()).body
	for _, part := range []string{
		"Why it does not run", "no process is registered that runs jobs", "smtp: 451 4.3.0 try again later",
		"handler panicked: no such template",
		"<summary>Stack</summary>", `aria-label="attempts: 2 in`, "draft", "r-771",
		"kept until it is awaited", "by grace", "quota is low", "grace@example.org",
		"outbound.send:17:4711", "user-17",
		"outbound, reply", "2 of 5", "Cancel the job",
	} {
		require.Contains(t, page, part)
	}
	require.NotContains(t, page, "Retry the job")
}

func TestListsAreFilteredAndGoBackAndForth(t *testing.T) {
	s := newSite(t, nil)
	var ids []string
	for i := range 120 {
		opts := &queue.Options{}
		if i%2 == 0 {
			opts = &queue.Options{UserID: "ada", Tags: []string{"even"}}
		}
		ids = append(ids, s.enqueue(classify.New(letter{}, opts)))
	}
	shown := func(a answer) int { return strings.Count(a.body, `<th scope="row" class="mono id">`) }
	first := s.get("jobs")
	require.Equal(t, 50, shown(first))
	require.Contains(t, first.body, ids[119])
	second := s.get(link(t, first.body, "older"))
	third := s.get(link(t, second.body, "older"))
	require.Equal(t, 20, shown(third))
	require.Contains(t, third.body, ids[0])
	require.Contains(t, third.body, "these are the oldest")
	require.Contains(t, s.get(link(t, third.body, "newer")).body, ids[69])
	require.Contains(t, s.get(link(t, s.get(link(t, third.body, "newer")).body, "newer")).body, ids[119])

	for query, want := range map[string]int{"user=ada&before=" + ids[20]: 10, "tag=even&before=" + ids[20]: 10,
		"state=failed": 0, "type=mail.send": 0, "state=queued&type=mail.classify&user=ada": 50} {
		require.Equal(t, want, shown(s.get("jobs?"+query)), query)
	}
	bad := s.get("jobs?state=lost")
	require.Equal(t, http.StatusBadRequest, bad.StatusCode)
	require.Contains(t, bad.body, "The state is queued, running, completed, failed, canceled or moving.")
}

// link is where the link with the id leads, from the mount.
func link(t *testing.T, body, id string) string {
	t.Helper()
	_, rest, found := strings.Cut(body, `<a id="`+id+`" href="./`)
	require.True(t, found, id)
	href, _, _ := strings.Cut(rest, `"`)
	return strings.ReplaceAll(href, "&amp;", "&")
}

func TestProblemsArePagesInWords(t *testing.T) {
	s := newSite(t, nil)
	for path, want := range map[string]struct {
		status int
		text   string
	}{
		"jobs/none":        {http.StatusNotFound, "There is no job with this id."},
		"nowhere":          {http.StatusNotFound, "There is no such page: /nowhere."},
		"?window=2h":       {http.StatusBadRequest, "The window is 1h, 24h or 7d."},
		"static/none":      {http.StatusNotFound, "404"},
		"static/":          {http.StatusNotFound, "404"},
		"events?page=none": {http.StatusBadRequest, "page must be the path of a page"},
		"events?page=/x":   {http.StatusBadRequest, "does not change"},
	} {
		a := s.get(path)
		require.Equal(t, want.status, a.StatusCode, path)
		require.Contains(t, a.body, want.text, path)
	}
	a := s.post("nowhere", "same-origin", nil)
	require.Equal(t, http.StatusMethodNotAllowed, a.StatusCode)
	require.Contains(t, a.body, "Nothing here can be changed that way.")
}

func TestADatabaseThatFailsIsNotTold(t *testing.T) {
	s := newSite(t, nil)
	require.NoError(t, s.q.DB().Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, "ALTER TABLE jobs RENAME TO secret_name")
		return err
	}))
	for _, path := range []string{"", "jobs", "jobs/x"} {
		a := s.get(path)
		require.Equal(t, http.StatusInternalServerError, a.StatusCode)
		require.Contains(t, a.body, "Something went wrong")
		require.NotContains(t, a.body, "no such table")
	}
}

func TestBrowsersAreToldToBeStrict(t *testing.T) {
	s := newSite(t, nil)
	for _, path := range []string{"", "jobs", "jobs/none", "static/live.js"} {
		header := s.get(path).Header
		policy := header.Get("Content-Security-Policy")
		require.Contains(t, policy, "default-src 'none'")
		require.Contains(t, policy, "frame-ancestors 'none'")
		require.NotContains(t, policy, "unsafe")
		require.Equal(t, "nosniff", header.Get("X-Content-Type-Options"))
		require.Equal(t, "same-origin", header.Get("Referrer-Policy"))
	}
	require.Equal(t, "no-store", s.get("jobs").Header.Get("Cache-Control"))
}

// A control is found again by its id when the part around it is replaced.
func TestIDsAreUnique(t *testing.T) {
	s := newSite(t, nil)
	rich := s.populate()
	for _, path := range []string{"", "jobs?state=failed", "jobs/" + rich} {
		seen := make(map[string]bool)
		for _, id := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(s.get(path).body, -1) {
			require.False(t, seen[id[1]], "%s has two %s", path, id[1])
			seen[id[1]] = true
		}
	}
}

// The picture of a type is as wide as the window that was asked for: its right end is now.
func TestSparklinesEndNow(t *testing.T) {
	s := newSite(t, nil)
	s.populate()
	for window, width := range map[string]string{"": "600", "?window=24h": "480", "?window=7d": "560"} {
		require.Contains(t, s.get(window).body, `<svg class="spark" viewBox="0 0 `+width+` 100"`, window)
	}
}

func TestTheOverviewCounts(t *testing.T) {
	s := newSite(t, nil)
	s.populate()
	for _, window := range []string{"", "?window=24h", "?window=7d"} {
		page := s.get(window)
		require.Equal(t, http.StatusOK, page.StatusCode)
		require.Contains(t, page.body, "54 completed, 6 failed, 1 canceled", window)
		require.Contains(t, page.body, "weekly digest")
		require.Contains(t, page.body, "keys that begin with")
		require.Contains(t, page.body, "‖ paused")
	}
}

func TestAJobShowsWhatItWaitsFor(t *testing.T) {
	s := newSite(t, nil)
	id := s.enqueue(classify.New(letter{}, nil))
	claimed, err := s.q.Claim(t.Context(), "w", []string{string(classify)}, 1)
	require.NoError(t, err)
	_, err = queue.Await[bool](t.Context(), claimed[0], "approval", 0)
	require.ErrorIs(t, err, queue.ErrWaiting)
	page := s.get("jobs/" + id).body
	for _, part := range []string{"due when a signal comes", "it waits for the signal approval, since ", ">awaited<",
		"waits for the signal approval</pre>", `class="state s-waiting"`} {
		require.Contains(t, page, part)
	}
	require.Contains(t, s.get("jobs").body, "due when a signal comes")
}
