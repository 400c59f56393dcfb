package queueadmin_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queueadmin"
	"github.com/postroom-go/postroom/queue/queueencrypt"
	"github.com/postroom-go/postroom/queue/queuetest"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) { dbtest.Main(m, queue.Migrate) }

const ping queue.Type[int] = "ping"

type pingHandler = func(ctx context.Context, w *queue.Work[int]) error

var (
	errBroken   = errors.New("broken")
	errDatabase = errors.New("database is away")
)

func enqueue(t *testing.T, q *queue.Queue, opts *queue.Options) string {
	t.Helper()
	enqueued, err := q.Enqueue(t.Context(), ping.New(1, opts))
	require.NoError(t, err)
	return enqueued.ID
}

func job(t *testing.T, q *queue.Queue, id string) *queue.Job {
	t.Helper()
	j, err := q.Job(t.Context(), id)
	require.NoError(t, err)
	return j
}

func attempts(t *testing.T, q *queue.Queue, id string) []queue.AttemptRecord {
	t.Helper()
	records, err := q.Attempts(t.Context(), id)
	require.NoError(t, err)
	return records
}

// work runs all pings with the handler.
func work(t *testing.T, q *queue.Queue, fn pingHandler) {
	t.Helper()
	queuetest.Work(t, q, func(d *queue.Dispatcher) { queue.Handle(d, ping, fn) })
}

// start runs a dispatcher beside the test; stop ends it and returns what Run returned.
func start(t *testing.T, q *queue.Queue, cfg *queue.DispatcherConfig, fn pingHandler) (stop func() error) {
	t.Helper()
	d, err := queue.NewDispatcher(q, cfg)
	require.NoError(t, err)
	queue.Handle(d, ping, fn)
	ctx, cancel := context.WithCancel(context.Background())
	result := make(chan error, 1)
	go func() { result <- d.Run(ctx) }()
	return func() error {
		cancel()
		return <-result
	}
}

// on is a queue on the same database behind another driver: another process.
func on(t *testing.T, db queue.DB, cfg *queue.Config) *queue.Queue {
	t.Helper()
	q, err := queue.New(db, cfg)
	require.NoError(t, err)
	return q
}

func encrypting(t *testing.T, ids ...string) queue.Codec {
	t.Helper()
	keys := make([]queueencrypt.Key, len(ids))
	for i, id := range ids {
		keys[i] = key(id)
	}
	c, err := queueencrypt.NewCodec(keys...)
	require.NoError(t, err)
	return c
}

func logs(t *testing.T, q *queue.Queue, id string) []queue.LogLine {
	t.Helper()
	lines, err := q.Logs(t.Context(), id)
	require.NoError(t, err)
	return lines
}

// claimAs takes all pings for a worker that is never heard of again.
func claimAs(t *testing.T, q *queue.Queue, worker string) []*queue.Attempt {
	t.Helper()
	jobs, err := q.Claim(t.Context(), worker, []string{string(ping)}, 100)
	require.NoError(t, err)
	return jobs
}

func schedule(t *testing.T, q *queue.Queue, name string) queue.StoredSchedule {
	t.Helper()
	all, err := q.Schedules(t.Context())
	require.NoError(t, err)
	for _, s := range all {
		if s.Name == name {
			return s
		}
	}
	t.Fatalf("there is no schedule %q", name)
	return queue.StoredSchedule{}
}

func TestAnEncryptedQueueIsMovedAndChecked(t *testing.T) {
	moving(t, func(t *testing.T, from, to *queue.Queue) {
		ctx := t.Context()
		cfg := &queue.Config{Codec: encrypting(t, "a")}
		old, young := on(t, from.DB(), cfg), on(t, to.DB(), cfg)
		id := enqueue(t, old, &queue.Options{MaxAttempts: 1})
		work(t, old, func(_ context.Context, w *queue.Work[int]) error {
			w.Logger().Info("tries", "n", 1)
			return errBroken
		})
		waiting := enqueue(t, old, nil)
		want, lines := job(t, old, id), logs(t, old, id)
		require.Equal(t, errBroken.Error(), want.LastError)

		_, err := queueadmin.Move(ctx, old.DB(), young.DB(), nil)
		require.NoError(t, err)
		require.Equal(t, want, job(t, young, id))
		require.Equal(t, lines, logs(t, young, id))
		require.Equal(t, errBroken.Error(), attempts(t, young, id)[0].Error)

		for q, want := range map[*queue.Queue]int{young: 0, to: 1} {
			d, err := queue.NewDispatcher(q, nil)
			require.NoError(t, err)
			queue.Handle(d, ping, func(context.Context, *queue.Work[int]) error { return nil })
			incompatible, err := queueadmin.CheckProgram(ctx, d)
			require.NoError(t, err)
			require.Len(t, incompatible, want, "a program without the key cannot read what waits")
			for _, m := range incompatible {
				require.Equal(t, waiting, m.JobID)
				require.Contains(t, m.Text, queue.ErrNoCodec.Error())
			}
			violations, err := queueadmin.Verify(ctx, q)
			require.NoError(t, err)
			require.Empty(t, violations)
		}
	})
}

func key(id string) queueencrypt.Key {
	return queueencrypt.Key{ID: id, Secret: bytes.Repeat([]byte(id[:1]), 32)}
}

func queueOn(t *testing.T, db queue.DB) *queue.Queue {
	t.Helper()
	require.NoError(t, queue.Migrate(t.Context(), db))
	q, err := queue.New(db, &queue.Config{Retry: exactRetry})
	require.NoError(t, err)
	return q
}

func set(t *testing.T, q *queue.Queue, s queue.Schedule) {
	t.Helper()
	require.NoError(t, q.SetSchedule(t.Context(), s))
}

func daily(catchUp queue.CatchUp) queue.Schedule {
	return queue.Schedule{Name: "daily", Cron: "0 7 * * *", Job: ping.New(1, nil), CatchUp: catchUp}
}

// exactRetry waits 2 s, 4 s, 8 s and so on.
var exactRetry = queue.RetryPolicy{Base: 2 * time.Second, Factor: 2, Cap: time.Hour}

// finishStep stores the result of a step.
func finishStep(ctx context.Context, r queue.Running, name string, result any) error {
	_, err := queue.Step(ctx, r, name, func(context.Context) (any, error) { return result, nil })
	return err
}
