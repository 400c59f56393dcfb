package drafting_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/postroom-go/postroom/gmail/drafting"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/internal/worldtest"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/postgres"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// lifeEnv has the orders of a process that follows a life, and may be killed.
const lifeEnv = "POSTROOM_TEST_LIFE_TARGET"

// Orders are what a process is told that runs the jobs.
type orders struct {
	Dialect, Database string // a file, or a URL
	Gmail             string // its URL
	Ours              bool   // also the jobs of package drafting
	KillAt            int    // the request at which it kills itself; 0: none
	After             bool   // when the request was answered, and not before it is made
}

func (o *orders) open(ctx context.Context) (queue.DB, func() error, error) {
	if o.Dialect == "postgres" {
		db, err := postgres.Open(ctx, o.Database, nil)
		if err != nil {
			return nil, nil, err
		}
		return db, db.Close, nil
	}
	db, err := sqlite.Open(ctx, o.Database, &sqlite.Config{Durability: sqlite.Normal})
	if err != nil {
		return nil, nil, err
	}
	return db, db.Close, nil
}

// A faulty is a tester outside tests.
type faulty struct {
	ctx context.Context //nolint:containedctx // as testing.T has it
}

func (f faulty) Errorf(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
func (f faulty) FailNow()                          { os.Exit(1) }
func (f faulty) Helper()                           {}
func (f faulty) Context() context.Context          { return f.ctx }

// follow runs all jobs, and prints what the Writer is asked.
func (o *orders) follow(ctx context.Context) error {
	db, closeDB, err := o.open(ctx)
	if err != nil {
		return err
	}
	w := &world{t: faulty{ctx}}
	w.open(db, gmailapi.ClientConfig{Endpoint: o.Gmail, Timeout: 3 * time.Second,
		HTTPClient: &http.Client{Transport: &killer{at: int64(o.KillAt), after: o.After}}})
	w.write = func(r drafting.Request) (string, error) {
		line, err := json.Marshal([]string{r.Text, r.Instruction})
		fmt.Fprintln(os.Stdout, string(line))
		return fmt.Sprintf("Hello,\n\nthis is text %d of process %d.", len(w.requests()), os.Getpid()), err
	}
	w.work(o.Ours, queue.DispatcherConfig{PollInterval: 10 * time.Millisecond, Lease: time.Second})
	return closeDB()
}

// A killer ends the process, as kill -9 does, at a request.
type killer struct {
	at    int64
	after bool
	count atomic.Int64
}

func (k *killer) RoundTrip(r *http.Request) (*http.Response, error) {
	now := k.count.Add(1) == k.at
	if now && !k.after {
		k.kill()
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	if now {
		k.kill()
	}
	return answer, err
}

func (k *killer) kill() {
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Kill()
	}
	select {}
}

// spawn runs the jobs in a process, and reports whether it was killed.
func (w *world) spawn(o orders) (killed bool) {
	w.t.Helper()
	text, err := json.Marshal(o)
	require.NoError(w.t, err)
	child := exec.CommandContext(w.t.Context(), os.Args[0])
	child.Env = append(os.Environ(), lifeEnv+"="+string(text))
	var out, errs bytes.Buffer
	child.Stdout, child.Stderr = &out, &errs
	err = child.Run()
	for lines := bufio.NewScanner(&out); lines.Scan(); {
		var said []string
		if json.Unmarshal(lines.Bytes(), &said) == nil && len(said) == 2 {
			w.asked = append(w.asked, drafting.Request{Text: said[0], Instruction: said[1]})
		}
	}
	if ended, is := errors.AsType[*exec.ExitError](err); is && o.KillAt > 0 && !ended.Exited() {
		return true
	}
	require.NoError(w.t, err, errs.String())
	return false
}

// Whatever a person does, and wherever the process is killed that follows it: as in TestAnyOrderOfAPersonsActions.
// POSTROOM_TEST_LIVES_KILLED is the number of lives for each database, in each of which every second process is killed.
func TestAnyOrderOfAPersonsActionsWithKills(t *testing.T) {
	dbtest.Checks(t, number(t, "POSTROOM_TEST_LIVES_KILLED", 1))
	for _, dialect := range []string{"sqlite", "postgres"} {
		t.Run(dialect, func(t *testing.T) {
			o := orders{Dialect: dialect, Database: filepath.Join(t.TempDir(), "life.db")}
			if dialect == "postgres" {
				o.Database = dbtest.PostgresDSN(t)
			}
			db, closeDB, err := o.open(t.Context())
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, closeDB()) })
			w := newWorld(t, db)
			o.Gmail = w.server.URL()
			killed := 0
			ann := worldtest.OpenInbox(t, w.server, "ann@example.com")
			var lives atomic.Int64
			rapid.Check(t, func(t *rapid.T) {
				w.elsewhere = func(ours bool) {
					o.Ours, o.KillAt = ours, rapid.IntRange(1, 10).Draw(t, "killed at")
					o.After = rapid.Bool().Draw(t, "after the answer")
					if w.spawn(o) {
						killed++
						o.KillAt = 0
						require.False(t, w.spawn(o))
					}
				}
				live(t, w, ann, lives.Add(1), nil, func(name string) bool {
					return !strings.Contains(name, "meanwhile") && !strings.Contains(name, "an event") &&
						!strings.Contains(name, "days")
				})
			})
			w.t, w.elsewhere = t, nil
			if lives.Load() >= 3 { // the processes of a single life may end before what they are to be killed at
				require.Positive(t, killed)
			}
			t.Log(killed, "processes were killed")
		})
	}
}
