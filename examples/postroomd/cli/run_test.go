package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/telemetry"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/gmailtest/mailbox"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/internal/dbtest"
)

// newGmail is a server of its own with the sample mailbox.
func newGmail(t *testing.T) *gmailtest.Server { return newGmailWith(t, gmailtest.Config{}) }

func newGmailWith(t *testing.T, cfg gmailtest.Config) *gmailtest.Server {
	t.Helper()
	return newGmailOf(t, sample.Mailbox(), cfg)
}

func newGmailOf(t *testing.T, source mailbox.Source, cfg gmailtest.Config) *gmailtest.Server {
	t.Helper()
	cfg.Dir, cfg.Email = filepath.Join(t.TempDir(), "gmail"), sample.Owner
	server, err := gmailtest.Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	_, err = server.Import(t.Context(), source, func(int) {})
	require.NoError(t, err)
	return server
}

var variables atomic.Int64

// inEnv puts a value into a variable of the environment that nothing else uses, and returns the name that a
// configuration has for it. Other than with t.Setenv, the test may run in parallel with others.
func inEnv(t *testing.T, value string) string {
	t.Helper()
	name := fmt.Sprintf("POSTROOM_TEST_VALUE_%d", variables.Add(1))
	require.NoError(t, os.Setenv(name, value)) //nolint:usetesting // see above
	t.Cleanup(func() { require.NoError(t, os.Unsetenv(name)) })
	return "env:" + name
}

// onPostgres is a configuration with a PostgreSQL of its own.
func onPostgres(t *testing.T) string {
	t.Helper()
	return fmt.Sprintf("database = %q\n", inEnv(t, dbtest.MigratedDSN(t)))
}

// migratedFolder is the data folder of a run that has made the tables and nothing else.
func migratedFolder(t *testing.T) string {
	t.Helper()
	folder := environment.Folder(filepath.Join(t.TempDir(), "data"))
	require.NoError(t, os.Mkdir(string(folder), 0o700))
	require.NoError(t, os.WriteFile(folder.RunFile(), nil, 0o600))
	dbtest.MigratedFile(t, folder.Database())
	return string(folder)
}

// configure writes a configuration for a server of Gmail's API.
func configure(t *testing.T, server *gmailtest.Server, more string) (file string) {
	t.Helper()
	rules, err := filepath.Abs("../config/rules.yaml")
	require.NoError(t, err)
	file = filepath.Join(t.TempDir(), "config.toml")
	text := fmt.Sprintf(
		"[gmail]\nold_mail = \"sort\"\naddress = %q\nendpoint = %q\ntoken = %q\nunits_per_minute = 0\n\n[paths]\nrules = %q\n%s",
		sample.Owner, server.URL(), inEnv(t, "hunter2"), rules, more)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

func runOnce(t *testing.T, args ...string) view.Summary {
	t.Helper()
	r := postroomd(t, append([]string{"run", "--once", "--json"}, args...)...)
	require.Equal(t, 0, r.status, r.stderr)
	var s view.Summary
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &s), "standard output holds one JSON object and nothing else")
	return s
}

