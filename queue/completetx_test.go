package queue_test

import (
	"bytes"
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
)

// runOne runs a job with the handler until it has ended, without a retry, and returns it and what the dispatcher has logged.
func runJob(t *testing.T, q *queue.Queue, fn pingHandler) (ended *queue.Job, log string) {
	t.Helper()
	enqueued, err := q.Enqueue(t.Context(), ping.New(1, &queue.Options{MaxAttempts: 1}))
	require.NoError(t, err)
	var text bytes.Buffer
	stop := start(t, q, &queue.DispatcherConfig{Logger: slog.New(slog.NewTextHandler(&text, nil))}, fn)
	ended, err = q.Wait(t.Context(), enqueued.ID)
	require.NoError(t, err)
	require.NoError(t, stop())
	return ended, text.String()
}

// A handler completes its job in a transaction of the program's own, with what it has written, the next job, its result and
// its log lines.
func TestCompleteTxInAForeignTransaction(t *testing.T) {
	eachForeign(t, func(t *testing.T, q *queue.Queue, begin func(t *testing.T) foreign) {
		execute(t, q, "CREATE TABLE effects (job TEXT NOT NULL)")
		events, err := q.Subscribe(queue.EventFilter{Kinds: []queue.EventKind{queue.EventCompleted, queue.EventFailed}})
		require.NoError(t, err)
		defer events.Close()
		next := ""
		ended, log := runJob(t, q, func(ctx context.Context, w *queue.Work[int]) error {
			f := begin(t)
			w.SetResult("done")
			w.Logger().Info("it is done")
			require.NoError(t, w.CompleteTx(ctx, f.tx))
			_, err := f.tx.ExecContext(ctx, "INSERT INTO effects (job) VALUES ($1)", w.Job.ID)
			require.NoError(t, err)
			enqueued, err := w.Queue().EnqueueTx(ctx, f.tx, queue.Type[int]("next").New(1, nil))
			require.NoError(t, err)
			next = enqueued.ID
			return f.commit()
		})
		require.Equal(t, queue.StateCompleted, ended.State)
		require.JSONEq(t, `"done"`, string(ended.Result))
		require.Equal(t, queue.StateQueued, job(t, q, next).State)
		lines, err := q.Logs(t.Context(), ended.ID)
		require.NoError(t, err)
		require.Len(t, lines, 1)
		require.NotContains(t, log, "WARN")
		require.NotContains(t, log, "ERROR")
		event, err := events.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, queue.EventCompleted, event.Kind)
		require.Equal(t, ended.ID, event.JobID)
		require.Len(t, attempts(t, q, ended.ID), 1)
	})
}

// A handler that says that all is well while its transaction was not committed has failed.
func TestCompleteTxWithoutACommit(t *testing.T) {
	eachForeign(t, func(t *testing.T, q *queue.Queue, begin func(t *testing.T) foreign) {
		events, err := q.Subscribe(queue.EventFilter{Kinds: []queue.EventKind{queue.EventCompleted, queue.EventFailed}})
		require.NoError(t, err)
		defer events.Close()
		ended, _ := runJob(t, q, func(ctx context.Context, w *queue.Work[int]) error {
			f := begin(t)
			require.NoError(t, w.CompleteTx(ctx, f.tx))
			return f.rollback()
		})
		require.Equal(t, queue.StateFailed, ended.State)
		require.Contains(t, ended.LastError, "CompleteTx has not committed")
		event, err := events.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, queue.EventFailed, event.Kind)
	})
}

// Transactions of the queue's own may be given to it, too.
func TestCompleteTxInWrite(t *testing.T) {
	eachForeign(t, func(t *testing.T, q *queue.Queue, _ func(t *testing.T) foreign) {
		ended, log := runJob(t, q, func(ctx context.Context, w *queue.Work[int]) error {
			return w.Write(ctx, func(ctx context.Context, tx queue.Tx) error { return w.CompleteTx(ctx, tx) })
		})
		require.Equal(t, queue.StateCompleted, ended.State)
		require.NotContains(t, log, "WARN")
		ended, _ = runJob(t, q, func(ctx context.Context, w *queue.Work[int]) error {
			_ = w.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
				require.NoError(t, w.CompleteTx(ctx, tx))
				return errBroken
			})
			return nil
		})
		require.Equal(t, queue.StateFailed, ended.State)
	})
}

// An error after the commit does not undo it, and is said.
func TestAnErrorAfterCompleteTx(t *testing.T) {
	eachForeign(t, func(t *testing.T, q *queue.Queue, begin func(t *testing.T) foreign) {
		ended, log := runJob(t, q, func(ctx context.Context, w *queue.Work[int]) error {
			f := begin(t)
			require.NoError(t, w.CompleteTx(ctx, f.tx))
			require.NoError(t, f.commit())
			return errBroken
		})
		require.Equal(t, queue.StateCompleted, ended.State)
		require.Contains(t, log, "after it had completed its job")
	})
}
