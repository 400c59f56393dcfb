package sqlite_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// A million jobs of 200 types with 1,000 limit keys, each with capacity for two; an operation is a claim and the end of
// what it got. What has no capacity must cost nothing.
func BenchmarkClaimWithinLimits(b *testing.B) {
	const jobs, types, keys = 1_000_000, 200, 1000
	for _, limited := range []string{"none", "keys", "keys and types"} {
		q, capacities := limitedQueue(b, limited, jobs, types, keys)
		db := q.DB().Driver()
		for _, limit := range []int{10, 100} {
			b.Run(fmt.Sprintf("limits=%s/claim=%d", limited, limit), func(b *testing.B) {
				var claiming, ending time.Duration
				got := 0
				for range b.N {
					began := time.Now()
					result, err := db.Claim(b.Context(), driver.ClaimRequest{WorkerID: "w", Types: capacities,
						Limit: limit, Now: began})
					claiming += time.Since(began)
					require.NoError(b, err)
					got += len(result.Jobs)
					began = time.Now()
					endAll(b, q, result.Jobs)
					ending += time.Since(began)
				}
				b.ReportMetric(float64(claiming.Microseconds())/float64(b.N), "µs/claim")
				b.ReportMetric(float64(ending.Microseconds())/float64(b.N), "µs/end")
				b.ReportMetric(float64(got)/float64(b.N), "jobs/claim")
			})
		}
	}
}

func limitedQueue(b *testing.B, limited string, jobs, types, keys int) (*queue.Queue, []driver.TypeCapacity) {
	b.Helper()
	q := benchQueue(b, sqlite.Normal)
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
			batch[i] = queue.Type[int](capacities[(key+random.IntN(4)*50)%types].Type).New(i,
				&queue.Options{Priority: random.IntN(3), LimitKey: fmt.Sprint("key-", key)})
		}
		_, err := q.EnqueueMany(b.Context(), batch)
		require.NoError(b, err)
	}
	// The first claims admit.
	for range 100 {
		result, err := q.DB().Driver().Claim(b.Context(), driver.ClaimRequest{WorkerID: "w", Types: capacities,
			Limit: 1, Now: time.Now()})
		require.NoError(b, err)
		endAll(b, q, result.Jobs)
	}
	return q, capacities
}

func endAll[J driver.Job | queue.Job](tb testing.TB, q *queue.Queue, jobs []J) {
	tb.Helper()
	outcomes := make([]driver.Outcome, len(jobs))
	for i := range jobs {
		outcomes[i] = driver.Outcome{Lease: leaseOf(jobs[i]), State: driver.StateCompleted, Kind: driver.KindCompleted,
			At: time.Now()}
	}
	require.NoError(tb, driver.Write(tb.Context(), q.DB(), func(ctx context.Context, tx *driver.WriteTx) error {
		_, err := q.DB().Driver().Finish(ctx, tx, outcomes)
		return err
	}))
}

func leaseOf[J driver.Job | queue.Job](j J) driver.Lease {
	job := driver.Job(j)
	return job.Lease()
}
