package queueadmin_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

// A sequence runs in the new database in its order, before what has been enqueued there meanwhile, and its first job,
// which has failed, stops it there as well.
func TestMoveKeepsTheOrderOfSequences(t *testing.T) {
	moving(t, func(t *testing.T, from, to *queue.Queue) {
		opts := &queue.Options{Sequence: "s", MaxAttempts: 1}
		add := func(q *queue.Queue, n int) string {
			enqueued, err := q.Enqueue(t.Context(), ping.New(n, opts))
			require.NoError(t, err)
			return enqueued.ID
		}
		var ran []int
		broken := true
		run := func(q *queue.Queue) {
			d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{PollInterval: 10 * time.Millisecond})
			require.NoError(t, err)
			queue.Handle(d, ping, func(_ context.Context, w *queue.Work[int]) error {
				if ran = append(ran, w.Payload); broken {
					return errors.New("broken")
				}
				return nil
			})
			require.NoError(t, d.RunUntilIdle(t.Context()))
		}
		first := add(from, 0)
		for n := range 9 {
			add(from, n+1)
		}
		run(from)
		require.Equal(t, []int{0}, ran)
		_, err := from.Claim(t.Context(), "alive", []string{string(ping)}, 1)
		require.NoError(t, err)
		cfg := &queueadmin.MoveConfig{Batch: 3, Wait: -1}
		_, err = queueadmin.Move(t.Context(), from.DB(), to.DB(), cfg)
		require.ErrorIs(t, err, queueadmin.ErrStillRunning)
		require.ErrorContains(t, err, "alive may run jobs of sequences")
		require.NoError(t, from.DB().Driver().RemoveWorker(t.Context(), "alive"))

		_, err = queueadmin.Move(t.Context(), from.DB(), to.DB(), cfg)
		require.NoError(t, err)
		add(to, 10)
		run(to)
		require.Equal(t, []int{0}, ran, "it is stopped")
		broken = false
		require.NoError(t, to.Retry(t.Context(), first))
		run(to)
		require.Equal(t, []int{0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, ran)
		for _, q := range []*queue.Queue{from, to} {
			found, err := queueadmin.Verify(t.Context(), q)
			require.NoError(t, err)
			require.Empty(t, found)
		}
	})
}

// What joins a sequence in the old database while, or after, it is moved comes after what has moved, and what another
// database had of it as well.
func TestMovesFollowEachOther(t *testing.T) {
	moving(t, func(t *testing.T, from, to *queue.Queue) {
		add := func(q *queue.Queue, n int) {
			_, err := q.Enqueue(t.Context(), ping.New(n, &queue.Options{Sequence: "s"}))
			require.NoError(t, err)
		}
		move := func(from *queue.Queue) {
			_, err := queueadmin.Move(t.Context(), from.DB(), to.DB(), &queueadmin.MoveConfig{Wait: -1})
			require.NoError(t, err)
		}
		third := dbtest.SQLite(t)
		require.NoError(t, queue.Migrate(t.Context(), third))
		other := on(t, third, nil)
		add(from, 0)
		add(from, 1)
		move(from)
		add(from, 2)
		move(from)
		add(other, 3)
		add(other, 4)
		move(other)
		add(to, 5)
		var ran []int
		d, err := queue.NewDispatcher(to, &queue.DispatcherConfig{PollInterval: 10 * time.Millisecond})
		require.NoError(t, err)
		queue.Handle(d, ping, func(_ context.Context, w *queue.Work[int]) error {
			ran = append(ran, w.Payload)
			return nil
		})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		require.NoError(t, d.RunUntilIdle(ctx))
		require.Equal(t, []int{0, 1, 2, 3, 4, 5}, ran)
		found, err := queueadmin.Verify(t.Context(), to)
		require.NoError(t, err)
		require.Empty(t, found)
	})
}
