package queueui_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
	"github.com/postroom-go/postroom/queue/queueui"
)

func TestMain(m *testing.M) { dbtest.Main(m, queue.Migrate) }

type letter struct {
	To      string `json:"to"`
	Subject string `json:"subject,omitempty"`
}

const (
	classify queue.Type[letter] = "mail.classify"
	send     queue.Type[letter] = "mail.send"
	archive  queue.Type[letter] = "mail.archive"
)

// a site is a queue and its dashboard, mounted under /ops/jobs of a server.
type site struct {
	*testing.T
	q   *queue.Queue
	ui  *queueui.Handler
	url string // of the dashboard, with the last slash
}

func newSite(t *testing.T, cfg *queueui.Config) *site {
	t.Helper()
	s := &site{T: t, q: queuetest.New(t)}
	s.ui = s.mount("/ops/jobs", cfg)
	return s
}

func (s *site) mount(at string, cfg *queueui.Config) *queueui.Handler {
	s.Helper()
	ui, err := queueui.New(s.q, cfg)
	require.NoError(s, err)
	mux := http.NewServeMux()
	mux.Handle(at+"/", http.StripPrefix(at, ui))
	server := httptest.NewServer(mux)
	s.Cleanup(server.Close)
	s.Cleanup(ui.Close) // before the server waits for its streams
	s.url = server.URL + at + "/"
	return ui
}

func (s *site) enqueue(job queue.NewJob) string {
	s.Helper()
	enqueued, err := s.q.Enqueue(s.Context(), job)
	require.NoError(s, err)
	return enqueued.ID
}

// work runs one due job of the type as fn has it.
func (s *site) work(jobType queue.Type[letter], fn func(ctx context.Context, w *queue.Work[letter]) error) *queue.Job {
	s.Helper()
	return queuetest.WorkOne(s, s.q, func(d *queue.Dispatcher) { queue.Handle(d, jobType, fn) })
}

func succeed(context.Context, *queue.Work[letter]) error { return nil }

func fail(context.Context, *queue.Work[letter]) error {
	return queue.Fatal(errors.New("550 5.1.1 mailbox unavailable"))
}

// failed is a job that has failed for good.
func (s *site) failed() string {
	s.Helper()
	id := s.enqueue(send.New(letter{To: "ada@example.org"}, nil))
	require.Equal(s, queue.StateFailed, s.work(send, fail).State)
	return id
}

// populate makes jobs of all kinds, for people to look at.
func (s *site) populate() (rich string) {
	s.Helper()
	for i := range 60 {
		jobType := []queue.Type[letter]{classify, send, archive}[i%3]
		s.enqueue(jobType.New(letter{To: "ada@example.org", Subject: "Minutes of the meeting"}, nil))
		s.work(jobType, func(context.Context, *queue.Work[letter]) error {
			if i%11 == 0 {
				return queue.Fatal(errors.New("gmail: messages.get: 404: message is gone"))
			}
			return nil
		})
	}
	s.spread()
	rich = s.enqueue(send.New(letter{To: "grace@example.org", Subject: "Re: the 15th"}, &queue.Options{
		UserID: "user-17", Tags: []string{"outbound", "reply"}, Key: queue.Forever("outbound.send:17:4711"),
		Priority: 20,
	}))
	require.NoError(s, s.q.Signal(s.Context(), rich, "approval", "by grace"))
	for range 2 {
		s.work(send, func(ctx context.Context, w *queue.Work[letter]) error {
			w.Logger().Info("drafted", "bytes", 4711, "account", "grace@example.org")
			w.Logger().Warn("quota is low", "left", 12)
			_, err := queue.Step(ctx, w, "draft", func(context.Context) (map[string]any, error) {
				return map[string]any{"draft_id": "r-771", "bytes": 4711}, nil
			})
			require.NoError(s, err)
			if w.Job.Attempt == 1 {
				panic("no such template")
			}
			return errors.New("smtp: 451 4.3.0 try again later")
		})
		queuetest.PromoteScheduled(s, s.q)
	}
	s.enqueue(archive.New(letter{}, &queue.Options{NotBefore: time.Now().Add(3 * time.Hour)}))
	s.enqueue(classify.New(letter{}, nil))
	s.enqueue(classify.New(letter{}, nil))
	require.NoError(s, s.q.SetLimit(s.Context(), queue.ForKeyPrefix("gmail:"),
		queue.Limit{MaxRunning: 2, Rate: 250, Per: time.Second, Burst: 20}))
	require.NoError(s, s.q.SetLimit(s.Context(), queue.ForType(send), queue.Limit{MaxRunning: 4}))
	require.NoError(s, s.q.Pause(s.Context(), queue.ForType(archive)))
	require.NoError(s, s.q.SetSchedule(s.Context(), queue.Schedule{
		Name: "weekly digest", Cron: "0 7 * * MON", Zone: "Europe/Berlin", Job: send.New(letter{To: "ada@example.org"},
			nil),
	}))
	canceled := s.enqueue(archive.New(letter{}, nil))
	require.NoError(s, s.q.Cancel(s.Context(), canceled))
	return rich
}

// spread lets what has finished have finished one after the other over an hour, and have taken its time.
func (s *site) spread() {
	s.Helper()
	err := s.q.DB().Write(s.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, `
UPDATE jobs
SET not_before = strftime('%Y-%m-%dT%H:%M:%f000Z', 'now', (-3400.0 * n / 60) || ' seconds'),
  started_at = strftime('%Y-%m-%dT%H:%M:%f000Z', 'now', (-3400.0 * n / 60 + n % 7 * 0.3) || ' seconds'),
  finished_at = strftime('%Y-%m-%dT%H:%M:%f000Z', 'now', (-3400.0 * (n * n % 61) / 60 + n % 7 * 0.3 + n % 5 * n % 3 + 0.02) || ' seconds')
FROM (SELECT id AS job, row_number() OVER (ORDER BY id) AS n FROM jobs) AS numbered
WHERE jobs.id = numbered.job`)
		return err
	})
	require.NoError(s, err)
}
