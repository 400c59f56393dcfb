package postgres_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

const benchJob queue.Type[int] = "bench"

func benchQueue(b *testing.B) (*queue.Queue, driver.Driver) {
	b.Helper()
	db := dbtest.Postgres(b)
	require.NoError(b, queue.Migrate(b.Context(), db))
	q, err := queue.New(db, nil)
	require.NoError(b, err)
	return q, db.Driver()
}

func fill(b *testing.B, q *queue.Queue, n, types int, opts *queue.Options) {
	b.Helper()
	for n > 0 {
		batch := make([]queue.NewJob, min(n, 1000))
		for i := range batch {
			batch[i] = queue.Type[int](fmt.Sprint("bench", i%types)).New(i, opts)
		}
		_, err := q.EnqueueMany(b.Context(), batch)
		require.NoError(b, err)
		n -= len(batch)
	}
}

// One job a call, from several goroutines at once.
func BenchmarkEnqueue(b *testing.B) {
	for _, goroutines := range []int{1, 16} {
		b.Run(fmt.Sprint("goroutines=", goroutines), func(b *testing.B) {
			q, _ := benchQueue(b)
			share(b, goroutines, func() error {
				_, err := q.Enqueue(b.Context(), benchJob.New(1, nil))
				return err
			})
		})
	}
}

