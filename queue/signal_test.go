package queue_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queueadmin"
	"github.com/postroom-go/postroom/queue/queuetest"
)

// An order is a handler that asks a person twice, with a step before and a nap after.
type orderHandler struct {
	mu   sync.Mutex
	seen []string
}

func (o *orderHandler) notef(format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.seen = append(o.seen, fmt.Sprintf(format, args...))
}

func (o *orderHandler) handle(ctx context.Context, w *queue.Work[int]) error {
	price, err := queue.Step(ctx, w, "price", func(context.Context) (int, error) {
		o.notef("asked for the price")
		return 7, nil
	})
	if err != nil {
		return err
	}
	var words []string
	for range 2 {
		word, err := queue.Await[string](ctx, w, "approval", 48*time.Hour)
		if err != nil && !errors.Is(err, queue.ErrNoSignal) {
			return err
		}
		words = append(words, word)
	}
	if err := queue.Sleep(ctx, w, "cool off", time.Hour); err != nil {
		return err
	}
	o.notef("%d %q in attempt %d", price, words, w.Job.Attempt)
	return nil
}

func TestAJobWaitsForSignalsAndSleeps(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		var o orderHandler
		id := enqueue(t, q, nil)
		began := time.Now()
		register := func(d *queue.Dispatcher) { queue.Handle(d, ping, o.handle) }

		waiting := queuetest.WorkOne(t, q, register)
		require.Equal(t, queue.StateQueued, waiting.State)
		require.Equal(t, 48*time.Hour, waiting.NotBefore.Sub(began))
		explained, err := queueadmin.Explain(t.Context(), q, id)
		require.NoError(t, err)
		require.Equal(t, queueadmin.CauseSignal, explained.Reasons[0].Cause)
		require.Contains(t, explained.String(), "it waits for the signal approval, since "+
			began.UTC().Format(time.RFC3339)+" (until "+began.Add(48*time.Hour).UTC().Format(time.RFC3339)+")")

		time.Sleep(time.Hour)
		require.NoError(t, q.Signal(t.Context(), id, "other", nil))
		require.NoError(t, q.Signal(t.Context(), id, "approval", "yes"))
		require.Equal(t, time.Now(), job(t, q, id).NotBefore.In(time.Local))
		queuetest.Work(t, q, register) // the second one does not come
		done := job(t, q, id)
		require.Equal(t, queue.StateCompleted, done.State, done.LastError)
		require.Equal(t, []int{4, 0, 0, 0}, []int{done.Attempt, done.Failures, done.Interruptions, done.Crashes})
		require.Equal(t, 50*time.Hour, done.FinishedAt.Sub(began))
		require.Equal(t, []string{"asked for the price", `7 ["yes" ""] in attempt 4`}, o.seen)

		records := attempts(t, q, id)
		require.Equal(t, queue.KindWaiting, records[2].Kind)
		require.Contains(t, records[2].Error, "waits for the signal cool off until ")
		require.ErrorIs(t, q.Signal(t.Context(), id, "approval", 1), queue.ErrFinished)
		require.ErrorIs(t, q.Signal(t.Context(), "none", "approval", 1), queue.ErrJobNotFound)
		require.ErrorContains(t, q.Signal(t.Context(), id, "", 1), "a signal needs a name")
		require.ErrorContains(t, q.Signal(t.Context(), id, "approval", func() {}), "payload: json: unsupported type")
		require.ErrorIs(t, q.Signal(t.Context(), id, "approval", string(make([]byte, 1<<20))), queue.ErrTooLarge)
	})
}

// Failures between the answers, a retry by hand and a crash change none of them.
func TestAnswersStay(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		id := enqueue(t, q, &queue.Options{MaxAttempts: 1})
		var answers []int
		broken := true
		register := func(d *queue.Dispatcher) {
			queue.Handle(d, ping, func(ctx context.Context, w *queue.Work[int]) error {
				answers = nil
				for range 3 {
					n, err := queue.Await[int](ctx, w, "n", 0)
					if err != nil {
						return err
					}
					answers = append(answers, n)
				}
				if broken {
					return errDatabase
				}
				return nil
			})
		}
		for n := range 3 { // before it has begun
			require.NoError(t, q.Signal(t.Context(), id, "n", n))
		}
		require.Equal(t, queue.StateFailed, queuetest.WorkOne(t, q, register).State)
		require.NoError(t, q.Retry(t.Context(), id))
		broken = false
		require.Equal(t, queue.StateCompleted, queuetest.WorkOne(t, q, register).State)
		require.Equal(t, []int{0, 1, 2}, answers)
		require.Empty(t, job(t, q, id).LastError, "it has completed")
	})
}

