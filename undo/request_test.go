package undo_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/undo"
)

// TestAJobThatNobodyHasRequestedUndoesNothing: somebody has inserted it, or put one back that was completed.
func TestAJobThatNobodyHasRequestedUndoesNothing(t *testing.T) {
	each(t, func(t *testing.T, h *fixture) {
		a := h.acted([]string{"INBOX"}, []string{"Label_1"})
		requireRefused := func(id string) {
			t.Helper()
			receipt, err := h.queue.Enqueue(t.Context(), undo.JobAction.New(undo.ActionPayload{AccountID: account, OriginalActionID: id}, nil))
			require.NoError(t, err)
			calls := h.box.calls
			h.run()
			job := h.job(receipt.ID)
			require.Equal(t, queue.StateFailed, job.State)
			require.Contains(t, job.LastError, safety.ErrNotRequested.Error())
			require.Equal(t, 1, job.Failures)
			require.Equal(t, calls, h.box.calls)
		}
		requireRefused(a.ID)
		first, err := h.undoer.As("ann").Request(t.Context(), a.ID)
		require.NoError(t, err)
		h.run()
		undone := h.undos(a.ID)[0]
		require.Equal(t, postroom.ActionCompleted, undone.State)
		requireRefused(undone.ID)

		var notes []string
		_, err = h.ledger.EachAuditEntry(t.Context(), func(e safety.AuditEntry) error {
			if e.Kind == "undo" {
				require.Equal(t, first.ID, e.Subject)
				notes = append(notes, e.Note)
			}
			return nil
		})
		require.NoError(t, err)
		require.Equal(t, []string{a.ID + " by ann", "done by " + undone.ID}, notes)

		redo := h.request(undone.ID)
		h.run()
		require.Equal(t, queue.StateCompleted, h.job(redo.ID).State)
		h.write(func(ctx context.Context, tx queue.Tx) error {
			_, err := tx.ExecContext(ctx, `UPDATE jobs SET state = 'queued', worker_id = NULL, finished_at = NULL WHERE id = $1`, first.ID)
			return err
		})
		calls := h.box.calls
		h.run()
		require.Equal(t, queue.StateFailed, h.job(first.ID).State)
		require.Equal(t, calls, h.box.calls)
	})
}
