package sqlite_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// Jobs that do nothing, of one limit key or each of its own; an operation is one job from claim to completion.
func BenchmarkDrainLimited(b *testing.B) {
	for _, c := range []struct {
		name    string
		running int
		oneKey  bool
	}{{"one key/running=1", 1, true}, {"one key/running=10", 10, true}, {"key each", 1, false}} {
		b.Run(c.name, func(b *testing.B) {
			q := benchQueue(b, sqlite.Normal)
			require.NoError(b, q.SetLimit(b.Context(), queue.ForKeyPrefix("account:"),
				queue.Limit{MaxRunning: c.running}))
			for n := 0; n < b.N; n += 1000 {
				batch := make([]queue.NewJob, min(1000, b.N-n))
				for i := range batch {
					key := "account:0"
					if !c.oneKey {
						key = fmt.Sprint("account:", n+i)
					}
					batch[i] = benchJob.New(i, &queue.Options{LimitKey: key})
				}
				_, err := q.EnqueueMany(b.Context(), batch)
				require.NoError(b, err)
			}
			d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{Workers: 100})
			require.NoError(b, err)
			ctx, stop := context.WithCancel(b.Context())
			var left atomic.Int64
			left.Store(int64(b.N))
			queue.Handle(d, benchJob, func(context.Context, *queue.Work[int]) error {
				if left.Add(-1) == 0 {
					stop()
				}
				return nil
			})
			b.ReportAllocs()
			b.ResetTimer()
			require.NoError(b, d.Run(ctx))
		})
	}
}
