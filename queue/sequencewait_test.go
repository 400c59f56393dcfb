package queue_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

// A patient dispatcher claims only when it is woken, or at a time that it knows.
var patient = &queue.DispatcherConfig{PollInterval: time.Hour, Workers: 4}

// soon is how long a test waits for what should follow at once.
const soon = 15 * time.Second

// run runs a dispatcher with the handlers until the test ends.
func run(t *testing.T, q *queue.Queue, cfg *queue.DispatcherConfig, handle func(d *queue.Dispatcher)) {
	t.Helper()
	d, err := queue.NewDispatcher(q, cfg)
	require.NoError(t, err)
	handle(d)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- d.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
}

// comes fails unless something comes soon.
func comes[T any](t *testing.T, from <-chan T, what string) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(soon):
		t.Fatalf("nothing came in %v: %s", soon, what)
	}
	return v
}

func openQueue(t *testing.T, db queue.DB, cfg *queue.Config) *queue.Queue {
	t.Helper()
	require.NoError(t, queue.Migrate(t.Context(), db))
	q, err := queue.New(db, cfg)
	require.NoError(t, err)
	return q
}

// What ends a job of a sequence wakes the dispatcher that runs the next one, also where the job has a limit key, so
// that its end claims, and where another dispatcher runs the next one.
func TestTheNextOfASequenceBeginsAtOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := openQueue(t, db, nil)
		require.NoError(t, q.SetLimit(t.Context(), queue.ForKey("k"), queue.Limit{MaxRunning: 2}))
		ran := make(chan int, 100)
		note := func(_ context.Context, w *queue.Work[int]) error {
			ran <- w.Payload
			return nil
		}
		run(t, q, patient, func(d *queue.Dispatcher) { queue.Handle(d, ping, note) })
		run(t, q, patient, func(d *queue.Dispatcher) { queue.Handle(d, pong, note) })
		var jobs []queue.NewJob
		for n := range 12 {
			opts := &queue.Options{Sequence: "s", LimitKey: []string{"k", "k", ""}[n%3]}
			jobs = append(jobs, []queue.Type[int]{ping, ping, pong}[n%3].New(n, opts))
		}
		_, err := q.EnqueueMany(t.Context(), jobs)
		require.NoError(t, err)
		for n := range jobs {
			require.Equal(t, n, comes(t, ran, "the next of the sequence"))
		}
	})
}

// A job that expires lets the next one go, whichever dispatcher has seen that it did.
func TestASequenceGoesOnWhenItsFirstExpires(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := openQueue(t, db, nil)
		ran := make(chan int, 100)
		note := func(_ context.Context, w *queue.Work[int]) error {
			ran <- w.Payload
			return nil
		}
		run(t, q, patient, func(d *queue.Dispatcher) { queue.Handle(d, ping, note) })
		_, err := q.Enqueue(t.Context(), ping.New(0, nil))
		require.NoError(t, err)
		comes(t, ran, "the job that shows that it claims")
		begin := time.Now()
		_, err = q.EnqueueMany(t.Context(), []queue.NewJob{
			pong.New(1, &queue.Options{Sequence: "s", ExpiresAt: begin.Add(time.Second)}),
			ping.New(2, &queue.Options{Sequence: "s"})})
		require.NoError(t, err)
		eyes, err := queue.NewDispatcher(q, &queue.DispatcherConfig{PollInterval: 10 * time.Millisecond})
		require.NoError(t, err)
		queue.Handle(eyes, queue.Type[int]("another"), note)
		ctx, cancel := context.WithCancel(t.Context())
		seen := make(chan error, 1)
		go func() { seen <- eyes.Run(ctx) }()
		require.Equal(t, 2, comes(t, ran, "what was behind the job that has expired"))
		cancel()
		require.NoError(t, <-seen)
	})
}

