package sqlite_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// SQLite prepares a statement anew, at many times the cost of executing it, where its plan depends on the value of a
// parameter: as a bare one does that is a LIMIT.
func TestClaimsPrepareTheirStatementsOnce(t *testing.T) {
	const jobs = 40
	for _, key := range []string{"", "account"} {
		t.Run("key="+key, func(t *testing.T) {
			db := openFile(t, nil)
			require.NoError(t, queue.Migrate(t.Context(), db))
			q, err := queue.New(db, nil)
			require.NoError(t, err)
			require.NoError(t, q.SetLimit(t.Context(), queue.ForKey("account"), queue.Limit{MaxRunning: 2}))
			for i := range jobs {
				_, err := q.Enqueue(t.Context(), benchJob.New(i, &queue.Options{LimitKey: key}))
				require.NoError(t, err)
			}
			turns := func() {
				t.Helper()
				for _, limit := range []int{1, 3, 2} {
					result, err := db.Driver().Claim(t.Context(), driver.ClaimRequest{
						WorkerID: "w", Types: []driver.TypeCapacity{{Type: string(benchJob), Capacity: jobs}},
						Limit: limit, Now: time.Now(),
					})
					require.NoError(t, err)
					require.NotEmpty(t, result.Jobs)
					endAll(t, q, result.Jobs)
				}
			}
			prepared, err := sqlite.CountPrepares(db)
			require.NoError(t, err)
			turns()
			turns()
			require.Positive(t, prepared.Swap(0))
			turns()
			require.Zero(t, prepared.Load())
		})
	}
}
