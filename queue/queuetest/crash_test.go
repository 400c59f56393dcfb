package queuetest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
)

const (
	order  queue.Type[int] = "order"
	notify queue.Type[int] = "notify"
)

// An office is the world outside.
type office struct {
	mu   sync.Mutex
	sent []string
}

var errOffice = errors.New("the office is closed")

func (o *office) send(ctx context.Context, letter string) error {
	return queuetest.Outside(ctx, "send", func() error {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.sent = append(o.sent, letter)
		return nil
	})
}

// sendOnce knows what it has sent already, as good services do.
func (o *office) sendOnce(ctx context.Context, letter string) (receipt string, err error) {
	if !o.has(letter) {
		err = o.send(ctx, letter)
	}
	return "receipt for " + letter, err
}

func (o *office) has(letter string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Contains(o.sent, letter)
}

func (o *office) log() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.sent)
}

type orderHandler = func(ctx context.Context, w *queue.Work[int], o *office) error

// orders is a scenario: one order, a table of the program's own, and an office.
func orders(handle orderHandler) func(testing.TB, *queue.Queue) queuetest.Scenario {
	return func(t testing.TB, q *queue.Queue) queuetest.Scenario {
		o := &office{}
		require.NoError(t, q.DB().Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			_, err := tx.ExecContext(ctx, "CREATE TABLE payments (what TEXT NOT NULL, paid_at TEXT)")
			return err
		}))
		_, err := q.Enqueue(t.Context(), order.New(17, nil))
		require.NoError(t, err)
		return queuetest.Scenario{
			Outside: o.log,
			Register: func(d *queue.Dispatcher) {
				queue.Handle(d, order, func(ctx context.Context, w *queue.Work[int]) error { return handle(ctx, w, o) })
				queue.Handle(d, notify, func(ctx context.Context, w *queue.Work[int]) error {
					_, err := o.sendOnce(ctx, fmt.Sprintf("notice %d", w.Payload))
					return err
				})
			},
		}
	}
}

func pay(ctx context.Context, tx queue.Tx, what string) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO payments (what, paid_at) VALUES ($1, $2)", what,
		queue.Now(tx).Format(time.RFC3339Nano))
	return err
}

// payOnce is a step of its own.
func payOnce(ctx context.Context, w *queue.Work[int], what string) error {
	_, err := queue.StepTx(ctx, w, "pay "+what, func(ctx context.Context, tx queue.Tx) (bool, error) {
		return true,
			pay(ctx, tx, what)
	})
	return err
}

func completeAndNotify(ctx context.Context, w *queue.Work[int]) error {
	return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
		_, err := w.Queue().EnqueueTx(ctx, tx, notify.New(w.Payload, nil))
		return err
	})
}

func right(ctx context.Context, w *queue.Work[int], o *office) error {
	if err := payOnce(ctx, w, "deposit"); err != nil {
		return err
	}
	if _, err := queue.Step(ctx, w, "confirm",
		func(ctx context.Context) (string, error) { return o.sendOnce(ctx, "confirmation") }); err != nil {
		return err
	}
	if err := sendReconciled(ctx, w, o, "letter"); err != nil {
		return err
	}
	w.SetResult("shipped")
	return completeAndNotify(ctx, w)
}

// sendReconciled asks what became of a letter that an earlier attempt has begun to send.
func sendReconciled(ctx context.Context, w *queue.Work[int], o *office, letter string) error {
	begun, err := w.StepStarted(ctx, letter)
	if err == nil && !begun {
		err = w.StartStep(ctx, letter)
	}
	if err != nil || begun && o.has(letter) {
		return err
	}
	return o.send(ctx, letter)
}

