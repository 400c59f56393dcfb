package queue_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

const day = 24 * time.Hour

func TestPruneKeepsSevenDaysByDefault(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		q := on(t, db.Driver(), nil)
		jobs := make([]queue.NewJob, 1203)
		for i := range jobs {
			jobs[i] = ping.New(i, nil)
		}
		_, err := q.EnqueueMany(t.Context(), jobs)
		require.NoError(t, err)
		finish := func(state queue.State, n int, ago time.Duration) {
			require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
				_, err := tx.ExecContext(ctx, `UPDATE jobs SET state = $1, finished_at = $2
WHERE id IN (SELECT id FROM jobs WHERE state = 'queued' LIMIT $3)`, string(state), dbtime.Of(queue.Now(tx).Add(-ago)), n)
				return err
			}))
		}
		finish(queue.StateCompleted, 1100, 7*day+time.Minute)
		finish(queue.StateFailed, 50, 7*day+time.Minute)
		finish(queue.StateCanceled, 50, 7*day+time.Minute)
		finish(queue.StateCompleted, 1, 7*day-time.Minute)
		finish(queue.StateFailed, 1, 7*day-time.Minute)
		n, err := q.Prune(t.Context())
		require.NoError(t, err)
		require.Equal(t, 1200, n)
		counts, err := q.Counts(t.Context(), queue.Filter{})
		require.NoError(t, err)
		require.Equal(t, map[queue.State]int{queue.StateCompleted: 1, queue.StateFailed: 1, queue.StateQueued: 1},
			counts)
		n, err = q.Prune(t.Context())
		require.NoError(t, err)
		require.Zero(t, n)
	})
}

// Each key with a rate leaves a row; those of keys that nobody uses any more go.
func TestPruneForgetsRatesThatHoldNothingUp(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		require.NoError(t, q.SetLimit(t.Context(), queue.ForKeyPrefix("account:"),
			queue.Limit{Rate: 1, Per: time.Minute}))
		for n := range 1100 {
			enqueue(t, q, &queue.Options{LimitKey: fmt.Sprint("account:", n)})
		}
		work(t, q, func(context.Context, *queue.Work[int]) error { return nil })
		rates := func() (n int) {
			_, err := q.Prune(t.Context())
			require.NoError(t, err)
			require.NoError(t, q.DB().Reader().Get(&n, "SELECT COUNT(*) FROM job_rates"))
			return n
		}
		require.Equal(t, 1100, rates())
		time.Sleep(time.Hour + 2*time.Minute)
		require.Zero(t, rates())
	})
}
