package queue_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/queuetest"
)

func TestEnqueueRefuses(t *testing.T) {
	q := queuetest.New(t)
	for name, c := range map[string]struct {
		job queue.NewJob
		err string
	}{
		"no type": {queue.NewJob{}, "Type is empty"},
		"a long type": {queue.NewJob{Type: strings.Repeat("t", 201)},
			"Type has 201 bytes; at most 200 are allowed"},
		"no JSON": {queue.NewJob{Type: "t", Payload: func() {}}, "payload of t: json: unsupported type"},
		"bytes":   {ping.New(1, &queue.Options{Key: queue.Forever("a\xff")}), "bytes that are no text"},
		"a NUL":   {queue.NewJob{Type: "a\x00"}, "bytes that are no text"},
		"JSON of no text": {queue.NewJob{Type: "t", Payload: json.RawMessage("\"\xff\"")},
			"payload of t: not valid UTF-8"},
		"high priority": {ping.New(1, &queue.Options{Priority: 1 << 40}),
			"Priority is 1099511627776; it must fit 32 bits"},
		"a far future": {ping.New(1, &queue.Options{NotBefore: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}),
			"NotBefore is 10000-01-01 00:00:00 +0000 UTC; it must be within the years 1 and 9999"},
		"few attempts": {ping.New(1, &queue.Options{MaxAttempts: -1}),
			"MaxAttempts is -1; it must be within 1 and 1000"},
		"many attempts": {ping.New(1, &queue.Options{MaxAttempts: 1001}), "MaxAttempts is 1001"},
		"an empty key":  {ping.New(1, &queue.Options{Key: queue.Forever("")}), "Key.Name is empty"},
		"a long key": {ping.New(1, &queue.Options{Key: queue.Forever(strings.Repeat("k", 1001))}),
			"Key.Name has 1001 bytes"},
		"a key unscoped": {ping.New(1, &queue.Options{Key: queue.Key{Name: "k"}}),
			"use queue.Forever, WhileUnfinished, ForPeriod or Coalesce"},
		"a scope unknown": {ping.New(1, &queue.Options{Key: queue.Key{Name: "k", Scope: "week"}}),
			`Key.Scope is "week"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := q.Enqueue(t.Context(), c.job)
			require.ErrorIs(t, err, queue.ErrInvalidJob)
			require.ErrorContains(t, err, c.err)
			require.True(t, strings.HasPrefix(err.Error(), "queue: enqueue: invalid job: "), err)
		})
	}
	counts, err := q.Counts(t.Context(), queue.Filter{})
	require.NoError(t, err)
	require.Empty(t, counts)
}

func TestEnqueueDefaults(t *testing.T) {
	q := queuetest.New(t)
	enqueued, err := q.Enqueue(t.Context(), queue.NewJob{Type: "t"})
	require.NoError(t, err)
	got := job(t, q, enqueued.ID)
	require.Equal(t, "null", string(got.Payload))
	require.Equal(t, 5, got.MaxAttempts)
	require.Zero(t, got.Priority)
	require.Equal(t, queue.StateQueued, got.State)
}

func TestEnqueueManyIsAllOrNothing(t *testing.T) {
	q := queuetest.New(t)
	held := enqueue(t, q, &queue.Options{Key: queue.Forever("k")})
	_, err := on(t, q.DB().Driver(), &queue.Config{StrictKeys: true}).EnqueueMany(t.Context(),
		[]queue.NewJob{ping.New(1, nil), ping.New(2, &queue.Options{Key: queue.Forever("k")})})
	require.ErrorIs(t, err, queue.ErrKeyConflict)
	require.EqualError(t, err, "queue: enqueue "+held+
		`: idempotency key is taken by a different job: "k" (payload is 1 there, 2 here; use another key)`)
	var e *queue.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, held, e.JobID)
	counts, err := q.Counts(t.Context(), queue.Filter{})
	require.NoError(t, err)
	require.Equal(t, map[queue.State]int{queue.StateQueued: 1}, counts)

	results, err := q.EnqueueMany(t.Context(),
		[]queue.NewJob{ping.New(3, nil), ping.New(1, &queue.Options{Key: queue.Forever("k")}), ping.New(4, nil)})
	require.NoError(t, err)
	require.Equal(t, queue.EnqueueResult{ID: held, Duplicate: true}, results[1])
	require.Equal(t, "3", string(job(t, q, results[0].ID).Payload))
	require.Equal(t, "4", string(job(t, q, results[2].ID).Payload))

	_, err = q.EnqueueMany(t.Context(), []queue.NewJob{ping.New(3, nil), {}, ping.New(4, nil)})
	require.EqualError(t, err, "queue: enqueue: jobs[1]: invalid job: Type is empty")

	none, err := q.EnqueueMany(t.Context(), nil)
	require.NoError(t, err)
	require.Empty(t, none)
}

func TestErrorsNameOperationAndJob(t *testing.T) {
	q := queuetest.New(t)
	id := enqueue(t, q, nil)
	unclaimed := queue.AttemptOf(q, queue.Job{ID: id, Attempt: 1})
	for text, err := range map[string]error{
		"queue: complete " + id + ": job is not running":      unclaimed.Complete(t.Context(), nil),
		"queue: fail " + id + ": job is not running":          unclaimed.Fail(t.Context(), errBroken),
		"queue: fail " + id + ": no error was given":          unclaimed.Fail(t.Context(), nil),
		"queue: retry " + id + ": job is not finished":        q.Retry(t.Context(), id),
		"queue: cancel none: job not found":                   q.Cancel(t.Context(), "none"),
		"queue: start step s " + id + ": job is not running":  unclaimed.StartStep(t.Context(), "s"),
		"queue: finish step s " + id + ": job is not running": finishStep(t.Context(), unclaimed, "s", 1),
	} {
		require.EqualError(t, err, text)
	}
	_, err := q.Job(t.Context(), "none")
	require.EqualError(t, err, "queue: job none: job not found")
	_, err = q.Jobs(t.Context(), queue.Filter{Limit: 1001})
	require.EqualError(t, err, "queue: jobs: Filter.Limit is 1001; it must be within 1 and 1000")
	_, err = q.Claim(t.Context(), "w", nil, 1)
	require.EqualError(t, err, `queue: claim: worker "w", 0 types, limit 1: all three must be given`)
	_, err = q.Claim(t.Context(), "w", []string{"none", "neither"}, math.MaxInt)
	require.NoError(t, err)
}

// A program that does without a dispatcher: it claims, beats and ends its jobs by itself.
func TestWorkerByHand(t *testing.T) {
	q := queuetest.New(t)
	id := enqueue(t, q, nil)
	jobs, err := q.Claim(t.Context(), "w", []string{string(ping)}, 10)
	require.NoError(t, err)
	require.Len(t, jobs, 1)
	held := jobs[0]
	require.NoError(t, q.Heartbeat(t.Context(), "w", held))
	require.NoError(t, held.StartStep(t.Context(), "s"))
	require.NoError(t, finishStep(t.Context(), held, "s", map[string]int{"n": 1}))
	require.NoError(t, held.Fail(t.Context(), queue.Defer(errBroken, 0)))
	require.ErrorIs(t, q.Heartbeat(t.Context(), "w", held), queue.ErrNotRunning)

	jobs, err = q.Claim(t.Context(), "w", []string{string(ping)}, 10)
	require.NoError(t, err)
	require.ErrorIs(t, held.Complete(t.Context(), nil), queue.ErrLeaseLost)
	require.ErrorIs(t, q.Heartbeat(t.Context(), "another", jobs[0]), queue.ErrLeaseLost,
		"a worker that is not registered holds nothing")
	require.NoError(t, completeWith(t.Context(), jobs[0], "done"))
	require.Equal(t, `"done"`, string(job(t, q, id).Result))
	steps, err := q.Steps(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, `{"n":1}`, string(steps[0].Result))
}

// What a handler's attempt can do, one that is claimed by hand can do as well, except to be failed by two.
func TestAnAttemptByHandIsThatOfAHandler(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		q := on(t, db.Driver(), &queue.Config{Logger: slog.New(slog.DiscardHandler)})
		id := enqueue(t, q, nil)
		for range 2 {
			claimed, err := q.Claim(t.Context(), "w", []string{string(ping)}, 1)
			require.NoError(t, err)
			require.Len(t, claimed, 1)
			claimed[0].Logger().Info("tried")
			require.NoError(t, claimed[0].Fail(t.Context(), queue.Defer(errBroken, 0)))
		}
		lines, err := q.Logs(t.Context(), id)
		require.NoError(t, err)
		require.Len(t, lines, 2)
		work(t, q, func(ctx context.Context, w *queue.Work[int]) error {
			require.ErrorContains(t, w.Fail(ctx, errBroken), "return the error from the handler")
			return nil
		})
		require.Equal(t, queue.StateCompleted, job(t, q, id).State)
	})
}

func TestUserTransactionCancelsRetriesCompletesAndFails(t *testing.T) {
	q := queuetest.New(t)
	completed, failed, canceled := enqueue(t, q, nil), enqueue(t, q, nil), enqueue(t, q, nil)
	jobs, err := q.Claim(t.Context(), "w", []string{string(ping)}, 3)
	require.NoError(t, err)
	all := func(ctx context.Context, tx queue.Tx) error {
		require.NoError(t, jobs[0].CompleteTx(ctx, tx))
		require.NoError(t, jobs[1].FailTx(ctx, tx, queue.Fatal(errBroken)))
		require.NoError(t, q.CancelTx(ctx, tx, canceled))
		require.NoError(t, q.RetryTx(ctx, tx, canceled))
		return nil
	}
	require.ErrorIs(t, q.DB().Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		require.NoError(t, all(ctx, tx))
		return errBroken
	}), errBroken)
	for _, id := range []string{completed, failed, canceled} {
		require.Equal(t, queue.StateRunning, job(t, q, id).State)
	}
	require.NoError(t, q.DB().Write(t.Context(), all))
	require.Equal(t, queue.StateCompleted, job(t, q, completed).State)
	require.Equal(t, queue.StateFailed, job(t, q, failed).State)
	require.Equal(t, queue.StateQueued, job(t, q, canceled).State)
}

func TestRetryPolicyDelay(t *testing.T) {
	for range 200 {
		for failures, want := range map[int]time.Duration{
			1: 2 * time.Second, 2: 4 * time.Second, 7: 128 * time.Second, 8: 256 * time.Second, 9: 5 * time.Minute,
			60: 5 * time.Minute, 1000: 5 * time.Minute,
		} {
			got := queue.DelayOf(queue.DefaultRetry, failures)
			require.GreaterOrEqual(t, got, want*3/4, "after %d failures", failures)
			require.LessOrEqual(t, got, want*5/4+1, "after %d failures", failures)
		}
	}
	for failures, want := range map[int]time.Duration{1: 30 * time.Second, 2: time.Minute, 6: 15 * time.Minute,
		1 << 40: 15 * time.Minute} {
		require.Equal(t, want, queue.DelayOf(queue.SlowRetry, failures))
	}
	one, another := queue.DelayOf(queue.DefaultRetry, 5), queue.DelayOf(queue.DefaultRetry, 5)
	require.NotEqual(t, one, another, "jitter")
}

func TestStates(t *testing.T) {
	finished := map[queue.State]bool{queue.StateCompleted: true, queue.StateFailed: true, queue.StateCanceled: true}
	require.Len(t, queue.States(), 5)
	for _, s := range queue.States() {
		require.Equal(t, finished[s], s.Finished(), s)
	}
}

func TestMigrate(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		require.NoError(t, queue.Migrate(t.Context(), db), "a second run changes nothing")
		var version int
		require.NoError(t, db.Reader().Get(&version,
			"SELECT MAX(version) FROM postroom_migrations WHERE package = 'queue'"))
		files, err := os.ReadDir("migrations/" + string(db.Dialect()))
		require.NoError(t, err)
		require.Len(t, files, version)
	})
}

func TestWhoeverForgetsToMigrateIsTold(t *testing.T) {
	dbtest.EachEmpty(t, func(t *testing.T, db queue.DB) {
		q := on(t, db.Driver(), nil)
		hint := map[driver.Dialect]string{
			driver.SQLite:   "(the queue's tables are not here: call queue.Migrate first)",
			driver.Postgres: "(the queue's tables are not here: call queue.Migrate first, or correct the connection's search_path)",
		}[db.Dialect()]
		_, err := q.Enqueue(t.Context(), ping.New(1, nil))
		require.ErrorContains(t, err, hint)
		_, err = q.Jobs(t.Context(), queue.Filter{})
		require.ErrorContains(t, err, hint)
		require.ErrorContains(t, q.SetSchedule(t.Context(), daily("")), hint)
		_, err = q.Schedules(t.Context())
		require.ErrorContains(t, err, hint)
		d, err := queue.NewDispatcher(q, nil)
		require.NoError(t, err)
		queue.Handle(d, ping, func(context.Context, *queue.Work[int]) error { return nil })
		require.ErrorContains(t, d.Run(t.Context()), hint)
	})
}
