package postgres_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

// A million jobs of 200 types, without limit keys and with 1,000, each with capacity for two; an operation is a claim
// and the end of what it got. What has no capacity must cost nothing.
func BenchmarkClaimWithinLimits(b *testing.B) {
	for _, limited := range []string{"none", "keys", "keys and types"} {
		q, capacities := limitedQueue(b, limited)
		for _, limit := range []int{10, 100} {
			b.Run(fmt.Sprintf("limits=%s/claim=%d", limited, limit), func(b *testing.B) {
				claiming := make([]time.Duration, 0, b.N)
				var ending time.Duration
				got := 0
				for range b.N {
					began := time.Now()
					jobs := claimSome(b, q, capacities, limit)
					claiming = append(claiming, time.Since(began))
					got += len(jobs)
					began = time.Now()
					endAll(b, q, jobs)
					ending += time.Since(began)
				}
				slices.Sort(claiming)
				b.ReportMetric(float64(claiming[b.N/2].Microseconds()), "p50-µs/claim")
				b.ReportMetric(float64(claiming[b.N*99/100].Microseconds()), "p99-µs/claim")
				b.ReportMetric(float64(ending.Microseconds())/float64(b.N), "µs/end")
				b.ReportMetric(float64(got)/float64(b.N), "jobs/claim")
			})
		}
	}
}

// One key with very many waiting jobs, of which one may run at once: an operation is a claim and the end of what it
// got.
func BenchmarkClaimOfOneKey(b *testing.B) {
	q, d := benchQueue(b)
	require.NoError(b, q.SetLimit(b.Context(), queue.ForKeyPrefix("k"), queue.Limit{MaxRunning: 1}))
	batch := make([]queue.NewJob, 1000)
	for n := 0; n < 20_000; n += len(batch) {
		for i := range batch {
			batch[i] = queue.Type[int]("t").New(i, &queue.Options{LimitKey: "k"})
		}
		_, err := q.EnqueueMany(b.Context(), batch)
		require.NoError(b, err)
	}
	run(b, d, "VACUUM ANALYZE")
	types := []driver.TypeCapacity{{Type: "t", Capacity: 100}}
	b.ResetTimer()
	for range b.N {
		jobs := claimSome(b, q, types, 100)
		require.Len(b, jobs, 1)
		endAll(b, q, jobs)
	}
}

func limitedQueue(b *testing.B, limited string) (*queue.Queue, []driver.TypeCapacity) {
	b.Helper()
	const jobs, types, keys = 1_000_000, 200, 1000
	q, d := benchQueue(b)
	capacities := make([]driver.TypeCapacity, types)
	for i := range capacities {
		capacities[i] = driver.TypeCapacity{Type: fmt.Sprint("type-", i), Capacity: 1000}
		if limited == "keys and types" {
			require.NoError(b, q.SetLimit(b.Context(), queue.ForType(capacities[i].Type),
				queue.Limit{MaxRunning: 50, Rate: 100_000, Per: time.Second, Burst: 10_000}))
		}
	}
	for i := range keys {
		if limited != "none" {
			require.NoError(b, q.SetLimit(b.Context(), queue.ForKey(fmt.Sprint("key-", i)), queue.Limit{MaxRunning: 2}))
		}
	}
	// As with accounts: a key has jobs of a few types.
	random := rand.New(rand.NewPCG(1, 2))
	for n := 0; n < jobs; n += 1000 {
		batch := make([]queue.NewJob, 1000)
		for i := range batch {
			key := random.IntN(keys)
			opts := &queue.Options{Priority: random.IntN(3)}
			if limited != "none" {
				opts.LimitKey = fmt.Sprint("key-", key)
			}
			batch[i] = queue.Type[int](capacities[(key+random.IntN(4)*50)%types].Type).New(i, opts)
		}
		_, err := q.EnqueueMany(b.Context(), batch)
		require.NoError(b, err)
	}
	// The first claims admit.
	for range 100 {
		endAll(b, q, claimSome(b, q, capacities, 1))
	}
	run(b, d, "VACUUM ANALYZE")
	return q, capacities
}

func claimSome(b *testing.B, q *queue.Queue, capacities []driver.TypeCapacity, limit int) []driver.Job {
	b.Helper()
	result, err := q.DB().Driver().Claim(b.Context(), driver.ClaimRequest{WorkerID: "w", Types: capacities,
		Limit: limit, Now: time.Now()})
	require.NoError(b, err)
	return result.Jobs
}

func endAll(b *testing.B, q *queue.Queue, jobs []driver.Job) {
	b.Helper()
	outcomes := make([]driver.Outcome, len(jobs))
	for i := range jobs {
		outcomes[i] = driver.Outcome{Lease: jobs[i].Lease(), State: driver.StateCompleted, Kind: driver.KindCompleted,
			At: time.Now()}
	}
	require.NoError(b, driver.Write(b.Context(), q.DB(), func(ctx context.Context, tx *driver.WriteTx) error {
		_, err := q.DB().Driver().Finish(ctx, tx, outcomes)
		return err
	}))
}
