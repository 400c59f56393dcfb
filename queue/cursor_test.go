package queue_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
)

type position struct{ Page int }

func TestCursorIsFoundByTheNextAttempt(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		id := enqueue(t, q, nil)
		var pages []int
		work(t, q, func(ctx context.Context, w *queue.Work[int]) error {
			at, found, err := queue.Cursor[position](ctx, w, "list")
			require.NoError(t, err)
			require.Equal(t, w.Job.Attempt > 1, found)
			for ; at.Page < 6; at.Page++ {
				if at.Page == 2*w.Job.Attempt {
					return errBroken
				}
				pages = append(pages, at.Page)
				require.NoError(t, queue.SaveCursor(ctx, w, "list", position{at.Page + 1}))
			}
			return nil
		})
		require.Equal(t, []int{0, 1, 2, 3, 4, 5}, pages)
		steps, err := q.Steps(t.Context(), id)
		require.NoError(t, err)
		require.Len(t, steps, 1)
		require.JSONEq(t, `{"Page":6}`, string(steps[0].Cursor))
	})
}

func TestCursorIsFoundByTheSameAttempt(t *testing.T) {
	for _, attempt := range []int{1, 2} {
		bubble(t, func(t *testing.T, q *queue.Queue) {
			enqueue(t, q, nil)
			work(t, q, func(ctx context.Context, w *queue.Work[int]) error {
				if w.Job.Attempt < attempt {
					return errBroken
				}
				for i := range 3 {
					require.NoError(t, queue.SaveCursor(ctx, w, "list", i))
					at, found, err := queue.Cursor[int](ctx, w, "list")
					require.NoError(t, err)
					require.True(t, found)
					require.Equal(t, i, at)
				}
				begun, err := w.StepStarted(ctx, "list")
				require.NoError(t, err)
				require.True(t, begun)
				return nil
			})
		})
	}
}

func TestCursorCommitsWithTheHandlersWrites(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		enqueue(t, q, nil)
		work(t, q, func(ctx context.Context, w *queue.Work[int]) error {
			save := func(value int, fail error) error {
				return q.DB().Write(ctx, func(ctx context.Context, tx queue.Tx) error {
					require.NoError(t, queue.SaveCursorTx(ctx, tx, w, "list", value))
					return fail
				})
			}
			require.NoError(t, save(1, nil))
			require.ErrorIs(t, save(2, errBroken), errBroken)
			at, _, err := queue.Cursor[int](ctx, w, "list")
			require.NoError(t, err)
			require.Equal(t, 1, at, "what was undone is not remembered")
			return nil
		})
	})
}

// A cursor of the step's own name is its progress, and gone with its end.
func TestCursorOfAStepEndsWithIt(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		enqueue(t, q, nil)
		work(t, q, func(ctx context.Context, w *queue.Work[int]) error {
			sum, err := queue.Step(ctx, w, "add up", func(ctx context.Context) (int, error) {
				at, _, err := queue.Cursor[int](ctx, w, "add up")
				require.NoError(t, err)
				require.NoError(t, queue.SaveCursor(ctx, w, "add up", at+1))
				if w.Job.Attempt < 3 {
					return 0, errBroken
				}
				return at + 1, nil
			})
			if err != nil {
				return err
			}
			require.Equal(t, 3, sum)
			_, found, err := queue.Cursor[int](ctx, w, "add up")
			require.NoError(t, err)
			require.False(t, found)
			require.ErrorIs(t, queue.SaveCursor(ctx, w, "add up", 9), queue.ErrStepFinished)
			return nil
		})
	})
}

func TestCursorIsFenced(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		id := enqueue(t, q, nil)
		work(t, q, func(ctx context.Context, w *queue.Work[int]) error {
			ctx = context.WithoutCancel(ctx)
			require.NoError(t, q.Cancel(ctx, id))
			require.ErrorIs(t, queue.SaveCursor(ctx, w, "list", 1), queue.ErrNotRunning)
			return nil
		})
		steps, err := q.Steps(t.Context(), id)
		require.NoError(t, err)
		require.Empty(t, steps)
	})
}

func TestCursorThatCannotBeStoredOrReadEndsTheJob(t *testing.T) {
	for name, c := range map[string]struct {
		handle pingHandler
		text   string
	}{
		"no name": {func(ctx context.Context, w *queue.Work[int]) error {
			return queue.Fatal(queue.SaveCursor(ctx, w, "", 1))
		}, "a step needs a name"},
		"no JSON": {func(ctx context.Context, w *queue.Work[int]) error {
			return queue.SaveCursor(ctx, w, "list", make(chan int))
		}, "unsupported type"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, q *queue.Queue) {
				id := enqueue(t, q, nil)
				work(t, q, c.handle)
				require.Equal(t, queue.StateFailed, job(t, q, id).State)
				require.Equal(t, 1, job(t, q, id).Attempt)
				require.Contains(t, job(t, q, id).LastError, c.text)
			})
		})
	}
}

