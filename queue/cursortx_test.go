package queue_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
)

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