// Deleting the job that stops a sequence wakes who runs the next one.
func TestASequenceGoesOnWhenItsStopIsDeleted(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := openQueue(t, db, nil)
		ran := make(chan int, 100)
		events, err := q.Subscribe(queue.EventFilter{Kinds: []queue.EventKind{queue.EventFailed}})
		require.NoError(t, err)
		t.Cleanup(events.Close)
		run(t, q, patient, func(d *queue.Dispatcher) {
			queue.Handle(d, ping, func(_ context.Context, w *queue.Work[int]) error {
				if ran <- w.Payload; w.Payload == 0 {
					return errors.New("broken")
				}
				return nil
			})
		})
		opts := &queue.Options{Sequence: "s", MaxAttempts: 1, UserID: "u"}
		_, err = q.EnqueueMany(t.Context(), []queue.NewJob{ping.New(0, opts),
			ping.New(1, &queue.Options{Sequence: "s"})})
		require.NoError(t, err)
		require.Equal(t, 0, comes(t, ran, "the first"))
		end, err := events.Next(t.Context())
		require.NoError(t, err)
		_, err = queueadmin.Delete(t.Context(), q, queueadmin.Selection{JobIDs: []string{end.JobID}}, nil)
		require.NoError(t, err)
		require.Equal(t, 1, comes(t, ran, "what was behind the deleted job"))
	})
}

// RunUntilIdle returns when nothing can start any more, also where what cannot start is behind the first of a sequence
// that waits for a signal, or that is paused.
func TestIdleBehindTheFirstOfASequence(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, q *queue.Queue){
		"signal": func(*testing.T, *queue.Queue) {},
		"paused type of the first": func(t *testing.T, q *queue.Queue) {
			require.NoError(t, q.Pause(t.Context(), queue.ForType(pong)))
		},
		"stopped beside a paused key": func(t *testing.T, q *queue.Queue) {
			require.NoError(t, q.Pause(t.Context(), queue.ForKey("k")))
			_, err := q.Enqueue(t.Context(), ping.New(3, &queue.Options{LimitKey: "k"}))
			require.NoError(t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, db queue.DB) {
				q := openQueue(t, db, nil)
				_, err := q.EnqueueMany(t.Context(), []queue.NewJob{
					pong.New(1, &queue.Options{Sequence: "s", MaxAttempts: 1}), ping.New(2, &queue.Options{Sequence: "s"})})
				require.NoError(t, err)
				prepare(t, q)
				d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{PollInterval: 10 * time.Millisecond,
					Logger: slog.New(slog.DiscardHandler)})
				require.NoError(t, err)
				queue.Handle(d, pong, func(ctx context.Context, w *queue.Work[int]) error {
					if name == "signal" {
						_, err := queue.Await[int](ctx, w, "answer", 0)
						return err
					}
					return errors.New("broken")
				})
				queue.Handle(d, ping, func(context.Context, *queue.Work[int]) error {
					t.Error("it runs out of its turn")
					return nil
				})
				ctx, cancel := context.WithTimeout(t.Context(), soon)
				defer cancel()
				require.NoError(t, d.RunUntilIdle(ctx))
				require.NoError(t, ctx.Err(), "it was not idle")
			})
		})
	}
}

// A job that fails because it kills its workers is not logged by them: who takes it over says that its sequence stops.
func TestASequenceThatACrashStopsIsSaid(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		var text strings.Builder
		strict := on(t, q.DB().Driver(), &queue.Config{Budget: queue.Budget{Crashes: 1}})
		enqueue(t, q, &queue.Options{Sequence: "customer:7"})
		for _, worker := range []string{"first", "second"} {
			synctest.Wait()
			require.Len(t, claimAs(t, q, worker), 1)
			d, err := queue.NewDispatcher(strict, &queue.DispatcherConfig{Lease: lease,
				Logger: slog.New(slog.NewTextHandler(&text, nil))})
			require.NoError(t, err)
			queue.Handle(d, pong, func(context.Context, *queue.Work[int]) error { return nil })
			ctx, cancel := context.WithTimeout(t.Context(), 3*lease)
			require.NoError(t, d.Run(ctx))
			cancel()
		}
		require.Contains(t, text.String(), "sequence is stopped: retry or delete the job that has failed")
		require.Contains(t, text.String(), "sequence=customer:7")
	})
}