func TestCrashEverywherePassesWhatIsRight(t *testing.T) {
	for name, handle := range map[string]orderHandler{
		"steps, reconciling, completing with the next job": right,
		"the failure is retried": func(ctx context.Context, w *queue.Work[int], o *office) error {
			if _, err := queue.Step(ctx, w, "first", func(context.Context) (bool, error) {
				return true,
					nil
			}); err != nil {
				return err
			}
			if w.Job.Failures == 0 {
				return errOffice
			}
			return completeAndNotify(ctx, w)
		},
		"a job of next week follows": func(ctx context.Context, w *queue.Work[int], _ *office) error {
			return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
				_, err := w.Queue().EnqueueTx(ctx, tx,
					notify.New(1, &queue.Options{NotBefore: time.Now().Add(7 * 24 * time.Hour)}))
				return err
			})
		},
		"a key makes enqueueing apart right": func(ctx context.Context, w *queue.Work[int], _ *office) error {
			_, err := w.Queue().Enqueue(ctx, notify.New(1, &queue.Options{Key: queue.Forever("notify 1")}))
			return err
		},
		"what fails for good fails once": func(context.Context, *queue.Work[int],
			*office) error {
			return queue.Fatal(errOffice)
		},
	} {
		t.Run(name, func(t *testing.T) { queuetest.CrashEverywhere(t, orders(handle)) })
		t.Run(name+", in a bubble", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { queuetest.CrashEverywhere(t, orders(handle)) })
		})
	}
}

func TestAScenarioIsBegunAnewForEachPoint(t *testing.T) {
	begun, ended := 0, 0
	queuetest.CrashEverywhere(t, func(t testing.TB, q *queue.Queue) queuetest.Scenario {
		begun++
		t.Cleanup(func() { ended++ })
		return orders(completing)(t, q)
	})
	// Twice undisturbed; then completing, the call of the next job and its completion have two points each.
	require.Equal(t, 2+6, begun)
	require.Equal(t, begun, ended, "what goes with a run does not wait for the end of the test")
}

func completing(ctx context.Context, w *queue.Work[int], _ *office) error {
	return completeAndNotify(ctx, w)
}

// Wherever the process dies, each answer is taken once, and the handler comes to the same end.
func TestWaitsSurviveCrashesEverywhere(t *testing.T) {
	queuetest.CrashEverywhere(t, func(t testing.TB, q *queue.Queue) queuetest.Scenario {
		o := &office{}
		first, err := q.Enqueue(t.Context(), order.New(1, nil))
		require.NoError(t, err)
		require.NoError(t, q.Signal(t.Context(), first.ID, "stock", 3))
		return queuetest.Scenario{
			Register: func(d *queue.Dispatcher) {
				queue.Handle(d, order, func(ctx context.Context, w *queue.Work[int]) error {
					_, err := queue.Step(ctx, w, "ask", func(ctx context.Context) (string, error) {
						return o.sendOnce(ctx, "may I?")
					})
					if err != nil {
						return err
					}
					stock, err := queue.Await[int](ctx, w, "stock", 0)
					if err != nil {
						return err
					}
					if err := queue.Sleep(ctx, w, "nap", time.Hour); err != nil {
						return err
					}
					_, err = queue.StepTx(ctx, w, "delegate", func(ctx context.Context, tx queue.Tx) (int, error) {
						_, err := w.Queue().EnqueueTx(ctx, tx, notify.New(stock, nil))
						return stock, err
					})
					if err != nil {
						return err
					}
					var got []int
					for range 2 {
						answer, err := queue.Await[int](ctx, w, "answer", time.Hour)
						if err != nil && !errors.Is(err, queue.ErrNoSignal) {
							return err
						}
						got = append(got, answer)
					}
					return completeWith(ctx, w.Attempt, got)
				})
				queue.Handle(d, notify, func(ctx context.Context, w *queue.Work[int]) error {
					return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
						return w.Queue().SignalTx(ctx, tx, first.ID, "answer", w.Payload*2)
					})
				})
			},
			Outside: o.log,
		}
	})
}

func completeWith(ctx context.Context, a *queue.Attempt, result any) error {
	a.SetResult(result)
	return a.Complete(ctx, nil)
}