// Wherever the process dies, each row is copied once: a row and the cursor that is past it are one commit.
func TestCursorSurvivesEveryCrash(t *testing.T) {
	queuetest.CrashEverywhere(t, func(t testing.TB, q *queue.Queue) queuetest.Scenario {
		ctx := context.Background()
		require.NoError(t, q.DB().Write(ctx, func(ctx context.Context, tx queue.Tx) error {
			_, err := tx.ExecContext(ctx, "CREATE TABLE copies (n INTEGER NOT NULL)")
			return err
		}))
		_, err := q.Enqueue(ctx, ping.New(3, nil))
		require.NoError(t, err)
		return queuetest.Scenario{Register: func(d *queue.Dispatcher) {
			queue.Handle(d, ping, func(ctx context.Context, w *queue.Work[int]) error {
				n, _, err := queue.Cursor[int](ctx, w, "copy")
				for ; err == nil && n < w.Payload; n++ {
					err = w.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
						if _, err := tx.ExecContext(ctx, "INSERT INTO copies (n) VALUES ($1)", n); err != nil {
							return err
						}
						return queue.SaveCursorTx(ctx, tx, w, "copy", n+1)
					})
				}
				return err
			})
		}}
	})
}

// cursorIs checks what a handler reads.
func cursorIs(ctx context.Context, t *testing.T, w queue.Running, want int) {
	t.Helper()
	at, found, err := queue.Cursor[int](ctx, w, "list")
	require.NoError(t, err)
	require.Equal(t, want != 0, found)
	require.Equal(t, want, at)
}

// claimedAs returns the only job as an attempt of that number.
func claimedAs(t *testing.T, q *queue.Queue, number int) *queue.Attempt {
	t.Helper()
	id := enqueue(t, q, nil)
	for {
		claimed, err := q.Claim(t.Context(), "w", []string{string(ping)}, 1)
		require.NoError(t, err)
		require.Len(t, claimed, 1)
		require.Equal(t, id, claimed[0].Job.ID)
		if claimed[0].Job.Attempt == number {
			return claimed[0]
		}
		require.NoError(t, claimed[0].Fail(t.Context(), errBroken))
		queuetest.PromoteScheduled(t, q)
	}
}

// A cursor that was saved in a transaction is read there, and afterwards if and only if the transaction has committed.
func TestCursorIsReadInAndAfterItsTransaction(t *testing.T) {
	run := func(t *testing.T, q *queue.Queue) {
		t.Helper()
		for number := range 2 {
			w := claimedAs(t, q, number+1)
			ctx := t.Context()
			write := func(value int, fail error) {
				err := q.DB().Write(ctx, func(ctx context.Context, tx queue.Tx) error {
					require.NoError(t, queue.SaveCursorTx(ctx, tx, w, "list", value+10))
					cursorIs(ctx, t, w, value+10)
					require.NoError(t, queue.SaveCursorTx(ctx, tx, w, "list", value))
					cursorIs(ctx, t, w, value)
					return fail
				})
				require.ErrorIs(t, err, fail)
			}
			write(1, errBroken)
			cursorIs(ctx, t, w, 0)
			write(2, nil)
			cursorIs(ctx, t, w, 2)
			write(3, errBroken)
			cursorIs(ctx, t, w, 2)
			require.NoError(t, w.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
				require.NoError(t, queue.SaveCursorTx(ctx, tx, w, "list", 4))
				cursorIs(ctx, t, w, 4)
				return nil
			}))
			cursorIs(ctx, t, w, 4)
			require.NoError(t, w.Complete(ctx, nil))
		}
	}
	dbtest.Each(t, func(t *testing.T, db queue.DB) { run(t, queueOn(t, db)) })
	t.Run("memory", func(t *testing.T) { run(t, queuetest.New(t)) })
}

// The same of a transaction whose end nobody reports.
func TestCursorIsReadInAndAfterAForeignTransaction(t *testing.T) {
	eachForeign(t, func(t *testing.T, q *queue.Queue, begin func(t *testing.T) foreign) {
		ctx := t.Context()
		for number := range 2 {
			w := claimedAs(t, q, number+1)
			save := func(value int) foreign {
				f := begin(t)
				require.NoError(t, queue.SaveCursorTx(ctx, f.tx, w, "list", value))
				cursorIs(ctx, t, w, value)
				return f
			}
			require.NoError(t, save(1).rollback())
			cursorIs(ctx, t, w, 0)
			require.NoError(t, save(2).commit())
			cursorIs(ctx, t, w, 2)
			require.NoError(t, queue.SaveCursor(ctx, w, "list", 3))
			require.NoError(t, save(4).rollback())
			cursorIs(ctx, t, w, 3)
			f := save(5)
			_, err := f.tx.ExecContext(ctx, "SAVEPOINT part")
			require.NoError(t, err)
			require.NoError(t, queue.SaveCursorTx(ctx, f.tx, w, "list", 6))
			_, err = f.tx.ExecContext(ctx, "ROLLBACK TO SAVEPOINT part")
			require.NoError(t, err)
			cursorIs(ctx, t, w, 5)
			_, err = f.tx.ExecContext(ctx, "SELECT no FROM nowhere")
			require.Error(t, err)
			_, _, err = queue.Cursor[int](ctx, w, "list")
			require.NoError(t, err)
			require.NoError(t, f.rollback())
			cursorIs(ctx, t, w, 3)
			n, err := queue.Step(ctx, w, "list", func(context.Context) (int, error) { return 7, nil })
			require.NoError(t, err)
			require.Equal(t, 7, n)
			cursorIs(ctx, t, w, 0)
			require.NoError(t, w.Complete(ctx, nil))
		}
	})
}
