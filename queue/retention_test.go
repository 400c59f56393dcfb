package queue_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

const day = 24 * time.Hour

func TestDispatcherPrunesWhatHasBeenKeptLongEnough(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		q = on(t, driverOf(q), &queue.Config{Retention: queue.Retention{
			Keep:  queue.Keep{Completed: time.Hour, Failed: -1},
			Types: map[string]queue.Keep{"ping": {Canceled: 2 * time.Hour}},
		}})
		completed, failed := enqueue(t, q, nil), enqueue(t, q, &queue.Options{MaxAttempts: 1, Priority: -1})
		stop := start(t, q, &queue.DispatcherConfig{PollInterval: day, Lease: day, Grace: day}, func(_ context.Context, w *queue.Work[int]) error {
			if w.Job.ID == failed {
				return errBroken
			}
			return nil
		})
		canceled := enqueue(t, q, &queue.Options{NotBefore: time.Now().Add(1000 * day)})
		require.NoError(t, q.Cancel(t.Context(), canceled))
		waiting := enqueue(t, q, &queue.Options{NotBefore: time.Now().Add(1000 * day)})
		kept := func(id string) bool {
			_, err := q.Job(t.Context(), id)
			if err != nil {
				require.ErrorIs(t, err, queue.ErrJobNotFound)
			}
			return err == nil
		}
		synctest.Wait()
		time.Sleep(59 * time.Minute)
		require.True(t, kept(completed))
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		require.False(t, kept(completed))
		require.True(t, kept(canceled), "the type has a time of its own")
		time.Sleep(time.Hour)
		synctest.Wait()
		require.False(t, kept(canceled))
		time.Sleep(10 * day)
		synctest.Wait()
		require.True(t, kept(failed), "for ever")
		require.True(t, kept(waiting), "what is not finished stays")
		require.NoError(t, stop())
	})
}

func TestPruneKeepsSevenDaysByDefaultAndDeletesInBatches(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		q := on(t, db.(queue.Driver), nil)
		jobs := make([]queue.NewJob, 1203)
		for i := range jobs {
			jobs[i] = ping.New(i, nil)
		}
		_, err := q.EnqueueMany(t.Context(), jobs)
		require.NoError(t, err)
		finish := func(state queue.State, n int, ago time.Duration) {
			require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx *queue.Tx) error {
				_, err := tx.ExecContext(ctx, `UPDATE jobs SET state = $1, finished_at = $2
WHERE id IN (SELECT id FROM jobs WHERE state = 'queued' LIMIT $3)`, string(state), dbtime.Of(tx.Now().Add(-ago)), n)
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
		require.Equal(t, map[queue.State]int{queue.StateCompleted: 1, queue.StateFailed: 1, queue.StateQueued: 1}, counts)
		n, err = q.Prune(t.Context())
		require.NoError(t, err)
		require.Zero(t, n)
	})
}