// A handler sleeps until one instant after another. When it runs again the first ones are over, and are passed over by
// a Sleep of no time: the later ones must not take their place.
func TestSleepUntilOneInstantAfterAnother(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		began := time.Now()
		id := enqueue(t, q, nil)
		var seen []time.Duration
		queuetest.Work(t, q, func(d *queue.Dispatcher) {
			queue.Handle(d, ping, func(ctx context.Context, w *queue.Work[int]) error {
				seen = nil
				for _, after := range []time.Duration{-time.Hour, time.Hour, 3 * time.Hour, 24 * time.Hour} {
					if err := queue.Sleep(ctx, w, "until", time.Until(began.Add(after))); err != nil {
						return err
					}
					seen = append(seen, time.Since(began))
				}
				return nil
			})
		})
		done := job(t, q, id)
		require.Equal(t, queue.StateCompleted, done.State, done.LastError)
		require.Equal(t, 24*time.Hour, done.FinishedAt.Sub(began))
		require.Equal(t, []time.Duration{24 * time.Hour, 24 * time.Hour, 24 * time.Hour, 24 * time.Hour}, seen)
		require.Equal(t, 4, done.Attempt)
	})
}

// A number that a Sleep of no time has passed over leaves a gap: signals behind it do not take the places of others.
func TestSignalsBehindASleepThatWasPassedOver(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		id := enqueue(t, q, nil)
		var got []int
		register := func(d *queue.Dispatcher) {
			queue.Handle(d, ping, func(ctx context.Context, w *queue.Work[int]) error {
				got = nil
				if err := queue.Sleep(ctx, w, "n", 0); err != nil {
					return err
				}
				for range 2 {
					n, err := queue.Await[int](ctx, w, "n", 0)
					if err != nil {
						return err
					}
					got = append(got, n)
				}
				return nil
			})
		}
		for n := range 2 {
			queuetest.WorkOne(t, q, register)
			require.NoError(t, q.Signal(t.Context(), id, "n", n))
		}
		require.Equal(t, queue.StateCompleted, queuetest.WorkOne(t, q, register).State)
		require.Equal(t, []int{0, 1}, got)
	})
}

func TestNothingFollowsAnAwaitThatEndedTheAttempt(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		effects := 0
		effect := func(context.Context) (int, error) {
			effects++
			return 0, nil
		}
		var log bytes.Buffer
		q = on(t, q.DB().Driver(), &queue.Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		id := enqueue(t, q, nil)
		careless := func(d *queue.Dispatcher) {
			queue.Handle(d, ping, func(ctx context.Context, w *queue.Work[int]) error {
				_, _ = queue.Await[int](ctx, w, "never", 0)
				_, err := queue.Step(ctx, w, "send", effect)
				require.ErrorIs(t, err, queue.ErrWaiting)
				require.ErrorIs(t, w.StartStep(ctx, "send"), queue.ErrWaiting)
				_, err = queue.Await[int](ctx, w, "another", 0)
				require.ErrorIs(t, err, queue.ErrWaiting)
				require.False(t, w.Ends(err))
				require.ErrorIs(t, w.Write(ctx, func(context.Context, queue.Tx) error { return nil }), queue.ErrNotRunning)
				require.ErrorIs(t, w.Complete(ctx, nil), queue.ErrNotRunning)
				return nil
			})
		}
		queuetest.Work(t, q, careless) // it returns, because nothing can start
		require.Equal(t, queue.StateQueued, job(t, q, id).State)
		require.Zero(t, effects)
		require.Contains(t, log.String(), "handler went on after Await had ended its attempt")
		signals, err := q.Signals(t.Context(), id)
		require.NoError(t, err)
		require.Len(t, signals, 1)
		require.NoError(t, q.Cancel(t.Context(), id))
		require.ErrorIs(t, q.Signal(t.Context(), id, "never", 1), queue.ErrFinished)
	})
}

