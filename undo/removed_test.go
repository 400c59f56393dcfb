package undo_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/undo"
)

// TestWhatWasDoneInARemovedMailboxStays: its undo is refused with that reason. A job that was enqueued before is
// canceled.
func TestWhatWasDoneInARemovedMailboxStays(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		h := newHouseIn(t, db, nil)
		var ids []string
		for _, subject := range []string{"a", "b", "c"} {
			_, msg := h.letter(subject)
			ids = append(ids, h.decide(msg, postroom.Star, ""))
		}
		h.run()
		back, err := h.undoer.Request(t.Context(), ids[0])
		require.NoError(t, err)
		h.run()
		early, err := h.undoer.Request(t.Context(), ids[1])
		require.NoError(t, err)
		require.NoError(t, gmail.RemoveAccount(t.Context(), h.store, h.queue, h.account))
		h.run()
		job, err := h.queue.Job(t.Context(), early.ID)
		require.NoError(t, err)
		require.Equal(t, queue.StateCanceled, job.State)
		job, err = h.queue.Job(t.Context(), back.ID)
		require.NoError(t, err)
		require.Equal(t, queue.StateCompleted, job.State)

		_, err = h.undoer.Request(t.Context(), ids[2])
		require.ErrorIs(t, err, undo.ErrRefused)
		require.ErrorIs(t, err, undo.ErrAccountRemoved)
		_, err = h.undoer.Plan(t.Context(), ids[2])
		require.ErrorIs(t, err, undo.ErrAccountRemoved)
		requested, err := h.undoer.RequestAll(t.Context(), safety.Filter{}, true)
		require.NoError(t, err)
		require.Empty(t, requested.Requested)
		require.Len(t, requested.Refused, 2)

		planned := 0
		for r, err := range h.undoer.PlanAll(t.Context(), safety.Filter{}, true) {
			require.NoError(t, err)
			require.Equal(t, undo.EndingRefused, r.Ending)
			require.ErrorIs(t, r.Err, undo.ErrAccountRemoved)
			planned++
		}
		require.Equal(t, 2, planned, "of the one that is undone nothing is planned")
		endings := map[undo.Ending]int{}
		for r, err := range h.undoer.ReportAll(t.Context(), safety.Filter{}, true) {
			require.NoError(t, err)
			endings[r.Ending]++
		}
		require.Equal(t, map[undo.Ending]int{undo.EndingRestored: 1, undo.EndingRefused: 2}, endings)
	})
}
