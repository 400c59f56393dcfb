package main

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
)

// TestMain is the program itself in a process that a test starts.
func TestMain(m *testing.M) {
	if os.Getenv("SERVICE_ITSELF") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// letters are what was said, and may fail.
type letters struct {
	said []string
	err  error
}

func (l *letters) say(_ context.Context, text string) error {
	if l.err == nil {
		l.said = append(l.said, text)
	}
	return l.err
}

func newQueue(t *testing.T) *queue.Queue {
	t.Helper()
	q := queuetest.New(t)
	require.NoError(t, migrate(t.Context(), q.DB()))
	return q
}

// A request enqueues what it should: no worker is needed to test that.
func TestANewUserIsToBeGreeted(t *testing.T) {
	q := newQueue(t)
	for range 2 { // a client that asks again
		answer := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/users?name=Ada+Lovelace", nil)
		createUser(q)(answer, r)
		require.Equal(t, http.StatusCreated, answer.Code, answer.Body)
	}
	queuetest.RequireEnqueued(t, q, Greet.New(Welcome{"Ada", "Lovelace"}, nil))
	queuetest.RequireNotEnqueued(t, q, Greet.New(Welcome{"Ben", ""}, nil))
}

// A handler is tested one attempt at a time.
func TestGreeting(t *testing.T) {
	q := newQueue(t)
	_, err := q.Enqueue(t.Context(), Greet.New(Welcome{"Ada", "Lovelace"}, nil))
	require.NoError(t, err)
	l := &letters{err: errors.New("the post is on strike")}
	register := func(d *queue.Dispatcher) { queue.Handle(d, Greet, greeter(l.say).handle) }

	job := queuetest.WorkOne(t, q, register)
	require.Equal(t, queue.StateQueued, job.State, "it is tried again")
	require.Equal(t, "the post is on strike", job.LastError)

	l.err = nil
	require.Equal(t, 1, queuetest.PromoteScheduled(t, q))
	job = queuetest.WorkOne(t, q, register)
	require.Equal(t, queue.StateCompleted, job.State, job.LastError)
	require.Equal(t, []string{"Dear Ada Lovelace, welcome!"}, l.said)
}

// OldWelcome is the payload as the version before has it.
type OldWelcome struct {
	Name string `json:"name"`
}

const oldGreet queue.Type[OldWelcome] = "user.welcome"

// While a deployment goes on, each version meets the jobs of the other.
func TestTwoVersionsSideBySide(t *testing.T) {
	q := newQueue(t)
	_, err := q.Enqueue(t.Context(), oldGreet.New(OldWelcome{"Ada Lovelace"}, nil))
	require.NoError(t, err)
	l := &letters{}
	job := queuetest.WorkOne(t, q, func(d *queue.Dispatcher) { queue.Handle(d, Greet, greeter(l.say).handle) })
	require.Equal(t, queue.StateCompleted, job.State, job.LastError)
	require.Equal(t, []string{"Dear Ada Lovelace, welcome!"}, l.said, "the new version reads the old job")

	// The old version leaves a new job to others, and that counts as nothing.
	_, err = q.Enqueue(t.Context(), Greet.New(Welcome{"Ben", "Ali"}, nil))
	require.NoError(t, err)
	job = queuetest.WorkOne(t, q, func(d *queue.Dispatcher) {
		queue.Handle(d, oldGreet, func(ctx context.Context, w *queue.Work[OldWelcome]) error { return l.say(ctx, "oops") })
	})
	require.Equal(t, queue.StateQueued, job.State)
	require.Zero(t, job.Failures+job.Interruptions+job.Crashes)
	require.Len(t, l.said, 1)
}

// The program in a process of its own: migrated, asked, and stopped by SIGTERM.
func TestDeployment(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) { deploy(t, filepath.Join(t.TempDir(), "service.db")) })
	t.Run("postgres", func(t *testing.T) { deploy(t, dbtest.PostgresDSN(t)) })
}

func deploy(t *testing.T, dsn string) {
	t.Helper()
	out, err := command(t, dsn, "migrate").CombinedOutput()
	require.NoError(t, err, string(out))

	service := command(t, dsn)
	stderr, err := service.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, service.Start())
	t.Cleanup(func() { service.Process.Kill() })
	lines := bufio.NewScanner(stderr)
	address, _ := wait(t, lines, "listening on ")
	base := "http://" + address

	require.Equal(t, http.StatusOK, get(t, base+"/health/ready"))
	resp, err := http.PostForm(base+"/users", url.Values{"name": {"Ada Lovelace"}})
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusCreated, resp.StatusCode)
	_, greeted := wait(t, lines, "Dear Ada Lovelace")
	require.True(t, greeted)

	require.NoError(t, service.Process.Signal(syscall.SIGTERM))
	for lines.Scan() { // until the process has closed it
		t.Log(lines.Text())
	}
	require.NoError(t, service.Wait(), "status 0")
}

func command(t *testing.T, dsn string, args ...string) *exec.Cmd {
	t.Helper()
	itself, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), itself, args...)
	cmd.Env = append(os.Environ(), "SERVICE_ITSELF=1", "DATABASE="+dsn, "LISTEN=127.0.0.1:0")
	return cmd
}

// wait reads lines until one has the text, and returns what comes after it.
func wait(t *testing.T, lines *bufio.Scanner, text string) (after string, found bool) {
	t.Helper()
	for !found && lines.Scan() {
		t.Log(lines.Text())
		_, after, found = strings.Cut(lines.Text(), text)
	}
	return after, found
}

func get(t *testing.T, address string) (status int) {
	t.Helper()
	resp, err := http.Get(address)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode
}
