package postgres_test

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/postgres"
)

// Many dispatchers of ten workers each are stopped at once in the middle of their work, as by SIGTERM; an operation is
// one dispatcher. It has a server of its own, which allows for so many connections. How long 64 take, and how many
// lines they log:
//
//	go test ./queue/postgres -run '^$' -bench StopOfMany -benchtime 64x
func BenchmarkStopOfMany(b *testing.B) {
	cluster := dbtest.NewCluster(b)
	admin, err := postgres.Open(b.Context(), cluster.DSN(), nil)
	require.NoError(b, err)
	run(b, admin, "ALTER SYSTEM SET max_connections = 1000")
	cluster.Restart(b, dbtest.Fast)
	require.NoError(b, queue.Migrate(b.Context(), admin))
	q, err := queue.New(admin, nil)
	require.NoError(b, err)
	fill(b, q, 500_000, 1, nil)
	run(b, admin, "VACUUM ANALYZE jobs")
	require.NoError(b, admin.Close())

	var ran atomic.Int64
	var lines lineCounter
	middle := make(chan struct{})
	ctx, stop := context.WithCancel(b.Context())
	var running sync.WaitGroup
	took := make(chan time.Duration, b.N)
	var stopped time.Time
	for range b.N {
		db, err := postgres.Open(b.Context(), dbtest.With(b, cluster.DSN(), "pool_max_conns", "12"), nil)
		require.NoError(b, err)
		defer db.Close()
		q, err := queue.New(db, nil)
		require.NoError(b, err)
		d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{Logger: slog.New(&lines)})
		require.NoError(b, err)
		queue.Handle(d, queue.Type[int]("bench0"), func(context.Context, *queue.Work[int]) error {
			time.Sleep(5 * time.Millisecond)
			if ran.Add(1) == 100_000 {
				close(middle)
			}
			return nil
		})
		running.Go(func() {
			if err := d.Run(ctx); err != nil {
				b.Error(err)
			}
			took <- time.Since(stopped)
		})
	}
	<-middle
	stopped = time.Now()
	b.ResetTimer()
	stop()
	running.Wait()
	close(took)
	b.StopTimer()
	var each []time.Duration
	for t := range took {
		each = append(each, t)
	}
	slices.Sort(each)
	b.ReportMetric(each[len(each)/2].Seconds(), "s/stop-p50")
	b.ReportMetric(each[len(each)-1].Seconds(), "s/stop-max")
	b.ReportMetric(float64(lines.n.Load()), "lines")
}

// A lineCounter counts the log lines that are worth a look.
type lineCounter struct{ n atomic.Int64 }

func (c *lineCounter) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn
}
func (c *lineCounter) WithAttrs([]slog.Attr) slog.Handler { return c }
func (c *lineCounter) WithGroup(string) slog.Handler      { return c }
func (c *lineCounter) Handle(context.Context, slog.Record) error {
	c.n.Add(1)
	return nil
}
