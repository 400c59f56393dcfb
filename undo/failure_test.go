package undo_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/undo"
)

func TestMessageGone(t *testing.T) {
	each(t, func(t *testing.T, h *fixture) {
		a := h.acted([]string{"INBOX"}, []string{"Label_1"})
		h.box.remove(a.MessageID)
		receipt := h.request(a.ID)
		h.run()
		require.Equal(t, queue.StateFailed, h.job(receipt.ID).State)
		require.Equal(t, 1, h.job(receipt.ID).Failures)
		undos := h.undos(a.ID)
		require.Len(t, undos, 1)
		require.Equal(t, postroom.ActionFailed, undos[0].State)
		require.Equal(t, postroom.ErrMessageGone.Error(), undos[0].Error)
		_, err := h.undoer.Report(t.Context(), a.ID)
		require.ErrorIs(t, err, undo.ErrNotUndone)
		require.ErrorContains(t, err, postroom.ErrMessageGone.Error())
		_, err = h.undoer.Plan(t.Context(), a.ID)
		require.ErrorIs(t, err, postroom.ErrMessageGone)
	})
}

func faults(n int) []error {
	all := make([]error, n)
	for i := range all {
		all[i] = errors.New("the network is down")
	}
	return all
}

func TestFailedUndoCanBeAskedForAgain(t *testing.T) {
	each(t, func(t *testing.T, h *fixture) {
		a := h.acted([]string{"INBOX"}, []string{"Label_1"})
		h.box.applyFaults = faults(attempts.Unattended)
		first := h.request(a.ID)
		h.run()
		require.Equal(t, queue.StateFailed, h.job(first.ID).State)
		require.Equal(t, attempts.Unattended, h.job(first.ID).Failures, "it is tried for hours")
		require.Equal(t, postroom.ActionFailed, h.undos(a.ID)[0].State)
		require.Equal(t, "the network is down", h.undos(a.ID)[0].Error)

		second := h.request(a.ID)
		require.False(t, second.Duplicate)
		h.run()
		require.Equal(t, queue.StateCompleted, h.job(second.ID).State)
		require.Equal(t, []string{"INBOX"}, h.box.image(a.MessageID).LabelIDs)
		require.Len(t, h.undos(a.ID), 2)
	})
}

func TestFailedJobCanBeRetried(t *testing.T) {
	each(t, func(t *testing.T, h *fixture) {
		a := h.acted([]string{"INBOX"}, []string{"Label_1"})
		h.box.applyFaults = faults(attempts.Unattended)
		receipt := h.request(a.ID)
		h.run()
		h.box.change(a.MessageID, postroom.LabelChange{Add: []string{"STARRED"}})
		require.NoError(t, h.queue.Retry(t.Context(), receipt.ID))
		h.run()
		require.Equal(t, []string{"INBOX", "STARRED"}, h.box.image(a.MessageID).LabelIDs)
		require.Equal(t, []undo.ExternalChange{{LabelID: "STARRED", Added: true}}, h.report(a.ID).Preserved)
	})
}

// TestVerdictsOfTheMailbox: what the queue spares or ends at once is judged so for the undo too.
func TestVerdictsOfTheMailbox(t *testing.T) {
	each(t, func(t *testing.T, h *fixture) {
		forbidden := h.acted([]string{"INBOX"}, []string{"Label_1"})
		h.box.applyFaults = []error{queue.Fatal(errors.New("no such label"))}
		receipt := h.request(forbidden.ID)
		h.run()
		require.Equal(t, 1, h.job(receipt.ID).Failures)
		require.Equal(t, postroom.ActionFailed, h.undos(forbidden.ID)[0].State)
		require.Equal(t, "no such label", h.undos(forbidden.ID)[0].Error)

		limited := h.acted([]string{"INBOX"}, []string{"Label_1"})
		h.box.applyFaults = append(faults(attempts.Unattended-1),
			queue.Defer(errors.New("too many requests"), time.Millisecond))
		receipt = h.request(limited.ID)
		h.run()
		job := h.job(receipt.ID)
		require.Equal(t, queue.StateCompleted, job.State, "a deferral on the last attempt does not end it")
		require.Equal(t, 1, job.Interruptions)
		require.Len(t, h.undos(limited.ID), 1)
	})
}