func TestAwaitIsRefusedWhereItWouldRepeatWork(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		enqueue(t, q, nil)
		work(t, q, func(ctx context.Context, w *queue.Work[int]) error {
			_, err := queue.Step(ctx, w, "outer", func(ctx context.Context) (int, error) {
				return queue.Await[int](ctx, w, "n", 0)
			})
			require.ErrorContains(t, err, "step outer is under way")
			err = w.Write(ctx, func(ctx context.Context, _ queue.Tx) error {
				return queue.Sleep(ctx, w, "nap", time.Hour)
			})
			require.ErrorIs(t, err, queue.ErrNestedWrite)
			_, err = queue.Await[int](ctx, w, "", 0)
			require.ErrorContains(t, err, "a signal needs a name")
			_, err = queue.Await[int](ctx, w, "n", -1)
			require.ErrorContains(t, err, "must not be negative")
			return queue.Sleep(ctx, w, "no time", 0)
		})
		counts, err := q.Counts(t.Context(), queue.Filter{})
		require.NoError(t, err)
		require.Equal(t, map[queue.State]int{queue.StateCompleted: 1}, counts)
	})
}

func TestASignalThatDoesNotFitIsGivenBack(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		id := enqueue(t, q, nil)
		require.NoError(t, q.Signal(t.Context(), id, "n", "a word"))
		given := queuetest.WorkOne(t, q, func(d *queue.Dispatcher) {
			queue.Handle(d, ping, func(ctx context.Context, w *queue.Work[int]) error {
				_, err := queue.Await[int](ctx, w, "n", 0)
				return err
			})
		})
		require.Equal(t, 1, given.Interruptions)
		require.Contains(t, given.LastError, "payload of signal n does not fit int")
	})
}

// The signal is sent in a transaction, to another process's job that takes no capacity meanwhile, and wakes it.
func TestASignalWakesAJobOnEachEngine(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		q, err := queue.New(db, nil)
		require.NoError(t, err)
		require.NoError(t, q.SetLimit(t.Context(), queue.ForKey("one"), queue.Limit{MaxRunning: 1}))
		sub, err := q.Subscribe(queue.EventFilter{})
		require.NoError(t, err)
		defer sub.Close()
		next := func(kind queue.EventKind, ended string) {
			t.Helper()
			for {
				e, err := sub.Next(t.Context())
				require.NoError(t, err)
				if e.Kind == kind && e.Ended == ended {
					return
				}
				require.NotEqual(t, queue.EventFailed, e.Kind, e.Error)
			}
		}
		stop := start(t, q, nil, func(ctx context.Context, w *queue.Work[int]) error {
			if w.Payload == 2 {
				return nil
			}
			price, err := queue.Step(ctx, w, "price", func(context.Context) (int, error) { return 7, nil })
			if err != nil {
				return err
			}
			count, err := queue.Await[int](ctx, w, "count", 0)
			if err != nil {
				return err
			}
			w.SetResult(price * count)
			return nil
		})
		id := enqueue(t, q, &queue.Options{LimitKey: "one"})
		next(queue.EventRetried, queue.KindWaiting)
		other, err := q.Enqueue(t.Context(), ping.New(2, &queue.Options{LimitKey: "one"}))
		require.NoError(t, err)
		_, err = q.Wait(t.Context(), other.ID)
		require.NoError(t, err)

		require.ErrorIs(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			require.NoError(t, q.SignalTx(ctx, tx, id, "count", 5))
			return errDatabase
		}), errDatabase)
		require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			return q.SignalTx(ctx, tx, id, "count", 6)
		}))
		done, err := q.Wait(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, "42", string(done.Result))
		require.NoError(t, stop())
		violations, err := queueadmin.Verify(t.Context(), q)
		require.NoError(t, err)
		require.Empty(t, violations)
	})
}
