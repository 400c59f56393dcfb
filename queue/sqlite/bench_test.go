package sqlite_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/sqlite"
)

const benchJob queue.Type[int] = "bench"

func benchQueue(b *testing.B, durability sqlite.Durability) *queue.Queue {
	b.Helper()
	db := openFile(b, &sqlite.Config{Durability: durability})
	require.NoError(b, queue.Migrate(b.Context(), db))
	q, err := queue.New(db, nil)
	require.NoError(b, err)
	return q
}

func fill(b *testing.B, q *queue.Queue, n int, opts *queue.Options) {
	b.Helper()
	for n > 0 {
		batch := make([]queue.NewJob, min(n, 1000))
		for i := range batch {
			batch[i] = benchJob.New(i, opts)
		}
		_, err := q.EnqueueMany(b.Context(), batch)
		require.NoError(b, err)
		n -= len(batch)
	}
}

// One job a call, from several goroutines at once: what grouping buys.
func BenchmarkEnqueue(b *testing.B) {
	for _, durability := range []sqlite.Durability{sqlite.Full, sqlite.Normal} {
		for _, goroutines := range []int{1, 16} {
			b.Run(fmt.Sprintf("%s/goroutines=%d", durability, goroutines), func(b *testing.B) {
				q := benchQueue(b, durability)
				b.ReportAllocs()
				var left atomic.Int64
				left.Store(int64(b.N))
				var wg sync.WaitGroup
				b.ResetTimer()
				for range goroutines {
					wg.Go(func() {
						for left.Add(-1) >= 0 {
							if _, err := q.Enqueue(b.Context(), benchJob.New(1, nil)); err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				wg.Wait()
			})
		}
	}
}

// Jobs in batches of 1000; an operation is one job.
func BenchmarkEnqueueMany(b *testing.B) {
	q := benchQueue(b, sqlite.Normal)
	b.ReportAllocs()
	b.ResetTimer()
	fill(b, q, b.N, nil)
}

// A dispatcher runs handlers that do nothing; an operation is one job from claim to completion.
func BenchmarkDrain(b *testing.B) {
	complete := func(ctx context.Context, w *queue.Work[int]) error {
		return w.Complete(ctx, func(context.Context, queue.Tx) error { return nil })
	}
	row := func(ctx context.Context, w *queue.Work[int]) error {
		return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
			_, err := tx.ExecContext(ctx, "INSERT INTO effects (n, text) VALUES ($1, $2)", w.Payload, "a row of some length")
			return err
		})
	}
	nothing := func(context.Context, *queue.Work[int]) error { return nil }
	for _, c := range []struct {
		name    string
		workers int
		handle  func(context.Context, *queue.Work[int]) error
	}{{"nothing/workers=10", 10, nothing}, {"nothing/workers=100", 100, nothing}, {"complete/workers=10", 10, complete},
		{"complete/workers=100", 100, complete}, {"row/workers=10", 10, row}, {"row/workers=100", 100, row}} {
		b.Run(c.name, func(b *testing.B) {
			q := benchQueue(b, sqlite.Normal)
			require.NoError(b, q.DB().Write(b.Context(), func(ctx context.Context, tx queue.Tx) error {
				_, err := tx.ExecContext(ctx, "CREATE TABLE effects (n INTEGER NOT NULL, text TEXT NOT NULL)")
				return err
			}))
			fill(b, q, b.N, nil)
			d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{Workers: c.workers})
			require.NoError(b, err)
			queue.Handle(d, benchJob, c.handle)
			b.ReportAllocs()
			b.ResetTimer()
			require.NoError(b, d.RunUntilIdle(b.Context()))
		})
	}
}

// A claim must not pay for jobs that wait for next week, however many and however urgent.
func BenchmarkClaimBehindScheduled(b *testing.B) {
	for _, scheduled := range []int{0, 100_000} {
		b.Run(fmt.Sprint("scheduled=", scheduled), func(b *testing.B) {
			q := benchQueue(b, sqlite.Normal)
			fill(b, q, scheduled, &queue.Options{Priority: 10, NotBefore: time.Now().Add(7 * 24 * time.Hour)})
			fill(b, q, b.N, nil)
			b.ResetTimer()
			for range b.N {
				jobs, err := q.Claim(b.Context(), "w", []string{string(benchJob)}, 1)
				require.NoError(b, err)
				require.Len(b, jobs, 1)
			}
		})
	}
}

// A program claims by itself; an operation is one job.
func BenchmarkClaimByHand(b *testing.B) {
	for _, batch := range []int{1, 100} {
		b.Run(fmt.Sprintf("batch=%d", batch), func(b *testing.B) {
			q := benchQueue(b, sqlite.Normal)
			fill(b, q, b.N, nil)
			b.ReportAllocs()
			b.ResetTimer()
			for left := b.N; left > 0; {
				claimed, err := q.Claim(b.Context(), "w", []string{string(benchJob)}, min(batch, left))
				require.NoError(b, err)
				require.NotEmpty(b, claimed)
				left -= len(claimed)
			}
		})
	}
}
