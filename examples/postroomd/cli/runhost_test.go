package cli

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
)

func TestHealthWithoutDatabase(t *testing.T) {
	server, dir := newGmail(t), filepath.Join(t.TempDir(), "data")
	r := start(t, "--config", configure(t, server, ""), "--data", dir)
	r.ready()
	require.NoError(t, os.Rename(environment.Folder(dir).Database(), environment.Folder(dir).Database()+".gone"))
	port := r.url[strings.LastIndex(strings.TrimRight(r.url, "/"), ":")+1 : len(r.url)-1]
	r.eventually("the check fails", func() bool {
		return postroomd(t, "healthcheck", "--set", "app.port="+port).status == exitFailed
	})
	var body string
	r.eventually("it is unhealthy", func() bool {
		var status int
		status, body = r.get("healthz")
		return status == http.StatusServiceUnavailable
	})
	require.Contains(t, body, `"status": "unhealthy"`)
	status, _ := r.get("readyz")
	require.Equal(t, http.StatusServiceUnavailable, status)
	r.kill()
}

func TestTelemetryArrives(t *testing.T) {
	var mu sync.Mutex
	bodies := map[string][]byte{}
	receiver := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		bodies[r.URL.Path] = append(bodies[r.URL.Path], body...)
	})}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go receiver.Serve(listener)
	t.Cleanup(func() { require.NoError(t, receiver.Close()) })

	server, dir := newGmail(t), filepath.Join(t.TempDir(), "data")
	where := []string{"--config", configure(t, server, "[app]\nservice_name = \"robot\"\n"), "--data", dir}
	t.Setenv("OTLP_ENDPOINT", "http://"+listener.Addr().String())
	r := start(t, where...)
	r.ready()
	r.eventually("all is sorted", func() bool { return idle(t, server, where...) })
	r.stop()
	mu.Lock()
	defer mu.Unlock()
	for _, text := range []string{"ingest.gmail", "robot", "service.version", "deployment.environment",
		"host.arch", "os.type"} {
		require.True(t, bytes.Contains(bodies["/v1/traces"], []byte(text)), "%q in the traces", text)
	}
	require.NotEmpty(t, bodies["/v1/metrics"])
}

// systemd returns what says what the daemons that start after it have told systemd.
func systemd(t *testing.T) (hear func() string) {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "notify")
	listener, err := new(net.ListenConfig).ListenPacket(t.Context(), "unixgram", socket)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, listener.Close()) })
	t.Setenv("NOTIFY_SOCKET", socket)
	return func() string {
		text := make([]byte, 100)
		n, _, err := listener.ReadFrom(text)
		require.NoError(t, err)
		return string(text[:n])
	}
}

func TestSystemdIsTold(t *testing.T) {
	hear := systemd(t)
	r := start(t, "--config", configure(t, newGmail(t), ""), "--data", filepath.Join(t.TempDir(), "data"))
	require.Equal(t, "READY=1", hear())
	r.stop()
	require.Equal(t, "STOPPING=1", hear())
}

// While the jobs end that are under way, nobody is sent to a daemon that takes up no more.
func TestAStopIsToldBeforeJobsEnd(t *testing.T) {
	hear, m, gate := systemd(t), newTeatime(t, "{action: archive}", "", letterNamed(1)), gmailtest.NewGate()
	m.server.Fault(gmailtest.Fault{Method: gmailtest.MessagesGet, Gate: gate})
	r := start(t, m.where...)
	r.ready()
	require.Equal(t, "READY=1", hear())
	<-gate.Arrived()
	require.NoError(t, r.cmd.Process.Signal(syscall.SIGTERM))
	r.eventually("it is not ready", func() bool {
		status, _ := r.get("readyz")
		return status == http.StatusServiceUnavailable
	})
	_, body := r.get("readyz")
	require.Contains(t, body, "postroomd stops")
	status, _ := r.get("healthz")
	require.Equal(t, http.StatusOK, status, "it is in good health still")
	require.Equal(t, "STOPPING=1", hear())
	require.Contains(t, r.log(), "postroomd stops")
	gate.Open()
	<-r.read
	require.NoError(t, r.cmd.Wait(), r.log())
	require.Equal(t, 1, statusOf(t, m.where...).Accounts[0].Messages, "the job has ended")
}

func TestManualAndCompletion(t *testing.T) {
	dir := t.TempDir()
	r := postroomd(t, "man", dir)
	require.Equal(t, 0, r.status, r.stderr)
	page, err := os.ReadFile(filepath.Join(dir, "postroomd-run.1"))
	require.NoError(t, err)
	require.Contains(t, string(page), "--once")
	for _, shell := range []string{"bash", "zsh", "fish"} {
		r = postroomd(t, "completion", shell)
		require.Equal(t, 0, r.status, r.stderr)
		require.Contains(t, r.stdout, "postroomd")
	}
}

// A mailbox that is removed while the daemon runs is not added again by what looks after the mailboxes.
func TestARemovedMailboxStaysAway(t *testing.T) {
	cfg := config.Default()
	cfg.Gmail = config.Gmail{Address: sample.Owner, Token: "token", Endpoint: newGmail(t).URL(), SpamAndTrash: true}
	s := &environment.Environment{Folder: environment.Folder(t.TempDir()), Config: cfg}
	require.NoError(t, s.Prepare())
	h, err := app.New(t.Context(), app.Config{Environment: s})
	require.NoError(t, err)
	defer func() { require.NoError(t, h.Close()) }()
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- h.Run(ctx) }()
	require.Eventually(t, func() bool { return h.NotReady(ctx) == "" }, 5*time.Minute, 10*time.Millisecond)
	accounts, err := h.Mail.Accounts(ctx)
	require.NoError(t, err)
	require.Len(t, accounts, 1)
	require.NoError(t, h.RemoveAccount(ctx, accounts[0].ID, "ada"))
	stop()
	require.NoError(t, <-ran)
	accounts, err = h.Mail.Accounts(t.Context())
	require.NoError(t, err)
	require.Empty(t, accounts)
}

// Who waits for a daemon reads what it waits for.
func TestReadinessSaysWhatIsMissing(t *testing.T) {
	server, dir := newGmail(t), filepath.Join(t.TempDir(), "data")
	server.Fault(gmailtest.Fault{Method: gmailtest.LabelsList, Status: http.StatusNotImplemented, Times: 1000})
	r := start(t, "--config", configure(t, server, ""), "--data", dir)
	var answer view.Health
	r.eventually("it says what is missing", func() bool {
		status, body := r.get("readyz")
		require.Equal(t, http.StatusServiceUnavailable, status)
		answer = read[view.Health](t, body)
		return strings.Contains(answer.Accounts, "the last attempt failed")
	})
	require.Equal(t, "not ready", answer.Status)
	require.Equal(t, "ok", answer.Database)
	require.Regexp(t, sample.Owner+
		` is being set up: job [0-9a-f-]+ \(labels.sync.gmail\) is \w+: the last attempt failed: .*labels`, answer.Accounts)
	status, body := r.get("healthz")
	require.Equal(t, http.StatusOK, status)
	require.NotContains(t, body, "accounts")
	r.kill()
}
