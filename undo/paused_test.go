package undo_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
)

// An undo in a paused account waits until the account is resumed, and keeps no action of its message waiting.
func TestAnUndoWaitsForItsAccount(t *testing.T) {
	h := newHouse(t)
	id, msg := h.letter("paused")
	archive := h.decide(msg, postroom.Archive, "")
	h.run()
	require.Equal(t, []string{"UNREAD"}, h.labels(id))
	write := func(fn func(ctx context.Context, tx queue.Tx) error) {
		require.NoError(t, h.queue.DB().Write(t.Context(), fn))
	}
	write(func(ctx context.Context, tx queue.Tx) error {
		return h.store.Pause(ctx, tx, h.queue, h.account, "holiday")
	})
	requested, err := h.undoer.Request(t.Context(), archive)
	require.NoError(t, err)
	h.run() // ends, since all that is left is paused
	job, err := h.queue.Job(t.Context(), requested.ID)
	require.NoError(t, err)
	require.Zero(t, job.Attempt)
	write(func(ctx context.Context, tx queue.Tx) error { return h.store.Resume(ctx, tx, h.queue, h.account) })
	h.run()
	require.Equal(t, []string{"INBOX", "UNREAD"}, h.labels(id))
}
