package queue_test

import (
	"bytes"
	"context"
	"log/slog"
	"testing"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/stretchr/testify/require"
)

// runOne runs a job with the handler until it has ended, without a retry, and returns it and what the dispatcher has
// logged.
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

// A handler completes its job in a transaction of the program's own, with what it has written, the next job, its result
// and its log lines.
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

// What a job's writes have made is its result: the function of Complete may set it.
func TestResultOfTheFunctionOfComplete(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		for name, opts := range map[string]*queue.Options{"a plain job": nil, "of a limited key": {LimitKey: "one"}} {
			q := on(t, db.Driver(), nil)
			id := enqueue(t, q, opts)
			work(t, q, func(ctx context.Context, w *queue.Work[int]) error {
				w.SetResult("early")
				return w.Complete(ctx, func(context.Context, queue.Tx) error { w.SetResult("late"); return nil })
			})
			require.JSONEq(t, `"late"`, string(job(t, q, id).Result), name)
		}
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
		"its own function sets a result that is no JSON": {func(ctx context.Context, w *queue.Work[int]) error {
			w.SetResult(1)
			return w.Complete(ctx, func(context.Context, queue.Tx) error { w.SetResult(func() {}); return nil })
		}, queue.StateFailed, "result: "},
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
			return w.Queue().DB().Write(ctx,
				func(ctx context.Context, tx queue.Tx) error { return w.CompleteTx(ctx, tx) })
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
			"queue: complete "+j.Job.ID+": lease lost: the attempt no longer holds the job",
			"no later attempt is there")
		require.NoError(t, j.Complete(t.Context(), nil))
		require.EqualError(t, j.Complete(t.Context(), nil), "queue: complete "+j.Job.ID+": job is not running")
	})
}
