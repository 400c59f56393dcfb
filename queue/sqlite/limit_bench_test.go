package sqlite_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// A million jobs of 200 types with 1,000 limit keys, each with room for two; an operation is a claim and the end of what
// it got. What has no room must cost nothing.
func BenchmarkClaimWithinLimits(b *testing.B) {
	const jobs, types, keys = 1_000_000, 200, 1000
	for _, limited := range []string{"none", "keys", "keys and types"} {
		q, rooms := limitedQueue(b, limited, jobs, types, keys)
		driver := q.DB().(queue.Driver)
		for _, limit := range []int{10, 100} {
			b.Run(fmt.Sprintf("limits=%s/claim=%d", limited, limit), func(b *testing.B) {
				var claiming, ending time.Duration
				got := 0
				for range b.N {
					began := time.Now()
					result, err := driver.Claim(b.Context(), queue.ClaimRequest{WorkerID: "w", Types: rooms, Limit: limit, Now: began})
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

func limitedQueue(b *testing.B, limited string, jobs, types, keys int) (*queue.Queue, []queue.TypeRoom) {
	b.Helper()
	q := benchQueue(b, sqlite.Normal)
	rooms := make([]queue.TypeRoom, types)
	for i := range rooms {
		rooms[i] = queue.TypeRoom{Type: fmt.Sprint("type-", i), Room: 1000}
		if limited == "keys and types" {
			require.NoError(b, q.SetLimit(b.Context(), queue.ForType(rooms[i].Type), queue.Limit{MaxRunning: 50, Rate: 100_000, Per: time.Second, Burst: 10_000}))
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
			batch[i] = queue.Type[int](rooms[(key+random.IntN(4)*50)%types].Type).New(i, &queue.Options{Priority: random.IntN(3), LimitKey: fmt.Sprint("key-", key)})
		}
		_, err := q.EnqueueMany(b.Context(), batch)
		require.NoError(b, err)
	}
	// The first claims admit.
	for range 100 {
		result, err := q.DB().(queue.Driver).Claim(b.Context(), queue.ClaimRequest{WorkerID: "w", Types: rooms, Limit: 1, Now: time.Now()})
		require.NoError(b, err)
		endAll(b, q, result.Jobs)
	}
	return q, rooms
}

func endAll(tb testing.TB, q *queue.Queue, jobs []queue.Job) {
	tb.Helper()
	outcomes := make([]queue.Outcome, len(jobs))
	for i := range jobs {
		outcomes[i] = queue.Outcome{Lease: jobs[i].Lease(), State: queue.StateCompleted, Kind: queue.KindCompleted, At: time.Now()}
	}
	require.NoError(tb, q.DB().Write(tb.Context(), func(ctx context.Context, tx *queue.Tx) error {
		_, err := q.DB().(queue.Driver).Finish(ctx, tx, outcomes)
		return err
	}))
}
