package chaos

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/postroom-go/postroom/queue"
)

// workEnv has the orders of a process that is there to be killed.
const workEnv = "POSTROOM_TEST_CHAOS_TARGET"

// Orders are what a worker is told.
type orders struct {
	Place place
	// StopAt is the call at which the worker stops, says so, and waits for its end: "before messages.send" or "after
	// messages.send", by what the path of the request ends with. Empty: it works on.
	StopAt string
	// Lease is how long its jobs are its own after its end.
	Lease time.Duration
}

func TestMain(m *testing.M) {
	text := os.Getenv(workEnv)
	if text == "" {
		goleak.VerifyTestMain(m)
		return
	}
	var o orders
	err := json.Unmarshal([]byte(text), &o)
	if err == nil {
		err = o.work(context.Background())
	}
	fmt.Fprintln(os.Stderr, "the worker ends by itself:", err)
	os.Exit(1)
}

// work says line by line what happens, until it is killed.
func (o orders) work(ctx context.Context) error {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // open as long as the test lives
		os.Exit(1)
	}()
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.MaxIdleConnsPerHost = 16
	office, err := open(ctx, o.Place, &teller{base, o.StopAt})
	if err != nil {
		return err
	}
	d, err := office.dispatcher(queue.DispatcherConfig{Lease: o.Lease, Middleware: []queue.Middleware{tell}})
	if err != nil {
		return err
	}
	say("up")
	return d.Run(ctx)
}

// say writes one line in one piece.
func say(words ...any) { fmt.Fprintln(os.Stdout, words...) }

func tell(next queue.HandlerFunc) queue.HandlerFunc {
	return func(ctx context.Context, a *queue.Attempt) error {
		err := next(ctx, a)
		say("ended", a.Job.Type)
		return err
	}
}

// A teller tells of calls.
type teller struct {
	http.RoundTripper
	stopAt string
}

func (t *teller) RoundTrip(r *http.Request) (*http.Response, error) {
	t.pass("before", r)
	answer, err := t.RoundTripper.RoundTrip(r)
	t.pass("after", r)
	return answer, err
}

// stopped begins the line of a worker that has stopped.
const stopped = "stopped"

func (t *teller) pass(when string, r *http.Request) {
	point := when + " " + r.URL.Path
	if t.stopAt != "" && strings.HasPrefix(t.stopAt, when) &&
		strings.HasSuffix(point, strings.TrimPrefix(t.stopAt, when+" ")) {
		say(stopped, point)
		select {} // until it is killed
	}
	say(point)
}

// A worker is a process that works until it is killed.
type worker struct {
	process *exec.Cmd
	lines   chan string // closed at its end
}

func start(o orders) (*worker, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	process := exec.Command(os.Args[0], "-test.run=^$") // this program; it is killed by hand
	process.Env = append(os.Environ(), workEnv+"="+string(text))
	process.Stderr = os.Stderr
	if _, err := process.StdinPipe(); err != nil { // Wait closes it
		return nil, err
	}
	out, err := process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := process.Start(); err != nil {
		return nil, err
	}
	w := &worker{process, make(chan string)}
	go func() {
		defer close(w.lines)
		for said := bufio.NewScanner(out); said.Scan(); {
			w.lines <- said.Text()
		}
	}()
	return w, nil
}

// kill ends the process, and returns when it has ended.
func (w *worker) kill() error {
	if err := w.process.Process.Kill(); err != nil {
		return err
	}
	for range w.lines { // what it said before its end
	}
	err := w.process.Wait()
	if w.process.ProcessState.Exited() {
		return fmt.Errorf("the process ended by itself: %w", err)
	}
	return nil
}

// idle is how long a worker says nothing when it has nothing to do, or waits for the time of a job.
const idle = 250 * time.Millisecond

// workAndKill lets a worker work until it has said so many lines, or has nothing to say, and kills it. It calls
// meanwhile after each line, and whenever the worker is idle; as long as that returns true, the worker gets more
// time.
func workAndKill(o orders, lines int, meanwhile func() (more bool)) error {
	w, err := start(o)
	if err != nil {
		return err
	}
	if _, ok := <-w.lines; !ok { // it is up
		return fmt.Errorf("the process ended by itself: %w", w.process.Wait())
	}
	for more := true; lines > 0 && more; lines-- {
		select {
		case _, ok := <-w.lines:
			if !ok {
				return fmt.Errorf("the process ended by itself: %w", w.process.Wait())
			}
			meanwhile()
		case <-time.After(idle):
			more = meanwhile()
		}
	}
	return w.kill()
}
