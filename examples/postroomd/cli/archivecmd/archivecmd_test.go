package archivecmd

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/archive"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// A run is a chain of jobs: it has failed when the last of them has, whatever other mailboxes do.
func TestARunThatFailsIsNotDone(t *testing.T) {
	db := dbtest.SQLite(t)
	require.NoError(t, queue.Migrate(t.Context(), db))
	q, err := queue.New(db, nil)
	require.NoError(t, err)
	job, other := archive.NewRunJob("one"), archive.NewRunJob("two")
	done, err := ended(t.Context(), q, job)
	require.NoError(t, err)
	require.False(t, done, "nobody has enqueued it")
	_, err = q.EnqueueMany(t.Context(), []queue.NewJob{job, other})
	require.NoError(t, err)
	done, err = ended(t.Context(), q, job)
	require.NoError(t, err)
	require.False(t, done)

	d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{PollInterval: 20 * time.Millisecond})
	require.NoError(t, err)
	queue.Handle(d, archive.RunJob, func(ctx context.Context, w *queue.Work[archive.RunPayload]) error {
		switch {
		case w.Payload.AccountID == "two":
			return nil
		case w.Payload.Step > 0:
			return queue.Fatal(errors.New("the folder is gone"))
		}
		return w.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
			if err := w.CompleteTx(ctx, tx); err != nil {
				return err
			}
			next := archive.RunJob.New(archive.RunPayload{AccountID: "one", Step: 1}, &job.Options)
			_, err := w.Queue().EnqueueTx(ctx, tx, next)
			return err
		})
	})
	require.NoError(t, d.RunUntilIdle(t.Context()))
	done, err = ended(t.Context(), q, job)
	require.True(t, done)
	require.ErrorContains(t, err, "the folder is gone")
	done, err = ended(t.Context(), q, other)
	require.NoError(t, err)
	require.True(t, done)
}
