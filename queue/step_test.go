package queue_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
)

type quote struct{ Price int }

func TestStepRunsOnceOverAllAttempts(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		id := enqueue(t, q, nil)
		runs := map[string]int{}
		var got []quote
		work(t, q, func(ctx context.Context, w *queue.Work[int]) error {
			price, err := queue.Step(ctx, w, "price", func(context.Context) (quote, error) {
				runs["price"]++
				return quote{Price: 41 + runs["price"]}, nil
			})
			require.NoError(t, err)
			got = append(got, price)
			_, err = queue.Step(ctx, w, "fails once", func(context.Context) (quote, error) {
				if runs["fails once"]++; runs["fails once"] == 1 {
					return quote{}, errBroken
				}
				return quote{}, nil
			})
			if err != nil {
				return err
			}
			_, err = queue.Step(ctx, w, "price",
				func(context.Context) (quote, error) { panic("run again in the same attempt") })
			require.NoError(t, err)
			if w.Job.Attempt < 3 {
				return errBroken
			}
			return nil
		})
		require.Equal(t, map[string]int{"price": 1, "fails once": 2}, runs)
		require.Equal(t, []quote{{42}, {42}, {42}}, got)
		require.Equal(t, queue.StateCompleted, job(t, q, id).State)
		steps, err := q.Steps(t.Context(), id)
		require.NoError(t, err)
		require.Len(t, steps, 2)
		require.Equal(t, `{"Price":42}`, string(steps[0].Result))
	})
}

func TestStepTxCommitsItsWritesWithItsResult(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		enqueue(t, q, nil)
		var children []string
		work(t, q, func(ctx context.Context, w *queue.Work[int]) error {
			if w.Payload == 2 {
				return nil
			}
			child, err := queue.StepTx(ctx, w, "spawn", func(ctx context.Context, tx queue.Tx) (string, error) {
				enqueued, err := w.Queue().EnqueueTx(ctx, tx, ping.New(2, nil))
				require.NoError(t, err)
				if w.Job.Attempt == 1 {
					return "", errBroken
				}
				return enqueued.ID, nil
			})
			if err != nil {
				return err
			}
			children = append(children, child)
			if w.Job.Attempt == 2 {
				return errBroken
			}
			return nil
		})
		require.Len(t, children, 2)
		require.Equal(t, children[0], children[1])
		counts, err := q.Counts(t.Context(), queue.Filter{})
		require.NoError(t, err)
		require.Equal(t, map[queue.State]int{queue.StateCompleted: 2}, counts, "the job and one child")
	})
}

func TestStartStepTellsLaterAttempts(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		id := enqueue(t, q, nil)
		var started []bool
		sent := 0
		work(t, q, func(ctx context.Context, w *queue.Work[int]) error {
			before, err := w.StepStarted(ctx, "send")
			require.NoError(t, err)
			require.NoError(t, w.StartStep(ctx, "send"))
			after, err := w.StepStarted(ctx, "send")
			require.NoError(t, err)
			started = append(started, before, after)
			if w.Job.Attempt == 1 {
				return errBroken
			}
			_, err = queue.Step(ctx, w, "send", func(context.Context) (int, error) { sent++; return sent, nil })
			require.NoError(t, err)
			if w.Job.Attempt == 2 {
				return errBroken
			}
			return nil
		})
		require.Equal(t, []bool{false, true, true, true, true, true}, started)
		require.Equal(t, 1, sent, "starting a finished step again does not make it run again")
		require.Equal(t, 3, job(t, q, id).Attempt)
	})
}

