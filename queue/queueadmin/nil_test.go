package queueadmin_test

import (
	"testing"

	"github.com/stretchr/testify/require"

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
