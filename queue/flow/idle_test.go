package flow_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/flow"
)

// RunUntilIdle returns when nothing can start any more, also where what cannot start is behind a job of its flow that
// waits for a signal, is paused or has failed.
func TestIdleBehindAJobOfAFlow(t *testing.T) {
	const ask queue.Type[int] = "ask"
	for name, test := range map[string]struct {
		first   queue.NewJob
		prepare func(t *testing.T, q *queue.Queue)
		again   bool // retry the last job by itself
		want    string
	}{
		"signal": {first: ask.New(1, nil), want: "running, 1 running 0/1, 2 waiting 0/1, 3 waiting 0/1"},
		"signal beside a pause": {first: ask.New(1, nil), want: "running, 1 running 0/1, 2 waiting 0/1, 3 waiting 0/1",
			prepare: func(t *testing.T, q *queue.Queue) {
				t.Helper()
				require.NoError(t, q.Pause(t.Context(), queue.ForKey("k")))
				_, err := q.Enqueue(t.Context(), number.New(1, &queue.Options{LimitKey: "k"}))
				require.NoError(t, err)
			}},
		"paused": {first: broken.New(1, nil), want: "running, 1 running 0/1, 2 waiting 0/1, 3 waiting 0/1",
			prepare: func(t *testing.T, q *queue.Queue) {
				t.Helper()
				require.NoError(t, q.Pause(t.Context(), queue.ForType(broken)))
			}},
		"failed": {first: broken.New(1, nil), again: true, want: "running, 1 failed 1/1, 2 canceled 1/1, 3 waiting 0/1"},
	} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, db queue.DB) {
				q := newQueue(t, db)
				id := enqueue(t, q, flow.Chain(test.first, number.New(2, nil), number.New(3, nil)))
				if test.prepare != nil {
					test.prepare(t, q)
				}
				untilIdle(t, q, ask, slog.DiscardHandler)
				if test.again {
					for job, err := range flow.Jobs(t.Context(), q, id, "3") {
						require.NoError(t, err)
						require.NoError(t, q.Retry(t.Context(), job.ID))
					}
					untilIdle(t, q, ask, slog.DiscardHandler)
				}
				require.Equal(t, test.want, shape(t, q, id))
			})
		})
	}
}

// What is behind a job that starts later, or that another program runs, is waited for, and that is said.
func TestIdleWaitsForAFlowThatGoesOn(t *testing.T) {
	const other queue.Type[int] = "other"
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := newQueue(t, db)
		later := enqueue(t, q, flow.Chain(number.New(1, &queue.Options{NotBefore: time.Now().Add(300 * time.Millisecond)}),
			number.New(2, nil)))
		elsewhere := enqueue(t, q, flow.Chain(other.New(1, nil), number.New(2, nil)))
		a := claimOne(t, q, string(other))
		require.NoError(t, q.Pause(t.Context(), queue.ForKey("k")))
		waits := make(chan struct{})
		ended := apart(func() error {
			<-waits
			return a.Complete(context.Background(), nil)
		})
		untilIdle(t, q, "ask", whenSaid("not idle yet", sync.OnceFunc(func() { close(waits) })))
		require.NoError(t, <-ended)
		for _, id := range []string{later, elsewhere} {
			require.Equal(t, "completed, 1 completed 1/1, 2 completed 1/1", shape(t, q, id))
		}
	})
}

// untilIdle runs jobs until none is left that can start. Those of the type ask wait for a signal.
func untilIdle(t *testing.T, q *queue.Queue, ask queue.Type[int], log slog.Handler) {
	t.Helper()
	d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{PollInterval: 10 * time.Millisecond, Logger: slog.New(log)})
	require.NoError(t, err)
	register(d)
	queue.Handle(d, ask, func(ctx context.Context, w *queue.Work[int]) error {
		_, err := queue.Await[int](ctx, w, "answer", 0)
		return err
	})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	require.NoError(t, d.RunUntilIdle(ctx))
	require.NoError(t, ctx.Err(), "it was not idle")
}

// A saying is a log that calls fn at each line that begins with a text.
type saying struct {
	slog.Handler
	text string
	fn   func()
}

func whenSaid(text string, fn func()) slog.Handler { return saying{slog.Default().Handler(), text, fn} }

// Handle implements [slog.Handler].
func (s saying) Handle(_ context.Context, r slog.Record) error {
	if strings.HasPrefix(r.Message, s.text) {
		s.fn()
	}
	return nil
}

// WithAttrs implements [slog.Handler].
func (s saying) WithAttrs([]slog.Attr) slog.Handler { return s }