func TestStepRefuses(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		id, began := enqueue(t, q, nil), time.Now()
		work(t, q, func(ctx context.Context, w *queue.Work[int]) error {
			_, err := queue.Step(ctx, w, "", func(context.Context) (int, error) { return 1, nil })
			require.ErrorContains(t, err, "a step needs a name")
			_, err = queue.Step(ctx, w, "no JSON", func(context.Context) (chan int, error) {
				return make(chan int),
					nil
			})
			require.ErrorContains(t, err, "result: json: unsupported type")
			_, err = queue.Step(ctx, w, "text", func(context.Context) (string, error) { return "seven", nil })
			require.NoError(t, err)
			_, err = queue.Step(ctx, w, "text", func(context.Context) (int, error) { return 7, nil })
			require.ErrorContains(t, err, "stored result of step text does not fit its type")
			return err
		})
		got := job(t, q, id)
		require.Equal(t, queue.StateFailed, got.State)
		require.Contains(t, got.LastError, "by the workers ")
		require.WithinRange(t, time.Now(), began.Add(24*time.Hour), began.Add(24*time.Hour+10*time.Minute))
	})
}

// While a program is replaced, its old version gives back a job whose step or cursor only the new one can read.
func TestAStepOrCursorThatDoesNotFitIsGivenBack(t *testing.T) {
	for name, read := range map[string]func(ctx context.Context, w *queue.Work[int]) error{
		"step": func(ctx context.Context, w *queue.Work[int]) error {
			_, err := queue.Step(ctx, w, "done", func(context.Context) (int, error) { return 7, nil })
			return err
		},
		"step of a transaction": func(ctx context.Context, w *queue.Work[int]) error {
			_, err := queue.StepTx(ctx, w, "done", func(context.Context, queue.Tx) (int, error) { return 7, nil })
			return err
		},
		"cursor": func(ctx context.Context, w *queue.Work[int]) error {
			_, _, err := queue.Cursor[int](ctx, w, "list")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, q *queue.Queue) {
				id, runs := enqueue(t, q, &queue.Options{MaxAttempts: 2}), 0
				work(t, q, func(ctx context.Context, w *queue.Work[int]) error {
					switch runs++; runs {
					case 1: // the new version
						require.NoError(t, queue.SaveCursor(ctx, w, "list", "a word"))
						_, err := queue.Step(ctx, w, "done", func(context.Context) (string, error) { return "yes", nil })
						require.NoError(t, err)
						return errBroken
					case 10:
						return nil
					}
					return fmt.Errorf("letter 7: %w", read(ctx, w))
				})
				got := job(t, q, id)
				require.Equal(t, queue.StateCompleted, got.State, got.LastError)
				require.Equal(t, 1, got.Failures)
				require.Equal(t, 8, got.Interruptions)
			})
		})
	}
}

func TestStepOfALostAttemptIsNotStored(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		id := enqueue(t, q, nil)
		work(t, q, func(ctx context.Context, w *queue.Work[int]) error {
			_, err := queue.Step(context.WithoutCancel(ctx), w, "late", func(ctx context.Context) (int, error) {
				require.NoError(t, q.Cancel(ctx, id))
				return 1, nil
			})
			require.ErrorIs(t, err, queue.ErrNotRunning)
			return err
		})
		steps, err := q.Steps(t.Context(), id)
		require.NoError(t, err)
		require.Empty(t, steps)
		require.Equal(t, queue.StateCanceled, job(t, q, id).State)
	})
}

// What a step has done is kept, also when the stop came while it did it.
func TestStepThatSucceedsDuringShutdownIsStored(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		id := enqueue(t, q, nil)
		sent := 0
		handler := func(ctx context.Context, w *queue.Work[int]) error {
			_, err := queue.Step(ctx, w, "send", func(ctx context.Context) (int, error) {
				if w.Job.Attempt == 1 {
					<-ctx.Done()
				}
				sent++
				return sent, nil
			})
			return err
		}
		stop := start(t, q, &queue.DispatcherConfig{Drain: time.Second}, handler)
		synctest.Wait()
		require.NoError(t, stop())
		work(t, q, handler)
		require.Equal(t, 1, sent)
		require.Equal(t, queue.StateCompleted, job(t, q, id).State)
	})
}

// Complete without writes of the handler's own is a completion all the same.
func TestCompleteWithoutWrites(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		id := enqueue(t, q, nil)
		work(t, q, func(ctx context.Context, w *queue.Work[int]) error { return w.Complete(ctx, nil) })
		require.Equal(t, queue.StateCompleted, job(t, q, id).State)
	})
}
