package undo_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/undo"
)

func TestWhatIsMissingIsNamed(t *testing.T) {
	h := newFixture(t, dbtest.SQLite(t))
	d, err := queue.NewDispatcher(h.queue, nil)
	require.NoError(t, err)
	for want, cfg := range map[string]undo.Config{
		"undo: Config.Queue is nil; it is required: give the queue":           {Ledger: h.ledger, Mailbox: h.box},
		"undo: Config.Ledger is nil; it is required: give the ledger":         {Queue: h.queue, Mailbox: h.box},
		"undo: Config.Mailbox is nil; it is required: give the mailbox":       {Queue: h.queue, Ledger: h.ledger},
		"undo: Config.Mailbox holds a nil *undo_test.mailbox; it is required": {Queue: h.queue, Ledger: h.ledger, Mailbox: (*mailbox)(nil)},
	} {
		_, err := undo.NewUndoer(cfg)
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, undo.Register(d, cfg), want)
	}
	require.ErrorContains(t, undo.Register(nil, h.cfg), "undo: Register: the Dispatcher is nil")
	require.NoError(t, undo.Register(d, h.cfg), "nothing was registered before")
	require.NoError(t, d.RunUntilIdle(t.Context()))
}

func TestUndo(t *testing.T) {
	each(t, func(t *testing.T, h *fixture) {
		a := h.acted([]string{"INBOX", "UNREAD"}, []string{"Label_1", "UNREAD"})
		h.box.change(a.MessageID, postroom.LabelChange{Add: []string{"STARRED"}, Remove: []string{"UNREAD"}})

		want := undo.Report{
			Restored:  postroom.LabelChange{Add: []string{"INBOX"}, Remove: []string{"Label_1"}},
			Preserved: []undo.ExternalChange{{LabelID: "STARRED", Added: true}, {LabelID: "UNREAD"}},
		}
		planned, err := h.undoer.Plan(t.Context(), a.ID)
		require.NoError(t, err)
		require.Equal(t, want, planned)
		_, err = h.undoer.Report(t.Context(), a.ID)
		require.ErrorIs(t, err, undo.ErrNotUndone)
		require.Empty(t, h.undos(a.ID), "a plan writes nothing")

		receipt := h.request(a.ID)
		require.False(t, receipt.Duplicate)
		require.True(t, h.request(a.ID).Duplicate, "asked for twice, it is one job")
		h.run()

		job := h.job(receipt.ID)
		require.Equal(t, queue.StateCompleted, job.State)
		require.Equal(t, "undo.action:account-1:"+a.ID, job.Key.Name)
		require.Equal(t, driver.KeyUnfinished, job.Key.Scope)
		require.Equal(t, []string{"INBOX", "STARRED"}, h.box.image(a.MessageID).LabelIDs)
		require.Equal(t, []string{"INBOX", "STARRED"}, h.box.copies[a.MessageID].LabelIDs)
		require.Equal(t, want, h.report(a.ID))

		undos := h.undos(a.ID)
		require.Len(t, undos, 1)
		require.Equal(t, postroom.ActionType("undo_archive"), undos[0].Type)
		require.Equal(t, postroom.ActionCompleted, undos[0].State)
		require.Equal(t, receipt.ID, undos[0].JobID)
		require.Equal(t, postroom.Archive, undos[0].UndoHint.InverseAction)
		require.Equal(t, []string{"Label_1", "STARRED"}, undos[0].UndoHint.Before.LabelIDs)
		require.Equal(t, []string{"INBOX", "STARRED"}, undos[0].UndoHint.After.LabelIDs)
	})
}

func TestUndoOfWhatChangedNothing(t *testing.T) {
	each(t, func(t *testing.T, h *fixture) {
		a := h.acted([]string{"Label_1"}, []string{"Label_1"})
		h.request(a.ID)
		h.run()
		require.Equal(t, []string{"Label_1"}, h.box.image(a.MessageID).LabelIDs)
		require.Zero(t, h.box.calls)
		require.True(t, h.report(a.ID).Restored.IsZero())
	})
}

// TestRefusals: each is told by its reason, to all who ask, and leaves no trace.
func TestRefusals(t *testing.T) {
	each(t, func(t *testing.T, h *fixture) {
		img := postroom.NewSnapshot([]string{"INBOX"})
		undone := h.acted([]string{"INBOX"}, []string{"Label_1"})
		h.request(undone.ID)
		h.run()

		first := h.acted([]string{"INBOX"}, []string{"Label_1"})
		h.request(first.ID)
		h.run()
		h.request(h.undos(first.ID)[0].ID)
		h.run()
		redone := h.undos(h.undos(first.ID)[0].ID)[0]

		for name, tc := range map[string]struct {
			id   string
			want error
		}{
			"not carried out":  {h.record(postroom.Archive).ID, undo.ErrNotCompleted},
			"irreversible":     {h.complete(h.record(postroom.Delete).ID, postroom.UndoHint{InverseAction: postroom.None, Irreversible: true}).ID, undo.ErrIrreversible},
			"nothing was done": {h.record(postroom.None).ID, undo.ErrNoHint},
			"no image before":  {h.complete(h.record(postroom.Archive).ID, postroom.UndoHint{InverseAction: postroom.ApplyLabel, After: &img}).ID, undo.ErrNoHint},
			"already undone":   {undone.ID, undo.ErrAlreadyUndone},
			"a redo":           {redone.ID, undo.ErrIsRedo},
		} {
			t.Run(name, func(t *testing.T) {
				before := len(h.undos(tc.id))
				_, err := h.undoer.Request(t.Context(), tc.id)
				require.ErrorIs(t, err, tc.want)
				require.ErrorIs(t, err, undo.ErrRefused)
				_, err = h.undoer.Plan(t.Context(), tc.id)
				require.ErrorIs(t, err, tc.want)

				// A job that was enqueued by hand meets the same wall.
				receipt, err := h.queue.Enqueue(t.Context(),
					undo.JobAction.New(undo.ActionPayload{AccountID: account, OriginalActionID: tc.id}, nil))
				require.NoError(t, err)
				h.run()
				require.Equal(t, queue.StateFailed, h.job(receipt.ID).State)
				require.Equal(t, 1, h.job(receipt.ID).Failures, "no retry mends it")
				require.Len(t, h.undos(tc.id), before)
			})
		}

		_, err := h.undoer.Request(t.Context(), "nobody")
		require.ErrorIs(t, err, postroom.ErrNotFound)
		_, err = h.undoer.Plan(t.Context(), "nobody")
		require.ErrorIs(t, err, postroom.ErrNotFound)
		_, err = h.undoer.Report(t.Context(), "nobody")
		require.ErrorIs(t, err, postroom.ErrNotFound)
	})
}

