package notify

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/safety/limits"
)

func TestMain(m *testing.M) {
	dbtest.Main(m, queue.Migrate, Migrate, mailstore.Migrate, safety.Migrate)
}

// A world is a database, and an ntfy that keeps what it gets.
type world struct {
	*testing.T
	db    queue.DB
	queue *queue.Queue
	topic *httptest.Server

	mu       sync.Mutex
	got      []post
	statuses []int // of the next answers; then 200
}

type post struct {
	header http.Header
	body   string
}

func newWorld(t *testing.T, db queue.DB) *world {
	t.Helper()
	w := &world{T: t, db: db}
	require.NoError(t, queue.Migrate(t.Context(), db))
	require.NoError(t, Migrate(t.Context(), db))
	q, err := queue.New(db, nil)
	require.NoError(t, err)
	w.queue, w.topic = q, httptest.NewServer(http.HandlerFunc(w.receive))
	t.Cleanup(w.topic.Close)
	return w
}

func (w *world) receive(answer http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.statuses) > 0 {
		answer.WriteHeader(w.statuses[0])
		w.statuses = w.statuses[1:]
		return
	}
	w.got = append(w.got, post{r.Header.Clone(), string(body)})
}

func (w *world) posts() []post {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]post(nil), w.got...)
}

// notifier makes one as a process has it, whose clock stands at the instant.
func (w *world) notifier(now time.Time, quiet ...limits.QuietSpan) *Notifier {
	w.Helper()
	n, err := New(Config{Queue: w.queue, Doors: []Door{NtfyJobs}, Quiet: limits.Quiet{Spans: quiet},
		Now: func() time.Time { return now }})
	require.NoError(w, err)
	return n
}

func (w *world) tell(n *Notifier, notice Notice) {
	w.Helper()
	require.NoError(w, w.db.Write(w.Context(), func(ctx context.Context, tx queue.Tx) error {
		return n.Tell(ctx, tx, notice)
	}))
}

func (w *world) jobs() []queue.Job {
	w.Helper()
	list, err := w.queue.Jobs(w.Context(), queue.Filter{Types: []string{string(JobNtfy)}})
	require.NoError(w, err)
	return list
}

// work runs jobs until the condition holds.
func (w *world) work(until func() bool) {
	w.Helper()
	d, err := queue.NewDispatcher(w.queue, nil)
	require.NoError(w, err)
	topic := NewNtfy(w.topic.URL+"/topic", "hunter2", asItIs)
	defer topic.Close()
	topic.Register(d)
	ctx, stop := context.WithCancel(w.Context())
	ran := make(chan error, 1)
	go func() { ran <- d.Run(ctx) }()
	require.Eventually(w, until, 5*time.Minute, 5*time.Millisecond)
	stop()
	require.NoError(w, <-ran)
}

func asItIs(_ context.Context, n Notice) (Notice, error) { return n, nil }

var noon = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

func TestNobodyIsToldTwice(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		w := newWorld(t, db)
		stopped := Notice{Kind: Stopped, Subject: "1", Title: "Everything is stopped – by Zoë", Text: "by Zoë: enough"}
		var both sync.WaitGroup
		for range 2 { // two daemons see it at once
			both.Go(func() { w.tell(w.notifier(noon), stopped) })
		}
		both.Wait()
		require.Len(t, w.jobs(), 1)
		w.work(func() bool { return len(w.posts()) == 1 })

		w.tell(w.notifier(noon), stopped) // after a restart, when the job has ended
		require.Len(t, w.jobs(), 1)
		w.tell(w.notifier(noon), Notice{Kind: Stopped, Subject: "2"})
		w.tell(w.notifier(noon), Notice{Kind: RuleDisabled, Subject: "1"})
		require.Len(t, w.jobs(), 3)
	})
}

func TestWhatIsRolledBackIsNotTold(t *testing.T) {
	w := newWorld(t, dbtest.SQLite(t))
	notice, n := Notice{Kind: Stopped, Subject: "1"}, w.notifier(noon)
	require.ErrorIs(t, w.db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		require.NoError(t, n.Tell(ctx, tx, notice))
		return io.ErrUnexpectedEOF
	}), io.ErrUnexpectedEOF)
	require.Empty(t, w.jobs())
	w.tell(n, notice)
	require.Len(t, w.jobs(), 1)
}

func TestInQuietHoursNobodyIsToldOfWhatCanWait(t *testing.T) {
	w := newWorld(t, dbtest.SQLite(t))
	night := limits.QuietSpan{From: 22 * time.Hour, To: 7 * time.Hour}
	evening := noon.AddDate(1, 0, 0).Add(11 * time.Hour) // in years to come: a job of the past is due at once
	n := w.notifier(evening, night)
	w.tell(n, Notice{Kind: RuleDisabled, Subject: "1"})
	require.Equal(t, evening.Add(8*time.Hour), w.jobs()[0].NotBefore.UTC())

	for i, kind := range []Kind{GrantDied, Stopped} {
		w.tell(n, Notice{Kind: kind, Subject: "2"})
		list := w.jobs()
		require.Len(t, list, i+2)
		require.WithinDuration(t, time.Now(), list[0].NotBefore, time.Hour, "%s does not wait", kind)
	}
	w.tell(w.notifier(noon.AddDate(1, 0, 0), night), Notice{Kind: RuleDisabled, Subject: "by day"})
	require.WithinDuration(t, time.Now(), w.jobs()[0].NotBefore, time.Hour)
}

