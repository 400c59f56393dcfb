package queueadmin_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

func TestNilIsRefusedWithWhatToGive(t *testing.T) {
	ctx := t.Context()
	const noQueue = "the Queue is nil: make one with queue.New"
	_, err := queueadmin.Doctor(ctx, nil)
	require.EqualError(t, err, "queue: doctor: "+noQueue)
	_, err = queueadmin.Verify(ctx, nil)
	require.EqualError(t, err, "queue: verify: "+noQueue)
	_, err = queueadmin.Explain(ctx, nil, "id")
	require.EqualError(t, err, "queue: explain id: "+noQueue)
	_, err = queueadmin.ReadStats(ctx, nil, nil)
	require.EqualError(t, err, "queue: stats: "+noQueue)
	_, err = queueadmin.CheckProgram(ctx, nil)
	require.EqualError(t, err, "queue: check: the Dispatcher is nil: make one with queue.NewDispatcher")
	_, err = queueadmin.Move(ctx, nil, nil, nil)
	require.ErrorContains(t, err, "queueadmin: move: ")
}

func TestWhoeverForgetsToMigrateIsTold(t *testing.T) {
	dbtest.EachEmpty(t, func(t *testing.T, db queue.DB) {
		q, err := queue.New(db, nil)
		require.NoError(t, err)
		d, err := queue.NewDispatcher(q, nil)
		require.NoError(t, err)
		for name, call := range map[string]func(ctx context.Context) error{
			"doctor": func(ctx context.Context) error { _, err := queueadmin.Doctor(ctx, q); return err },
			"verify": func(ctx context.Context) error { _, err := queueadmin.Verify(ctx, q); return err },
			"stats":  func(ctx context.Context) error { _, err := queueadmin.ReadStats(ctx, q, nil); return err },
			"check":  func(ctx context.Context) error { _, err := queueadmin.CheckProgram(ctx, d); return err },
		} {
			require.ErrorContains(t, call(t.Context()), "(the queue's tables are not here: call queue.Migrate first",
				name)
		}
	})
}