// The same mailbox behind another server: run comes to what demo comes to.
func TestRunOnceIsTheDemoOnAnotherGmail(t *testing.T) {
	demo := demoJSON(t, "--data", filepath.Join(t.TempDir(), "demo"))
	server := newGmailOf(t, sample.WithLists(), gmailtest.Config{})
	policy := fmt.Sprintf("[policy]\napproval_always = [%q, %q, %q, %q]\n", postroom.Delete, postroom.Forward,
		postroom.AutoReply, postroom.Trash)
	file, dir := configure(t, server, policy), filepath.Join(t.TempDir(), "data")
	first := runOnce(t, "--config", file, "--data", dir)
	demo.Seconds, demo.Jobs = first.Seconds, first.Jobs
	require.Equal(t, map[string]int{"demo::scripted": 1}, demo.Models, "only the demo has an agent")
	require.Equal(t, 1, demo.Actions[postroom.Escalate])
	demo.Models = first.Models
	delete(demo.Actions, postroom.Escalate)
	require.Equal(t, 1, demo.Drafts, "only the demo has a draft")
	demo.Drafts, demo.Messages, demo.New = 0, demo.Messages-1, demo.New-1
	demo.Mailboxes[0].Messages--
	require.Equal(t, demo, first)
	require.NotContains(t, server.Counts(), gmailtest.MessagesSend)

	second := runOnce(t, "--config", file, "--data", dir)
	require.Zero(t, second.New)
	second.New, second.Seconds, second.Jobs = first.New, first.Seconds, first.Jobs
	require.Equal(t, first, second, "a second run does nothing twice")

	r := postroomd(t, "status", "--json", "--config", file, "--data", dir)
	require.Equal(t, 0, r.status, r.stderr)
	var status view.Status
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &status))
	require.Equal(t, first.Approvals, status.Approvals)
	require.Equal(t, first.Messages, status.Accounts[0].Messages)
	require.Equal(t, "done", string(status.Accounts[0].Backfill))
	require.Contains(t, postroomd(t, "status", "--config", file, "--data", dir).stdout,
		fmt.Sprintf("approvals   %d waiting", first.Approvals))

	r = postroomd(t, "demo", "--data", dir)
	require.Equal(t, exitUsage, r.status)
	require.Contains(t, r.stderr, "'postroomd run' keeps a mailbox there")
}

// A backfill that has failed is told, and the next start goes on with it.
func TestRunGoesOnWithABackfillThatHasFailed(t *testing.T) {
	server := newGmail(t)
	server.Fault(gmailtest.Fault{Method: gmailtest.MessagesList, Status: http.StatusForbidden, Reason: "domainPolicy"})
	where := []string{"--config", configure(t, server, ""), "--data", filepath.Join(t.TempDir(), "data")}
	first := failedRun(t, where...)
	require.Zero(t, first.Messages)
	require.Contains(t, first.Mailboxes[0].Failure,
		"its mail could not be listed to the end: gmail: list messages: forbidden")
	require.Equal(t, "failed", string(statusOf(t, where...).Accounts[0].Backfill))
	require.Contains(t, postroomd(t, append([]string{"status"}, where...)...).stdout,
		"the administrator of the domain has disabled")

	require.GreaterOrEqual(t, runOnce(t, where...).Messages, 60)
	require.Equal(t, "done", string(statusOf(t, where...).Accounts[0].Backfill))
}

func TestRunWithoutProfile(t *testing.T) {
	server := newGmail(t)
	server.Fault(gmailtest.Fault{Method: gmailtest.GetProfile, Status: http.StatusMethodNotAllowed, Times: 1000})
	s := runOnce(t, "--config", configure(t, server, ""), "--data", filepath.Join(t.TempDir(), "data"))
	require.GreaterOrEqual(t, s.Messages, 60)
	require.Zero(t, s.Jobs["failed"])
}

func TestRunRefusesWhatCannotWork(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", tmp)
	demo := filepath.Join(tmp, "demo")
	demoJSON(t, "--data", demo)
	gmail := []string{"--set", "gmail.address=" + sample.Owner, "--set", "gmail.token=" + secret(t, "x"), "--set",
		"gmail.endpoint=http://127.0.0.1:1"}
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"no access":  {nil, "there is no access to any mailbox"},
		"no mailbox": {gmail[2:4], "gmail.address is not set"},
		"no quota":   {append(gmail[:4:4], "--set", "gmail.units_per_minute=0"), "Google's Gmail has a quota"},
		"no rules":   {append(gmail[:6:6], "--rules", filepath.Join(tmp, "none.yaml")), "none.yaml"},
		"a demo":     {append(gmail[:6:6], "--data", demo), "holds a demo"},
		"json":       {append(gmail[:6:6], "--json"), "add --once"},
		"no config":  {[]string{"--config", filepath.Join(tmp, "none.toml")}, "postroomd config init"},
	} {
		t.Run(name, func(t *testing.T) {
			data := filepath.Join(t.TempDir(), "data")
			args := append([]string{"run"}, c.args...)
			if name != "a demo" {
				args = append(args, "--data", data)
			}
			r := postroomd(t, args...)
			require.Equal(t, exitUsage, r.status, r.stderr)
			require.Contains(t, r.stderr, c.says)
			require.NoDirExists(t, data, "nothing is written")
		})
	}
}

