package queue_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

func TestRedriveRetriesWhatMatchesAndLeavesWhatHasLostItsKey(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		q := on(t, db.Driver(), nil)
		jobs := make([]queue.NewJob, 230)
		for i := range jobs {
			jobs[i] = ping.New(i, &queue.Options{UserID: "ann", Key: queue.WhileUnfinished(strconv.Itoa(i))})
		}
		_, err := q.EnqueueMany(t.Context(), jobs)
		require.NoError(t, err)
		claimed, err := q.Claim(t.Context(), "w", []string{string(ping)}, 1000)
		require.NoError(t, err)
		for i := range claimed[:220] {
			require.NoError(t, claimed[i].Fail(t.Context(), queue.Fatal(errBroken)))
		}
		require.NoError(t, q.Cancel(t.Context(), claimed[220].Job.ID))
		require.NoError(t, claimed[221].Complete(t.Context(), nil))
		for _, i := range []int{3, 150} {
			_, err := q.Enqueue(t.Context(), ping.New(-i, &queue.Options{Key: queue.WhileUnfinished(strconv.Itoa(i))}))
			require.NoError(t, err)
		}

		done, err := q.Redrive(t.Context(), queue.Filter{UserID: "bob"})
		require.NoError(t, err)
		require.Zero(t, done)
		done, err = q.Redrive(t.Context(), queue.Filter{UserID: "ann", Limit: 120})
		require.NoError(t, err)
		require.Equal(t, queue.RedriveResult{Queued: 119, KeyTaken: 1}, done)
		done, err = q.Redrive(t.Context(), queue.Filter{Types: []string{string(ping)}})
		require.NoError(t, err)
		require.Equal(t, queue.RedriveResult{Queued: 99, KeyTaken: 2}, done, "the one that was left is found again")
		again := job(t, q, claimed[0].Job.ID)
		require.Equal(t, queue.StateQueued, again.State)
		require.Zero(t, again.Failures)
		require.Equal(t, queue.StateCanceled, job(t, q, claimed[220].Job.ID).State)
		done, err = q.Redrive(t.Context(), queue.Filter{All: true, States: []queue.State{queue.StateFailed, queue.StateCanceled}})
		require.NoError(t, err)
		require.Equal(t, queue.RedriveResult{Queued: 1, KeyTaken: 2}, done)
		_, err = q.Redrive(t.Context(), queue.Filter{States: []queue.State{queue.StateCompleted}})
		require.EqualError(t, err, "queue: redrive: Filter.States has completed; only failed and canceled jobs can be retried")

		n, err := q.CancelAll(t.Context(), queue.Filter{UserID: "ann", States: []queue.State{queue.StateQueued}})
		require.NoError(t, err)
		require.Equal(t, 219, n)
		n, err = q.CancelAll(t.Context(), queue.Filter{All: true})
		require.NoError(t, err)
		require.Equal(t, 8+2, n, "what runs, and what took the keys")
		_, err = q.CancelAll(t.Context(), queue.Filter{States: []queue.State{queue.StateFailed}})
		require.EqualError(t, err, "queue: cancel all: Filter.States has failed; only queued and running jobs can be canceled")
	})
}