// TestEveryFaultEndsAlike: wherever an attempt breaks off, the next brings the message and the ledger to the same end.
func TestEveryFaultEndsAlike(t *testing.T) {
	each(t, func(t *testing.T, h *fixture) {
		for name, arm := range map[string]func(*mailbox){
			"reading fails":                     func(m *mailbox) { m.imageFaults = faults(2) },
			"the call never arrives":            func(m *mailbox) { m.applyFaults = faults(2) },
			"the answer is lost":                func(m *mailbox) { m.lostFaults = faults(2) },
			"half of the change is made":        func(m *mailbox) { m.halfFaults = faults(2) },
			"the commit fails":                  func(m *mailbox) { m.setFaults = faults(2) },
			"reading again fails after a crash": func(m *mailbox) { m.setFaults = faults(1); m.imageFaults = []error{nil, errors.New("down")} },
			"one thing after the other": func(m *mailbox) {
				m.applyFaults, m.halfFaults, m.lostFaults, m.setFaults = faults(1), faults(1), faults(1), faults(1)
			},
		} {
			t.Run(name, func(t *testing.T) {
				a := h.acted([]string{"INBOX", "UNREAD"}, []string{"TRASH", "UNREAD"})
				h.box.change(a.MessageID, postroom.LabelChange{Add: []string{"STARRED"}})
				arm(h.box)
				receipt := h.request(a.ID)
				h.run()
				require.Equal(t, queue.StateCompleted, h.job(receipt.ID).State)
				require.Positive(t, h.job(receipt.ID).Failures, "the fault has struck")
				require.Equal(t, []string{"INBOX", "STARRED", "UNREAD"}, h.box.image(a.MessageID).LabelIDs)
				require.Equal(t, []string{"INBOX", "STARRED", "UNREAD"}, h.box.copies[a.MessageID].LabelIDs)
				r := h.report(a.ID)
				require.Equal(t, []string{"INBOX"}, r.Restored.Add)
				require.Equal(t, []string{"TRASH"}, r.Restored.Remove)
				require.Equal(t, []undo.ExternalChange{{LabelID: "STARRED", Added: true}}, r.Preserved)
				require.Len(t, h.undos(a.ID), 1)
			})
		}
	})
}

// TestKilledAfterTheCall: the process dies after the provider has been changed and before anything about it is
// committed.
func TestKilledAfterTheCall(t *testing.T) {
	each(t, func(t *testing.T, h *fixture) {
		a := h.acted([]string{"INBOX"}, []string{"Label_1"})
		receipt := h.request(a.ID)

		jobs, err := h.queue.Claim(t.Context(), "worker-that-dies", []string{string(undo.JobAction)}, 1)
		require.NoError(t, err)
		require.Len(t, jobs, 1)
		var begun postroom.Action
		h.write(func(ctx context.Context, tx queue.Tx) (err error) {
			begun, err = h.ledger.StartUndo(ctx, tx, a.ID, receipt.ID)
			return err
		})
		_, err = queue.Step(t.Context(), jobs[0], "image "+begun.ID, func(context.Context) (any, error) {
			return h.box.image(a.MessageID), nil
		})
		require.NoError(t, err)
		h.box.change(a.MessageID, postroom.LabelChange{Add: []string{"INBOX"}, Remove: []string{"Label_1"}})

		h.run()
		require.Equal(t, queue.StateCompleted, h.job(receipt.ID).State)
		require.Equal(t, 1, h.job(receipt.ID).Crashes)
		require.Zero(t, h.box.calls, "it was done already")
		require.Equal(t, []string{"INBOX"}, h.box.copies[a.MessageID].LabelIDs)
		require.Equal(t, undo.Report{
			Restored:  postroom.LabelChange{Add: []string{"INBOX"}, Remove: []string{"Label_1"}},
			Preserved: []undo.ExternalChange{},
		}, h.report(a.ID), "its own work is not taken for the user's")
		undos := h.undos(a.ID)
		require.Len(t, undos, 1)
		require.Equal(t, begun.ID, undos[0].ID)
	})
}

// TestAnOwnerThatEndedIsReplaced: a job that was canceled in the middle blocks nobody.
func TestAnOwnerThatEndedIsReplaced(t *testing.T) {
	each(t, func(t *testing.T, h *fixture) {
		a := h.acted([]string{"INBOX"}, []string{"Label_1"})
		first := h.request(a.ID)
		h.write(func(ctx context.Context, tx queue.Tx) error {
			_, err := h.ledger.StartUndo(ctx, tx, a.ID, first.ID)
			return err
		})

		// While it lives, another job is refused.
		other, err := h.queue.Enqueue(t.Context(),
			undo.JobAction.New(undo.ActionPayload{AccountID: account, OriginalActionID: a.ID},
				&queue.Options{Priority: 1}))
		require.NoError(t, err)
		ctx, stop := context.WithCancel(t.Context())
		once := func(next queue.HandlerFunc) queue.HandlerFunc {
			return func(ctx context.Context, a *queue.Attempt) error {
				defer stop()
				return next(ctx, a)
			}
		}
		d, err := queue.NewDispatcher(h.queue, &queue.DispatcherConfig{Workers: 1, Middleware: []queue.Middleware{once}})
		require.NoError(t, err)
		require.NoError(t, undo.Register(d, h.cfg))
		require.NoError(t, d.Run(ctx))
		require.Equal(t, queue.StateFailed, h.job(other.ID).State)
		require.Contains(t, h.job(other.ID).LastError, "is being undone, by action "+h.undos(a.ID)[0].ID)

		require.NoError(t, h.queue.Cancel(t.Context(), first.ID))
		second := h.request(a.ID)
		require.False(t, second.Duplicate)
		h.run()
		require.Equal(t, queue.StateCompleted, h.job(second.ID).State)
		undos := h.undos(a.ID)
		require.Len(t, undos, 2)
		require.Equal(t, postroom.ActionCompleted, undos[0].State)
		require.Equal(t, postroom.ActionFailed, undos[1].State)
		require.Equal(t, "its job ended before it did", undos[1].Error)
	})
}