// A notice that was due by day and failed is not tried again at night, whatever brings it; one that cannot wait is.
func TestARetryInQuietHoursWaits(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		w := newWorld(t, db)
		day := noon.AddDate(-1, 0, 0)
		clock := day
		door := func(n Notice) []queue.NewJob {
			return append(NtfyJobs(n), queue.NewJob{Type: "host.door", Payload: n.Subject})
		}
		n, err := New(Config{Queue: w.queue, Doors: []Door{door}, Now: func() time.Time { return clock },
			Quiet: limits.Quiet{Spans: []limits.QuietSpan{{From: 22 * time.Hour, To: 7 * time.Hour}}}})
		require.NoError(t, err)
		w.tell(n, Notice{Kind: RuleDisabled, Subject: "1", Text: "may wait"})
		w.tell(n, Notice{Kind: GrantDied, Subject: "2", Text: "cannot"})

		var opened sync.Map
		run := func(until func() bool) {
			d, err := queue.NewDispatcher(w.queue, &queue.DispatcherConfig{PollInterval: time.Millisecond,
				Middleware: []queue.Middleware{n.WaitForQuiet}})
			require.NoError(t, err)
			topic := NewNtfy(w.topic.URL, "", asItIs)
			defer topic.Close()
			topic.Register(d)
			queue.Handle(d, queue.Type[string]("host.door"), func(_ context.Context, w *queue.Work[string]) error {
				opened.Store(w.Payload, true)
				return nil
			})
			ctx, stop := context.WithCancel(t.Context())
			ran := make(chan error, 1)
			go func() { ran <- d.Run(ctx) }()
			require.Eventually(t, until, 5*time.Minute, 5*time.Millisecond)
			stop()
			require.NoError(t, <-ran)
		}
		jobs := func(s queue.State) (list []queue.Job) {
			list, err := w.queue.Jobs(t.Context(), queue.Filter{States: []queue.State{s}})
			require.NoError(t, err)
			return list
		}
		clock = day.Add(12 * time.Hour) // nothing has run the jobs, or they have failed, until midnight
		run(func() bool {
			waits := jobs(queue.StateQueued)
			return len(jobs(queue.StateCompleted)) >= 2 && !slices.ContainsFunc(waits, func(j queue.Job) bool {
				return j.Interruptions == 0
			})
		})
		require.Len(t, w.posts(), 1)
		require.Equal(t, "cannot", w.posts()[0].body)
		_, told := opened.Load("1")
		require.False(t, told)
		for _, job := range jobs(queue.StateQueued) {
			require.Zero(t, job.Failures)
			require.WithinDuration(t, time.Now().Add(7*time.Hour), job.NotBefore, time.Minute)
			require.Contains(t, job.LastError, "quiet hours")
			require.NoError(t, w.queue.Cancel(t.Context(), job.ID))
			require.NoError(t, w.queue.Retry(t.Context(), job.ID))
		}
		clock = day.Add(19 * time.Hour)
		run(func() bool { return len(jobs(queue.StateCompleted)) == 4 })
		require.Len(t, w.posts(), 2)
		_, told = opened.Load("1")
		require.True(t, told)
	})
}

func TestNtfy(t *testing.T) {
	w := newWorld(t, dbtest.SQLite(t))
	long := strings.Repeat("Grüße ", 1000)
	w.tell(w.notifier(noon), Notice{Kind: Stopped, Subject: "1", Title: strings.Repeat("gestört\n", 30), Text: long})
	w.work(func() bool { return len(w.posts()) == 1 })
	got := w.posts()[0]
	require.Equal(t, "Bearer hunter2", got.header.Get("Authorization"))
	require.Equal(t, "high", got.header.Get("Priority"))
	require.Contains(t, got.header.Get("Title"), "=?utf-8?q?gest=C3=B6rt=0A")
	require.LessOrEqual(t, len(got.body), maxNtfy)
	require.True(t, strings.HasPrefix(long, got.body))
	require.Equal(t, "text/plain; charset=utf-8", got.header.Get("Content-Type"))
}

func TestAnNtfyThatRefusesIsAskedAgain(t *testing.T) {
	w := newWorld(t, dbtest.SQLite(t))
	w.statuses = []int{http.StatusBadGateway}
	w.tell(w.notifier(noon), Notice{Kind: Waits, Subject: "1"})
	w.work(func() bool { return w.jobs()[0].Failures == 1 })
	job := w.jobs()[0]
	require.Equal(t, queue.StateQueued, job.State)
	require.Contains(t, job.LastError, "the answer is 502")
	require.NotContains(t, job.LastError, "/topic", "its name is a password")
}