// A running is postroomd as a process of its own, which serves.
type running struct {
	t   *testing.T
	cmd *exec.Cmd
	url string

	address string       // that signs in
	client  *http.Client // keeps what has signed in

	mu   sync.Mutex
	said strings.Builder
	read chan struct{} // closed when it has said all
}

var servedAt = regexp.MustCompile(`url"?[=:]"?((http://[0-9.:]+/)(\?token=\w+)?)`)

func start(t *testing.T, args ...string) *running {
	t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	r := &running{t: t, client: &http.Client{Jar: jar}, read: make(chan struct{})}
	r.cmd = exec.Command(os.Args[0], append([]string{"run", "--set", "app.port=0"}, args...)...)
	r.cmd.Env = append(os.Environ(), asProgram+"=1")
	out, err := r.cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, r.cmd.Start())
	t.Cleanup(func() { _ = r.cmd.Process.Kill() })
	found := make(chan []string, 1)
	go func() {
		defer close(r.read)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			r.mu.Lock()
			r.said.WriteString(lines.Text() + "\n")
			r.mu.Unlock()
			if m := servedAt.FindStringSubmatch(lines.Text()); m != nil {
				select {
				case found <- m:
				default: // the next address
				}
			}
		}
	}()
	select {
	case m := <-found:
		r.address, r.url = m[1], m[2]
	case <-r.read:
		require.Fail(t, "it does not run", r.log())
	}
	return r
}

func (r *running) log() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.said.String()
}

// get reads a page; the status is 0 when nobody answers.
func (r *running) get(path string) (status int, body string) {
	return r.open(r.url + path)
}

func (r *running) open(address string) (status int, body string) {
	answer, err := r.client.Get(address)
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(r.t, err)
	return answer.StatusCode, string(text)
}

// eventually waits as long as a loaded machine may take.
func (r *running) eventually(what string, ok func() bool) {
	r.t.Helper()
	for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if ok() {
			return
		}
	}
	require.Fail(r.t, what, r.log())
}

func (r *running) ready() {
	r.t.Helper()
	r.eventually("it is ready", func() bool { status, _ := r.get("readyz"); return status == http.StatusOK })
}

// Stop asks it to stop, and waits for its end in good order.
func (r *running) stop() {
	r.t.Helper()
	require.NoError(r.t, r.cmd.Process.Signal(syscall.SIGTERM))
	<-r.read
	require.NoError(r.t, r.cmd.Wait(), r.log())
}

func (r *running) kill() {
	_ = r.cmd.Process.Kill()
	<-r.read
	_ = r.cmd.Wait()
}

// statusOf is what status says of the data.
func statusOf(t *testing.T, args ...string) view.Status {
	t.Helper()
	r := postroomd(t, append([]string{"status", "--json"}, args...)...)
	require.Equal(t, 0, r.status, r.stderr)
	var s view.Status
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &s))
	return s
}

// idle reports whether all mail of the server is taken in and all jobs have ended.
func idle(t *testing.T, server *gmailtest.Server, args ...string) bool {
	t.Helper()
	s := statusOf(t, args...)
	total, err := server.Count(t.Context())
	require.NoError(t, err)
	return len(s.Accounts) == 1 && s.Accounts[0].Messages == total && s.Accounts[0].Backfill == "done" &&
		s.Jobs["queued"]+s.Jobs["running"] == 0
}

