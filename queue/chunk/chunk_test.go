package chunk_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/chunk"
	"github.com/postroom-go/postroom/queue/queuetest"
	"github.com/postroom-go/postroom/queue/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const index queue.Type[int] = "index"

var errBroken = errors.New("broken")

func enqueue(t *testing.T, q *queue.Queue, n int, opts *queue.Options) (ids []string) {
	t.Helper()
	jobs := make([]queue.NewJob, n)
	for i := range jobs {
		jobs[i] = index.New(i, opts)
	}
	results, err := q.EnqueueMany(t.Context(), jobs)
	require.NoError(t, err)
	for _, r := range results {
		ids = append(ids, r.ID)
	}
	return ids
}

func dispatcher(t *testing.T, q *queue.Queue, cfg chunk.Config,
	fn func(ctx context.Context, works []*queue.Work[int]) error, opts ...queue.HandlerOption,
) *queue.Dispatcher {
	t.Helper()
	d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{Pools: map[string]int{"index": 10}})
	require.NoError(t, err)
	require.NoError(t, chunk.Handle(d, index, cfg, fn, append(opts, queue.WithPool("index"))...))
	return d
}

func bubble(t *testing.T, fn func(t *testing.T, q *queue.Queue)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { fn(t, queuetest.New(t)) })
}

func TestJobsRunTogetherAndEndApart(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		ids := enqueue(t, q, 9, &queue.Options{MaxAttempts: 2})
		began := time.Now()
		var mu sync.Mutex
		var sizes []int
		var waited []time.Duration
		d := dispatcher(t, q, chunk.Config{Size: 4, Wait: time.Second},
			func(_ context.Context, works []*queue.Work[int]) error {
				mu.Lock()
				defer mu.Unlock()
				sizes, waited = append(sizes, len(works)), append(waited, time.Since(began))
				ends := make(chunk.Errors, len(works))
				for i, w := range works {
					w.SetResult(w.Payload * 10)
					switch w.Payload {
					case 1:
						ends[i] = errBroken
					case 2:
						ends[i] = queue.Cancel(errBroken)
					}
				}
				return ends
			}, queue.WithRetry(queue.RetryPolicy{Base: time.Minute, Factor: 1, Cap: time.Minute}))
		require.NoError(t, d.RunUntilIdle(t.Context()))
		require.Equal(t, []int{4, 4, 1, 1}, sizes, "two are full, one waits in vain, and one job is retried")
		require.Equal(t, []time.Duration{0, 0, time.Second}, waited[:3])
		for i, id := range ids {
			job, err := q.Job(t.Context(), id)
			require.NoError(t, err)
			switch i {
			case 1:
				require.Equal(t, []any{queue.StateFailed, 2}, []any{job.State, job.Failures})
			case 2:
				require.Equal(t, queue.StateCanceled, job.State)
			default:
				require.Equal(t, queue.StateCompleted, job.State)
				require.Equal(t, strconv.Itoa(i*10), string(job.Result))
			}
		}
	})
}

func TestChunksByKey(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		for i := range 3 {
			enqueue(t, q, i+1, &queue.Options{UserID: string(rune('a' + i))})
		}
		var mu sync.Mutex
		var users []string
		d := dispatcher(t, q, chunk.Config{Size: 3, Key: func(job *queue.Job) string { return job.UserID }},
			func(_ context.Context, works []*queue.Work[int]) error {
				mu.Lock()
				defer mu.Unlock()
				var user strings.Builder
				for _, w := range works {
					user.WriteString(w.Job.UserID)
				}
				users = append(users, user.String())
				return nil
			})
		require.NoError(t, d.RunUntilIdle(t.Context()))
		require.ElementsMatch(t, []string{"a", "bb", "ccc"}, users)
	})
}

func TestAFailureOfTheChunkIsOneOfEachJob(t *testing.T) {
	for name, c := range map[string]struct {
		fn   func(ctx context.Context, works []*queue.Work[int]) error
		text string
	}{
		"error": {func(context.Context, []*queue.Work[int]) error { return queue.Fatal(errBroken) }, "broken"},
		"panic": {func(context.Context, []*queue.Work[int]) error { panic("at the disco") },
			"handler panicked: at the disco"},
		"errors": {func(context.Context, []*queue.Work[int]) error { return chunk.Errors{errBroken} },
			"Errors has 1 errors for 2 jobs: broken"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, q *queue.Queue) {
				ids := enqueue(t, q, 2, &queue.Options{MaxAttempts: 1})
				require.NoError(t, dispatcher(t, q, chunk.Config{}, c.fn).RunUntilIdle(t.Context()))
				for _, id := range ids {
					job, err := q.Job(t.Context(), id)
					require.NoError(t, err)
					require.Equal(t, queue.StateFailed, job.State)
					require.Contains(t, job.LastError, c.text)
				}
			})
		})
	}
}

