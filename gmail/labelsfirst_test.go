package gmail_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// A host waits for the labels before it takes up an account and its new mail: they do not wait for thousands of undos
// that were left by the process before.
func TestLabelsGoBeforeABacklog(t *testing.T) {
	db := dbtest.SQLite(t)
	require.NoError(t, queue.Migrate(t.Context(), db))
	q, err := queue.New(db, nil)
	require.NoError(t, err)
	const undos queue.Type[int] = "undo"
	_, err = q.EnqueueMany(t.Context(), []queue.NewJob{undos.New(1, nil), undos.New(2, nil),
		gmail.NewLabelsSyncJob("account")})
	require.NoError(t, err)

	d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{Workers: 1, Exclusive: true})
	require.NoError(t, err)
	var done []string
	queue.Handle(d, undos, func(_ context.Context, w *queue.Work[int]) error {
		done = append(done, w.Job.Type)
		return nil
	})
	queue.Handle(d, gmail.JobLabelsSync, func(_ context.Context, w *queue.Work[gmail.LabelsSyncPayload]) error {
		done = append(done, w.Job.Type)
		return nil
	})
	require.NoError(t, d.RunUntilIdle(t.Context()))
	require.Equal(t, []string{string(gmail.JobLabelsSync), "undo", "undo"}, done)
}