// The daemon takes in what is there, follows what comes, serves its health, carries out what people ask for, and stops.
func TestDaemonKeepsAMailboxSorted(t *testing.T) {
	server := newGmail(t)
	file, dir := configure(t, server, "[app]\nenv = \"prod\"\n[schedules]\nhistory_sync = \"1s\"\n"),
		filepath.Join(t.TempDir(), "data")
	where := []string{"--config", file, "--data", dir}
	r := start(t, where...)
	r.ready()
	status, body := r.get("healthz")
	require.Equal(t, http.StatusOK, status)
	require.JSONEq(t, fmt.Sprintf(`{"status": "healthy", "version": %q, "database": "ok"}`, telemetry.Version()), body)
	port := r.url[strings.LastIndex(strings.TrimRight(r.url, "/"), ":")+1 : len(r.url)-1]
	require.Equal(t, 0, postroomd(t, "healthcheck", "--set", "app.port="+port).status)
	for _, path := range []string{"", "queue/", "queue/jobs", "events", "static/base.css"} {
		status, _ = r.get(path)
		require.Equal(t, http.StatusUnauthorized, status, path)
	}
	status, body = r.open(r.address)
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, "Postroom")
	status, _ = r.get("queue/jobs")
	require.Equal(t, http.StatusOK, status)
	status, _ = r.get("debug/pprof/")
	require.Equal(t, http.StatusNotFound, status, "nobody asked for profiles")
	r.eventually("all is sorted", func() bool { return idle(t, server, where...) })

	_, err := server.Deliver(t.Context(),
		[]byte("From: a@example.com\r\nSubject: late\r\nMessage-ID: <late@example.com>\r\n\r\nhello"))
	require.NoError(t, err)
	r.eventually("new mail is taken in", func() bool { return idle(t, server, where...) })

	id := idPattern.FindString(postroomd(t, append([]string{"approvals", "list"}, where...)...).stdout)
	approved := postroomd(t, append([]string{"approvals", "approve", id}, where...)...)
	require.Equal(t, 0, approved.status, approved.stderr)
	r.eventually("the approved is done", func() bool {
		return strings.Contains(postroomd(t, append([]string{"actions", "--limit", "100"}, where...)...).stdout, id) &&
			idle(t, server, where...)
	})
	require.Contains(t, actionState(t, id, where), "completed")

	other := postroomd(t, append([]string{"run", "--once", "--set", "app.port=0"}, where...)...)
	require.Equal(t, exitFailed, other.status)
	require.Contains(t, other.stderr, "another postroomd is working")

	r.stop()
	for line := range strings.Lines(r.log()) {
		require.True(t, json.Valid([]byte(line)), line)
	}
	require.NotContains(t, r.log(), "hunter2")
}

func actionState(t *testing.T, id string, where []string) string {
	t.Helper()
	for line := range strings.Lines(postroomd(t, append([]string{"actions", "--limit", "100"}, where...)...).stdout) {
		if strings.Contains(line, id) {
			return line
		}
	}
	return ""
}

// The daemon is killed at random instants, over and over, and ends where run --once does that nobody disturbs.
func TestKilledDaemonLosesAndDoublesNothing(t *testing.T) {
	t.Parallel()
	const kills = 8
	undisturbed := newGmail(t)
	want := runOnce(t, "--config", configure(t, undisturbed, ""), "--data", filepath.Join(t.TempDir(), "data"))
	wantMail := mailOf(t, undisturbed)

	server := newGmail(t)
	where := []string{"--config", configure(t, server, ""), "--data", filepath.Join(t.TempDir(), "data")}
	for range kills {
		r := start(t, where...)
		time.Sleep(time.Duration(rand.Int64N(int64(time.Second)))) // the instant of the kill is the test
		r.kill()
	}
	got := runOnce(t, where...)
	got.New, got.Seconds, got.Jobs = want.New, want.Seconds, want.Jobs
	require.Equal(t, want, got)
	require.Equal(t, wantMail, mailOf(t, server))
}

func mailOf(t *testing.T, server *gmailtest.Server) string {
	t.Helper()
	mail, err := server.Snapshot(t.Context())
	require.NoError(t, err)
	text, err := json.Marshal(mail)
	require.NoError(t, err)
	return string(text)
}

