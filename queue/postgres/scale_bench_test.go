package postgres_test

import (
	"context"
	"fmt"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/postgres"
)

// A countingDB counts claims and what they bring.
type countingDB struct {
	driver.Driver
	claims, empty, claimed, waited *atomic.Int64
}

func (db countingDB) Unwrap() driver.Driver { return db.Driver }

func (db countingDB) Claim(ctx context.Context, req driver.ClaimRequest) (driver.ClaimResult, error) {
	began := time.Now()
	result, err := db.Driver.Claim(ctx, req)
	db.waited.Add(int64(time.Since(began)))
	if db.claims.Add(1); len(result.Jobs) == 0 {
		db.empty.Add(1)
	}
	db.claimed.Add(int64(len(result.Jobs)))
	return result, err
}

// Dispatchers of ten workers each, as on so many machines, behind a network of some latency each way; an operation is
// one job from claim to completion.
func BenchmarkMachines(b *testing.B) {
	for _, latency := range []time.Duration{0, time.Millisecond, 5 * time.Millisecond} {
		for _, work := range []string{"nothing", "5ms", "row"} {
			for _, types := range []int{1, 5} {
				for _, machines := range []int{1, 4, 8, 16, 32} {
					b.Run(fmt.Sprintf("latency=%v/work=%s/types=%d/machines=%d", latency, work, types, machines),
						func(b *testing.B) {
							runMachines(b, latency, work, types, machines)
						})
				}
			}
		}
	}
}

func handlerOf(work string) func(context.Context, *queue.Work[int]) error {
	switch work {
	case "5ms":
		return func(context.Context, *queue.Work[int]) error {
			time.Sleep(5 * time.Millisecond)
			return nil
		}
	case "row":
		return func(ctx context.Context, w *queue.Work[int]) error {
			return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
				_, err := tx.ExecContext(ctx, "INSERT INTO written (n) VALUES ($1)", w.Payload)
				return err
			})
		}
	}
	return func(context.Context, *queue.Work[int]) error { return nil }
}

func runMachines(b *testing.B, latency time.Duration, work string, types, machines int) {
	b.Helper()
	dsn := dbtest.PostgresDSN(b)
	direct, err := postgres.Open(b.Context(), dsn, nil)
	require.NoError(b, err)
	defer direct.Close()
	require.NoError(b, queue.Migrate(b.Context(), direct))
	run(b, direct, "CREATE TABLE written (n INTEGER)")
	q, err := queue.New(direct, nil)
	require.NoError(b, err)
	fill(b, q, b.N, types, nil)
	run(b, direct, "VACUUM ANALYZE jobs")

	behind, err := url.Parse(dbtest.With(b, dsn, "pool_max_conns", "12"))
	require.NoError(b, err)
	proxy := startSlowProxy(b, behind.Host, latency)
	behind.Host = proxy.listener.Addr().String()

	var claims, empty, claimed, waited, left atomic.Int64
	left.Store(int64(b.N))
	done := make(chan struct{})
	handle := handlerOf(work)
	var dispatchers []*queue.Dispatcher
	for range machines {
		db, err := postgres.Open(b.Context(), behind.String(), nil)
		require.NoError(b, err)
		defer db.Close()
		q, err := queue.New(queue.NewDB(countingDB{db.Driver(), &claims, &empty, &claimed, &waited}), nil)
		require.NoError(b, err)
		d, err := queue.NewDispatcher(q, nil)
		require.NoError(b, err)
		for i := range types {
			queue.Handle(d, queue.Type[int](fmt.Sprint("bench", i)),
				func(ctx context.Context, w *queue.Work[int]) error {
					err := handle(ctx, w)
					if left.Add(-1) == 0 {
						close(done)
					}
					return err
				})
		}
		dispatchers = append(dispatchers, d)
	}
	ctx, stop := context.WithCancel(b.Context())
	var wg sync.WaitGroup
	trips := proxy.trips.Load()
	b.ResetTimer()
	for _, d := range dispatchers {
		wg.Go(func() {
			if err := d.Run(ctx); err != nil {
				b.Error(err)
			}
		})
	}
	<-done
	b.StopTimer()
	seconds := b.Elapsed().Seconds()
	b.ReportMetric(float64(b.N)/seconds, "jobs/s")
	b.ReportMetric(float64(claims.Load())/seconds, "claims/s")
	b.ReportMetric(float64(claimed.Load())/float64(max(1, claims.Load()-empty.Load())), "jobs/claim")
	b.ReportMetric(float64(empty.Load())/seconds, "empty/s")
	b.ReportMetric(float64(waited.Load())/float64(max(1, claims.Load()))/1e6, "ms/claim")
	b.ReportMetric(float64(proxy.trips.Load()-trips)/float64(b.N), "trips/job")
	stop()
	wg.Wait()
}
