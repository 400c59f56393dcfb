package postgres_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

// A handler whose own statement does not get a lock, or whose own timeout ends its transaction, has failed, and is not
// run a thousand times.
func TestLocksOfAHandlersOwnStatementsAreItsFailures(t *testing.T) {
	db := openQueue(t)
	q, err := queue.New(db, nil)
	require.NoError(t, err)
	require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx driver.Tx) error {
		_, err := tx.ExecContext(ctx, "CREATE TABLE letters (n INTEGER)")
		return err
	}))
	release := holding(t, db, func(ctx context.Context, tx *driver.WriteTx) error {
		_, err := tx.ExecContext(ctx, "LOCK TABLE letters")
		return err
	})
	defer release()
	for _, statements := range [][]string{
		{"LOCK TABLE letters NOWAIT"},
		{"SET LOCAL lock_timeout = 1", "INSERT INTO letters VALUES (1)"},
		{"SET LOCAL lock_timeout = 1", "UPDATE letters SET n = 2"},
	} {
		enqueued, err := q.Enqueue(t.Context(), benchJob.New(1, &queue.Options{MaxAttempts: 1}))
		require.NoError(t, err)
		d, err := queue.NewDispatcher(q, nil)
		require.NoError(t, err)
		queue.Handle(d, benchJob, func(ctx context.Context, w *queue.Work[int]) error {
			return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
				for _, statement := range statements {
					if _, err := tx.ExecContext(ctx, statement); err != nil {
						return err
					}
				}
				return nil
			})
		})
		require.NoError(t, d.RunUntilIdle(t.Context()))
		got, err := q.Job(t.Context(), enqueued.ID)
		require.NoError(t, err)
		require.Equal(t, queue.StateFailed, got.State, statements)
		require.Equal(t, 1, got.Failures)
		require.Zero(t, got.Interruptions)
		require.Contains(t, got.LastError, "55P03")
	}
}