// share has several goroutines do b.N times together what do does.
func share(b *testing.B, goroutines int, do func() error) {
	b.Helper()
	var left atomic.Int64
	left.Store(int64(b.N))
	var wg sync.WaitGroup
	b.ResetTimer()
	for range goroutines {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				if err := do(); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// Jobs in batches of 1000; an operation is one job.
func BenchmarkEnqueueMany(b *testing.B) {
	q, _ := benchQueue(b)
	b.ResetTimer()
	fill(b, q, b.N, 1, nil)
}

// A dispatcher runs handlers that do nothing; an operation is one job from claim to completion.
func BenchmarkDrain(b *testing.B) {
	complete := func(ctx context.Context, w *queue.Work[int]) error {
		return w.Complete(ctx, func(context.Context, queue.Tx) error { return nil })
	}
	nothing := func(context.Context, *queue.Work[int]) error { return nil }
	for _, c := range []struct {
		name    string
		workers int
		handle  func(context.Context, *queue.Work[int]) error
	}{{"nothing/workers=10", 10, nothing}, {"nothing/workers=100", 100, nothing},
		{"complete/workers=10", 10, complete}} {
		b.Run(c.name, func(b *testing.B) {
			q, _ := benchQueue(b)
			fill(b, q, b.N, 1, nil)
			d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{Workers: c.workers})
			require.NoError(b, err)
			queue.Handle(d, "bench0", c.handle)
			b.ResetTimer()
			require.NoError(b, d.RunUntilIdle(b.Context()))
		})
	}
}

// From the call of Enqueue to the handler, with nothing else to do.
func BenchmarkEnqueueToStart(b *testing.B) {
	q, _ := benchQueue(b)
	d, err := queue.NewDispatcher(q, nil)
	require.NoError(b, err)
	started := make(chan struct{})
	queue.Handle(d, benchJob, func(context.Context, *queue.Work[int]) error {
		started <- struct{}{}
		return nil
	})
	ctx, stop := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	b.ResetTimer()
	for range b.N {
		_, err := q.Enqueue(ctx, benchJob.New(1, nil))
		require.NoError(b, err)
		<-started
	}
	b.StopTimer()
	stop()
	require.NoError(b, <-ended)
}

// A claim must not pay for jobs that wait for next week, however many and however urgent, nor for those that are done.
func BenchmarkClaim(b *testing.B) {
	const many = 500_000
	week := 7 * 24 * time.Hour
	for _, c := range []struct {
		name  string
		types int
		stage func(b *testing.B, q *queue.Queue, d driver.Driver)
	}{
		{"alone", 1, func(*testing.B, *queue.Queue, driver.Driver) {}},
		{"scheduled", 1, func(b *testing.B, q *queue.Queue, _ driver.Driver) {
			fill(b, q, many, 1, &queue.Options{Priority: 10, NotBefore: time.Now().Add(week)})
		}},
		{"finished", 1, func(b *testing.B, q *queue.Queue, d driver.Driver) {
			fill(b, q, many, 1, nil)
			run(b, d, "UPDATE jobs SET state = 'completed', finished_at = updated_at")
			run(b, d, "VACUUM jobs")
		}},
		{"types", 200, func(b *testing.B, q *queue.Queue, d driver.Driver) {
			fill(b, q, 2*many, 200, nil)
			run(b, d,
				"INSERT INTO job_limits (kind, name, paused, max_running, updated_at) SELECT 'key', 'k' || n, FALSE, 1, now() FROM generate_series(1, 1000) AS n")
		}},
	} {
		for _, limit := range []int{1, 100} {
			b.Run(fmt.Sprintf("%s/limit=%d", c.name, limit), func(b *testing.B) {
				q, d := benchQueue(b)
				c.stage(b, q, d)
				fill(b, q, b.N*limit, c.types, nil)
				capacities := make([]driver.TypeCapacity, c.types)
				for i := range capacities {
					capacities[i] = driver.TypeCapacity{Type: fmt.Sprint("bench", i), Capacity: limit}
				}
				b.ResetTimer()
				for range b.N {
					result, err := d.Claim(b.Context(), driver.ClaimRequest{WorkerID: "w", Types: capacities,
						Limit: limit, Now: time.Now()})
					require.NoError(b, err)
					require.NotEmpty(b, result.Jobs)
				}
			})
		}
	}
}

func run(b testing.TB, d driver.DB, statement string) {
	b.Helper()
	_, err := d.Reader().ExecContext(b.Context(), statement)
	require.NoError(b, err)
}

// What the statements alone cost, on the same table: the measure of the above.
func BenchmarkRaw(b *testing.B) {
	b.Run("insert", func(b *testing.B) {
		_, d := benchQueue(b)
		share(b, 1, func() error { return rawInsert(b, d) })
	})
	b.Run("insert/goroutines=16", func(b *testing.B) {
		_, d := benchQueue(b)
		share(b, 16, func() error { return rawInsert(b, d) })
	})
	b.Run("copy", func(b *testing.B) {
		_, d := benchQueue(b)
		b.ResetTimer()
		rawCopy(b, d, b.N)
	})
	b.Run("drain", func(b *testing.B) {
		_, d := benchQueue(b)
		rawCopy(b, d, b.N)
		b.ResetTimer()
		for left := b.N; left > 0; {
			var ids []string
			require.NoError(b, d.Reader().Select(&ids,
				`UPDATE jobs SET state = 'running', attempt = attempt + 1, worker_id = 'w', started_at = now(), updated_at = now()
				WHERE id = ANY(ARRAY(SELECT id FROM jobs WHERE state = 'queued' AND hold = 0 AND type = 'bench0' ORDER BY priority DESC, not_before, id LIMIT 1000 FOR UPDATE SKIP LOCKED)) RETURNING id`))
			_,
				err := d.Reader().Exec(
				`UPDATE jobs SET state = 'completed', updated_at = now(), finished_at = now() WHERE id = ANY($1) AND state = 'running'`, ids)
			require.NoError(b, err)
			left -= len(ids)
		}
	})
}

func rawInsert(b *testing.B, d driver.DB) error {
	_, err := d.Reader().ExecContext(b.Context(),
		`INSERT INTO jobs (id, type, payload_json, priority, state, hold, not_before, max_attempts, created_at, updated_at)
		VALUES ($1, 'bench0', '1', 0, 'queued', 0, $2, 1, $2, $2)`, uuid.Must(uuid.NewV7()).String(), time.Now())
	return err
}

func rawCopy(b *testing.B, d driver.DB, n int) {
	b.Helper()
	conn, err := d.Reader().Conn(b.Context())
	require.NoError(b, err)
	defer conn.Close()
	columns := []string{"id", "type", "payload_json", "priority", "state", "hold", "not_before", "max_attempts",
		"created_at", "updated_at"}
	require.NoError(b, conn.Raw(func(dc any) error {
		for n > 0 {
			some := min(n, 1000)
			_, err := dc.(*stdlib.Conn).Conn().CopyFrom(b.Context(), pgx.Identifier{"jobs"}, columns,
				pgx.CopyFromSlice(some, func(int) ([]any, error) {
					now := time.Now()
					return []any{uuid.Must(uuid.NewV7()).String(), "bench0", "1", 0, "queued", 0, now, 1, now, now}, nil
				}))
			if err != nil {
				return err
			}
			n -= some
		}
		return nil
	}))
}
