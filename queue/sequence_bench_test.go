package queue_test

import (
	"context"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// An operation is one job, enqueued by hundreds and run by 100 workers: of no sequence, of 10,000 in turn, of 100, and
// all of one.
func BenchmarkSequence(b *testing.B) {
	for name, open := range map[string]func(b *testing.B) queue.DB{
		"sqlite":   func(b *testing.B) queue.DB { return dbtest.SQLite(b) },
		"postgres": func(b *testing.B) queue.DB { return dbtest.Postgres(b) },
	} {
		for _, sequences := range []int{0, 10_000, 100, 1} {
			b.Run(name+"/"+strconv.Itoa(sequences), func(b *testing.B) {
				db := open(b)
				require.NoError(b, queue.Migrate(b.Context(), db))
				q, err := queue.New(db, nil)
				require.NoError(b, err)
				for done := 0; done < b.N; {
					var jobs []queue.NewJob
					for ; done < b.N && len(jobs) < 100; done++ {
						opts := &queue.Options{}
						if sequences > 0 {
							opts.Sequence = "customer:" + strconv.Itoa(done%sequences)
						}
						jobs = append(jobs, ping.New(done, opts))
					}
					_, err := q.EnqueueMany(b.Context(), jobs)
					require.NoError(b, err)
				}
				enqueued := b.Elapsed()
				d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{Workers: 100, PollInterval: time.Minute})
				require.NoError(b, err)
				ctx, stop := context.WithCancel(b.Context())
				var ran atomic.Int64
				queue.Handle(d, ping, func(context.Context, *queue.Work[int]) error {
					if ran.Add(1) == int64(b.N) {
						stop()
					}
					return nil
				})
				require.NoError(b, d.Run(ctx))
				b.ReportMetric(float64(b.N)/enqueued.Seconds(), "enqueued/s")
				b.ReportMetric(float64(b.N)/(b.Elapsed()-enqueued).Seconds(), "run/s")
			})
		}
	}
}