func TestJobsThatDoNotFit(t *testing.T) {
	each(t, func(t *testing.T, h *fixture) {
		a := h.acted([]string{"INBOX"}, []string{"Label_1"})
		for name, payload := range map[string]undo.ActionPayload{
			"another account": {AccountID: "account-2", OriginalActionID: a.ID},
			"unknown action":  {AccountID: account, OriginalActionID: "nobody"},
		} {
			t.Run(name, func(t *testing.T) {
				receipt, err := h.queue.Enqueue(t.Context(), undo.JobAction.New(payload, nil))
				require.NoError(t, err)
				h.run()
				require.Equal(t, queue.StateFailed, h.job(receipt.ID).State)
				require.Empty(t, h.undos(a.ID))
			})
		}
	})
}

// TestUndoOfASnoozeCancelsItsEnd: a job that the action has scheduled does not run when the action is taken back.
func TestUndoOfASnoozeCancelsItsEnd(t *testing.T) {
	const wake queue.Type[string] = "unsnooze"
	each(t, func(t *testing.T, h *fixture) {
		for name, prepare := range map[string]func(id string) string{
			"still to come": func(id string) string { return id },
			"over": func(id string) string {
				require.NoError(t, h.queue.Cancel(t.Context(), id))
				return id
			},
			"pruned": func(string) string { return uuid.NewString() },
		} {
			t.Run(name, func(t *testing.T) {
				scheduled, err := h.queue.EnqueueScheduled(t.Context(), wake.New("up", nil), time.Now().Add(time.Hour))
				require.NoError(t, err)
				a := h.record(postroom.Snooze)
				before, after := postroom.NewSnapshot([]string{"INBOX"}), postroom.NewSnapshot([]string{"Snoozed"})
				h.box.messages[a.MessageID] = after
				h.complete(a.ID, postroom.UndoHint{
					InverseAction:     postroom.ApplyLabel,
					InverseParameters: postroom.Parameters{"cancel_unsnooze_job_id": prepare(scheduled.ID)},
					Before:            &before, After: &after,
				})
				h.request(a.ID)
				h.run()
				require.Equal(t, []string{"INBOX"}, h.box.image(a.MessageID).LabelIDs)
				if name != "pruned" {
					require.Equal(t, queue.StateCanceled, h.job(scheduled.ID).State)
				}
			})
		}
	})
}

// TestUndoAgainstAModel: whatever an action did and whatever the user did since, through whatever faults, the undo
// brings each label back that nobody has touched, and no other.
func TestUndoAgainstAModel(t *testing.T) {
	base := newFixture(t, dbtest.SQLite(t))
	labels := []string{"UNREAD", "STARRED", "Label_1", "Label_2", "Label_3"}
	rapid.Check(t, func(t *rapid.T) {
		h := *base
		h.t = t
		draw := func(name string) []string {
			return rapid.SliceOfDistinct(rapid.SampledFrom(labels), rapid.ID).Draw(t, name)
		}
		before, after := draw("before"), draw("after")
		a := h.acted(before, after)
		for range rapid.IntRange(0, 4).Draw(t, "changes") {
			h.box.change(a.MessageID, postroom.LabelChange{Add: draw("adds"), Remove: draw("removes")})
		}
		now := h.box.image(a.MessageID)
		h.box.applyFaults = faults(rapid.IntRange(0, 1).Draw(t, "apply faults"))
		h.box.halfFaults = faults(rapid.IntRange(0, 1).Draw(t, "half faults"))
		h.box.lostFaults = faults(rapid.IntRange(0, 1).Draw(t, "lost faults"))
		h.box.setFaults = faults(rapid.IntRange(0, 1).Draw(t, "set faults"))
		h.request(a.ID)
		h.run()
		h.box.applyFaults, h.box.halfFaults, h.box.lostFaults, h.box.setFaults = nil, nil, nil, nil

		b, f := postroom.NewSnapshot(before), postroom.NewSnapshot(after)
		var want []string
		for _, l := range labels {
			untouched := now.Has(l) == f.Has(l)
			if untouched && b.Has(l) || !untouched && now.Has(l) {
				want = append(want, l)
			}
		}
		require.ElementsMatch(t, want, h.box.image(a.MessageID).LabelIDs)
		require.ElementsMatch(t, want, h.box.copies[a.MessageID].LabelIDs)
		for _, s := range h.report(a.ID).Preserved {
			require.NotEqual(t, now.Has(s.LabelID), f.Has(s.LabelID))
		}
	})
}