// Several daemons share one PostgreSQL database: each message is taken in and decided about once.
func TestDaemonsShareAPostgres(t *testing.T) {
	t.Parallel()
	dsn := dbtest.MigratedDSN(t)
	undisturbed := newGmail(t)
	want := runOnce(t, "--config", configure(t, undisturbed, ""), "--data", filepath.Join(t.TempDir(), "data"))

	server := newGmail(t)
	file := configure(t, server, fmt.Sprintf("database = %q\n", inEnv(t, dsn))+"[schedules]\nhistory_sync = \"1s\"\n")
	where := []string{"--config", file}
	first, second, third := start(t, where...), start(t, where...), start(t, where...)
	first.ready()
	second.ready()
	third.kill()
	first.eventually("all is sorted", func() bool { return idle(t, server, where...) })
	first.stop()
	second.stop()
	got := runOnce(t, where...)
	got.New, got.Seconds, got.Jobs = want.New, want.Seconds, want.Jobs
	require.Equal(t, want, got)
	require.Equal(t, mailOf(t, undisturbed), mailOf(t, server))
}

// Traces and metrics arrive at the endpoint, and log lines name their span.
// systemd hears when it is ready, and when it stops.
// A snoozed message sleeps for days: a run that is to end when all is done does not wait for it.
func TestRunOnceWaitsForNoSnooze(t *testing.T) {
	server, err := gmailtest.Open(t.Context(), gmailtest.Config{Dir: filepath.Join(t.TempDir(), "gmail"),
		Email: sample.Owner})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	_, err = server.Deliver(t.Context(),
		[]byte("From: a@example.com\r\nSubject: later\r\nMessage-ID: <later@example.com>\r\n\r\nhello"))
	require.NoError(t, err)
	rules := filepath.Join(t.TempDir(), "rules.yaml")
	require.NoError(t, os.WriteFile(rules, []byte(`rules:
  - name: Later
    condition:
      type: subject_regex
      value: later
    action: snooze
    parameters:
      amount: 3
      units: days
`), 0o600))
	where := []string{"--config", configure(t, server, ""), "--rules", rules, "--data", filepath.Join(t.TempDir(), "data")}
	for range 2 {
		sum := runOnce(t, where...)
		require.Equal(t, 1, sum.Jobs["queued"], "the job that wakes it")
		require.Zero(t, sum.Jobs["running"]+sum.Jobs["failed"])
	}
}

// Without any poll, new mail is heard of by push; nobody else may post there, and the proxy's name leads nowhere else.
func TestNewMailIsHeardOfByPush(t *testing.T) {
	const topic, account = "projects/p/topics/gmail", "push@p.iam.gserviceaccount.com"
	server := newGmail(t)
	t.Setenv("POSTROOMD_GMAIL_AUTH_SERVER", server.URL())
	t.Setenv("POSTROOMD_GMAIL_TOPIC", topic)
	t.Setenv("POSTROOMD_GMAIL_PUSH_AUDIENCE", "me")
	where := []string{"--config", configure(t, server, "[schedules]\nhistory_sync = \"0s\"\n"), "--data",
		filepath.Join(t.TempDir(), "data")}
	r := postroomd(t, append([]string{"run"}, where...)...)
	require.Equal(t, exitUsage, r.status)
	require.Contains(t, r.stderr, "of gmail.push_audience and gmail.push_account one is set")

	t.Setenv("POSTROOMD_GMAIL_PUSH_ACCOUNT", account)
	d := start(t, where...)
	require.NoError(t, server.PushTo(gmailtest.PushTarget{Topic: topic, URL: d.url + "push/gmail", Audience: "me",
		ServiceAccount: account}))
	d.ready()
	d.eventually("all is sorted, and watched", func() bool {
		return idle(t, server, where...) && server.Counts()[gmailtest.Watch] > 0
	})
	_, err := server.Deliver(t.Context(),
		[]byte("From: a@example.com\r\nSubject: late\r\nMessage-ID: <late@example.com>\r\n\r\nhello"))
	require.NoError(t, err)
	d.eventually("new mail is taken in", func() bool { return idle(t, server, where...) })

	post := func(path string) int {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.url+path, strings.NewReader("{}"))
		require.NoError(t, err)
		request.Host = "mail.example.org"
		answer, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		return answer.StatusCode
	}
	require.Equal(t, http.StatusUnauthorized, post("push/gmail"))
	require.Equal(t, http.StatusMisdirectedRequest, post("healthz"))
	d.stop()
}
