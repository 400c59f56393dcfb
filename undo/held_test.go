package undo_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/safety/stop"
	"github.com/postroom-go/postroom/undo"
)

// TestAnUndoWaitsWhileAllIsStopped, and spends no attempt.
func TestAnUndoWaitsWhileAllIsStopped(t *testing.T) {
	each(t, func(t *testing.T, h *fixture) {
		a := h.acted([]string{"INBOX"}, nil)
		h.write(func(ctx context.Context, tx queue.Tx) error {
			return h.ledger.Switch().Stop(ctx, tx, "ann", stop.Options{})
		})
		requested := h.request(a.ID)
		h.runUntilRetried(t, requested.ID)
		require.Zero(t, h.job(requested.ID).Failures)
		require.Empty(t, h.undos(a.ID))
		require.Empty(t, h.box.image(a.MessageID).LabelIDs)

		h.write(func(ctx context.Context, tx queue.Tx) error { return h.ledger.Switch().Resume(ctx, tx, "ann", "") })
		queuetest.PromoteScheduled(t, h.queue)
		h.run()
		require.Equal(t, queue.StateCompleted, h.job(requested.ID).State)
		require.Equal(t, []string{"INBOX"}, h.box.image(a.MessageID).LabelIDs)
	})
}

// runUntilRetried runs jobs until one has been put off.
func (h *fixture) runUntilRetried(t *testing.T, jobID string) {
	events, err := h.queue.Subscribe(queue.EventFilter{JobIDs: []string{jobID},
		Kinds: []queue.EventKind{queue.EventRetried}})
	require.NoError(t, err)
	defer events.Close()
	d, err := queue.NewDispatcher(h.queue, &queue.DispatcherConfig{PollInterval: 20 * time.Millisecond})
	require.NoError(t, err)
	require.NoError(t, undo.Register(d, h.cfg))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	_, err = events.Next(ctx)
	cancel()
	require.NoError(t, err)
	require.NoError(t, <-ended)
}

// TestAnAlteredActionIsNotUndone: its job fails at once, with the reason, and changes nothing.
func TestAnAlteredActionIsNotUndone(t *testing.T) {
	each(t, func(t *testing.T, h *fixture) {
		a := h.acted([]string{"INBOX"}, nil)
		requested := h.request(a.ID)
		h.write(func(ctx context.Context, tx queue.Tx) error {
			_, err := tx.ExecContext(ctx, `UPDATE actions SET message_id = 'another'`)
			return err
		})
		h.run()
		job := h.job(requested.ID)
		require.Equal(t, queue.StateFailed, job.State)
		require.Contains(t, job.LastError, safety.ErrAltered.Error())
		require.Equal(t, 1, job.Failures)
		require.Empty(t, h.undos(a.ID))
		require.Empty(t, h.box.image(a.MessageID).LabelIDs)
	})
}