// A job that is canceled while it waits leaves, and a chunk stops when none of its jobs is wanted any more.
func TestCanceledJobs(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		ids := enqueue(t, q, 3, nil)
		var got int
		var cause error
		d := dispatcher(t, q, chunk.Config{Wait: time.Minute}, func(ctx context.Context, works []*queue.Work[int]) error {
			got = len(works)
			<-ctx.Done()
			cause = context.Cause(ctx)
			return cause
		})
		pass := func(d time.Duration) {
			time.Sleep(d)
			synctest.Wait()
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- d.Run(ctx) }()
		pass(time.Second)
		require.NoError(t, q.Cancel(t.Context(), ids[0]))
		pass(time.Minute)
		require.Equal(t, 2, got)
		require.NoError(t, q.Cancel(t.Context(), ids[1]))
		pass(time.Second)
		require.NoError(t, cause)
		require.NoError(t, q.Cancel(t.Context(), ids[2]))
		pass(time.Second)
		require.ErrorIs(t, cause, queue.ErrCanceled)
		cancel()
		require.NoError(t, <-ended)
	})
}

// The rows of a chunk and the ends of its jobs are one transaction, on each engine.
func TestAChunkCompletesInOneTransaction(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		q, err := queue.New(db, &queue.Config{Retry: queue.RetryPolicy{Base: time.Millisecond, Factor: 1, Cap: time.Second}})
		require.NoError(t, err)
		exec := func(ctx context.Context, tx queue.Tx, statement string, args ...any) error {
			_, err := tx.ExecContext(ctx, statement, args...)
			return err
		}
		require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			return exec(ctx, tx, "CREATE TABLE documents (id INTEGER PRIMARY KEY)")
		}))
		enqueue(t, q, 40, nil)
		broken := true
		d := dispatcher(t, q, chunk.Config{Size: 5}, func(ctx context.Context, works []*queue.Work[int]) error {
			return db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
				for _, w := range works {
					err := errors.Join(exec(ctx, tx, "INSERT INTO documents (id) VALUES ($1)", w.Payload), w.CompleteTx(ctx, tx))
					if err != nil {
						return err
					}
				}
				if broken && works[0].Payload == 0 {
					broken = false
					return errBroken
				}
				return nil
			})
		})
		require.NoError(t, d.RunUntilIdle(t.Context()))
		var n int
		require.NoError(t, db.Reader().Get(&n, "SELECT COUNT(*) FROM documents"))
		require.Equal(t, 40, n)
		counts, err := q.Counts(t.Context(), queue.Filter{})
		require.NoError(t, err)
		require.Equal(t, map[queue.State]int{queue.StateCompleted: 40}, counts)
	})
}

func TestConfigsAreChecked(t *testing.T) {
	q := queuetest.New(t)
	d, err := queue.NewDispatcher(q, nil)
	require.NoError(t, err)
	fn := func(context.Context, []*queue.Work[int]) error { return nil }
	require.ErrorContains(t, chunk.Handle(d, index, chunk.Config{Size: -1}, fn), "Config.Size is -1")
	require.ErrorContains(t, chunk.Handle(d, index, chunk.Config{Wait: time.Hour}, fn), "Config.Wait is 1h0m0s")
	require.ErrorContains(t, chunk.Handle[int](d, index, chunk.Config{}, nil), "the function is nil")
	require.Equal(t, "chunk: no errors", chunk.Errors{nil}.Error())
}

// Documents are indexed by the hundred, and one that the index refuses fails alone.
func ExampleHandle() {
	const Index queue.Type[string] = "index"
	ctx := context.Background()
	db, err := sqlite.OpenMemory(ctx)
	if err != nil {
		log.Fatal(err)
	}
	q, err := queue.New(db, &queue.Config{Logger: slog.New(slog.DiscardHandler)})
	if err := errors.Join(err, queue.Migrate(ctx, db)); err != nil {
		log.Fatal(err)
	}
	d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{Pools: map[string]int{"index": 100}})
	if err != nil {
		log.Fatal(err)
	}
	err = chunk.Handle(d, Index, chunk.Config{Size: 100, Wait: 50 * time.Millisecond},
		func(_ context.Context, works []*queue.Work[string]) error {
			fmt.Println(len(works), "documents")
			ends := make(chunk.Errors, len(works))
			for i, w := range works {
				if w.Payload == "" {
					ends[i] = queue.Fatal(errors.New("the document is empty"))
				}
			}
			return ends
		}, queue.WithPool("index"))
	if err != nil {
		log.Fatal(err)
	}
	_, err = q.EnqueueMany(ctx, []queue.NewJob{Index.New("one", nil), Index.New("", nil), Index.New("three", nil)})
	if err := errors.Join(err, d.RunUntilIdle(ctx)); err != nil {
		log.Fatal(err)
	}
	counts, err := q.Counts(ctx, queue.Filter{})
	fmt.Println(counts, errors.Join(err, db.Close()))
	// Output:
	// 3 documents
	// map[completed:2 failed:1] <nil>
}
