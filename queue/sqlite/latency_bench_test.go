package sqlite_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// How long single enqueues take, to the slowest of a thousand: from sixteen goroutines alone, and from four beside a
// dispatcher that drains.
func BenchmarkEnqueueTail(b *testing.B) {
	for _, durability := range []sqlite.Durability{sqlite.Normal, sqlite.Full} {
		b.Run(fmt.Sprint(durability, "/alone"), func(b *testing.B) {
			reportTail(b, enqueueTimed(b, benchQueue(b, durability), 16))
		})
		b.Run(fmt.Sprint(durability, "/mixed"), func(b *testing.B) {
			q := benchQueue(b, durability)
			d, err := queue.NewDispatcher(q, nil)
			require.NoError(b, err)
			queue.Handle(d, benchJob, func(context.Context, *queue.Work[int]) error { return nil })
			ctx, stop := context.WithCancel(b.Context())
			ended := make(chan error, 1)
			go func() { ended <- d.Run(ctx) }()
			times := enqueueTimed(b, q, 4)
			stop()
			require.NoError(b, <-ended)
			reportTail(b, times)
		})
	}
}

func enqueueTimed(b *testing.B, q *queue.Queue, goroutines int) []time.Duration {
	times := make([]time.Duration, b.N)
	var next atomic.Int64
	var wg sync.WaitGroup
	b.ResetTimer()
	for range goroutines {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(b.N); i = next.Add(1) - 1 {
				began := time.Now()
				if _, err := q.Enqueue(b.Context(), benchJob.New(1, nil)); err != nil {
					b.Error(err)
					return
				}
				times[i] = time.Since(began)
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	return times
}

func reportTail(b *testing.B, times []time.Duration) {
	slices.Sort(times)
	for name, share := range map[string]float64{"p50-ms": .5, "p99-ms": .99, "p99.9-ms": .999, "max-ms": 1} {
		b.ReportMetric(float64(times[int(share*float64(len(times)-1))])/float64(time.Millisecond), name)
	}
}
