package queue_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// What Complete could not do is not done because a handler says nothing of it.
func TestACompleteThatFailedStands(t *testing.T) {
	broken := func(context.Context, queue.Tx) error { return errBroken }
	cases := map[string]struct {
		handler pingHandler
		state   queue.State
		err     string
	}{
		"its own writes fail": {func(ctx context.Context, w *queue.Work[int]) error {
			_ = w.Complete(ctx, broken)
			return nil
		}, queue.StateFailed, "the handler returned nil after Complete had failed: broken"},
		"a statement fails": {func(ctx context.Context, w *queue.Work[int]) error {
			_ = w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
				_, err := tx.ExecContext(ctx, "INSERT INTO nowhere VALUES (1)")
				return err
			})
			return nil
		}, queue.StateFailed, "the handler returned nil after Complete had failed: "},
		"the result is no JSON": {func(ctx context.Context, w *queue.Work[int]) error {
			w.SetResult(func() {})
			_ = w.Complete(ctx, nil)
			w.SetResult(1)
			return nil
		}, queue.StateFailed, "the handler returned nil after Complete had failed: queue: complete"},
		"a panic that the handler recovers from": {func(ctx context.Context, w *queue.Work[int]) error {
			defer func() { _ = recover() }()
			return w.Complete(ctx, func(context.Context, queue.Tx) error { panic("stop") })
		}, queue.StateFailed, "the handler returned nil after Complete had failed: it did not return"},
		"CompleteTx is given nothing": {func(ctx context.Context, w *queue.Work[int]) error {
			_ = w.CompleteTx(ctx, nil)
			return nil
		}, queue.StateFailed, "the handler returned nil after Complete had failed: queue: complete"},
		"CompleteTx after a failure": {func(ctx context.Context, w *queue.Work[int]) error {
			_ = w.CompleteTx(ctx, nil)
			return w.Queue().DB().Write(ctx, func(ctx context.Context, tx queue.Tx) error { return w.CompleteTx(ctx, tx) })
		}, queue.StateCompleted, ""},
		"called again, with success": {func(ctx context.Context, w *queue.Work[int]) error {
			_ = w.Complete(ctx, broken)
			return w.Complete(ctx, nil)
		}, queue.StateCompleted, ""},
		"called again after success": {func(ctx context.Context, w *queue.Work[int]) error {
			if err := w.Complete(ctx, nil); err != nil {
				return err
			}
			_ = w.Complete(ctx, broken)
			return nil
		}, queue.StateCompleted, ""},
		"the handler's own error counts": {func(ctx context.Context, w *queue.Work[int]) error {
			_ = w.Complete(ctx, broken)
			return errDatabase
		}, queue.StateFailed, errDatabase.Error()},
	}
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		q := on(t, db.Driver(), nil)
		for name, c := range cases {
			t.Run(name, func(t *testing.T) {
				id := enqueue(t, q, &queue.Options{MaxAttempts: 1})
				work(t, q, c.handler)
				got := job(t, q, id)
				require.Equal(t, c.state, got.State, got.LastError)
				if c.err == "" {
					require.Empty(t, got.LastError)
				} else {
					require.Contains(t, got.LastError, c.err)
				}
			})
		}
	})
}

// A failure that is retried is so here, too, and a verdict that Complete was given counts.
func TestACompleteThatFailedIsRetried(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		again, over := enqueue(t, q, nil), enqueue(t, q, &queue.Options{UserID: "fatal"})
		work(t, q, func(ctx context.Context, w *queue.Work[int]) error {
			_ = w.Complete(ctx, func(context.Context, queue.Tx) error {
				switch {
				case w.Job.UserID == "fatal":
					return queue.Fatal(errBroken)
				case w.Job.Attempt == 1:
					return errBroken
				}
				return nil
			})
			return nil
		})
		require.Equal(t, queue.StateCompleted, job(t, q, again).State)
		require.Equal(t, 2, job(t, q, again).Attempt)
		require.Equal(t, queue.StateFailed, job(t, q, over).State)
		require.Equal(t, 1, job(t, q, over).Attempt)
	})
}

// Nobody else has the job where a worker only could not say that it lives: the words say no more than is known.
func TestTheWordsOfALostLease(t *testing.T) {
	require.Equal(t, "lease lost: the attempt no longer holds the job", queue.ErrLeaseLost.Error())
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		q := on(t, db.Driver(), nil)
		enqueue(t, q, nil)
		j := claimAs(t, q, "w")[0]
		ahead := j.Job
		ahead.Attempt++
		require.EqualError(t, queue.AttemptOf(q, ahead).Complete(t.Context(), nil),
			"queue: complete "+j.Job.ID+": lease lost: the attempt no longer holds the job", "no later attempt is there")
		require.NoError(t, j.Complete(t.Context(), nil))
		require.EqualError(t, j.Complete(t.Context(), nil), "queue: complete "+j.Job.ID+": job is not running")
	})
}
