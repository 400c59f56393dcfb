package undo_test

import (
	"iter"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/undo"
)

func TestUndoOfMany(t *testing.T) {
	each(t, func(t *testing.T, h *fixture) {
		var ids []string // newest first
		for range 103 {
			ids = append([]string{h.acted([]string{"INBOX"}, nil).ID}, ids...)
		}
		h.request(ids[0])
		h.run()
		deleted := h.complete(h.record(postroom.Delete).ID, postroom.UndoHint{InverseAction: postroom.None,
			Irreversible: true})
		h.record(postroom.Archive) // is not completed

		byRule := safety.Filter{Rule: "rule-1", Since: time.Now().Add(-time.Hour)}
		var planned []string
		for _, p := range collect(t, h.undoer.PlanAll(t.Context(), byRule, false)) {
			if p.Action.ID == deleted.ID {
				require.Equal(t, undo.EndingRefused, p.Ending)
				require.ErrorIs(t, p.Err, undo.ErrIrreversible)
				continue
			}
			planned = append(planned, p.Action.ID)
			require.Equal(t, undo.EndingRestored, p.Ending)
			require.Equal(t, []string{"INBOX"}, p.Report.Restored.Add)
		}
		require.Equal(t, ids[1:], planned)
		require.Empty(t, h.undos(ids[1]), "a plan writes nothing")

		requested, err := h.undoer.RequestAll(t.Context(), byRule, false)
		require.NoError(t, err)
		require.Equal(t, planned, requested.Requested)
		require.Len(t, requested.Refused, 1)
		h.run()
		for _, id := range ids {
			a, err := h.ledger.Action(t.Context(), id)
			require.NoError(t, err)
			require.Equal(t, []string{"INBOX"}, h.box.image(a.MessageID).LabelIDs)
		}
		again, err := h.undoer.RequestAll(t.Context(), safety.Filter{}, true)
		require.NoError(t, err)
		require.Empty(t, again.Requested)
	})
}

func TestWhatSelectsNothingIsRefused(t *testing.T) {
	each(t, func(t *testing.T, h *fixture) {
		a := h.acted([]string{"INBOX"}, nil)
		for want, f := range map[string]safety.Filter{
			"the filter is empty":     {Types: []postroom.ActionType{}},
			"must be zero":            {Rule: "rule-1", Limit: 3},
			"it must be a range with": {Confidence: &safety.Range{Min: 2}},
		} {
			_, err := h.undoer.RequestAll(t.Context(), f, false)
			require.ErrorContains(t, err, want)
			for _, list := range []iter.Seq2[undo.Result, error]{h.undoer.PlanAll(t.Context(), f, false),
				h.undoer.ReportAll(t.Context(), f, false)} {
				for _, err := range list {
					require.ErrorContains(t, err, want)
				}
			}
		}
		for _, f := range []safety.Filter{
			{Rule: "another"}, {Sources: []postroom.Source{postroom.SourceModel}}, {Until: time.Now().Add(-time.Hour)}, {Sender: "a@example.com"},
		} {
			b, err := h.undoer.RequestAll(t.Context(), f, false)
			require.NoError(t, err)
			require.Empty(t, b.Requested)
		}
		b, err := h.undoer.RequestAll(t.Context(), safety.Filter{Until: time.Now().Add(time.Hour), AccountID: account}, false)
		require.NoError(t, err)
		require.Equal(t, []string{a.ID}, b.Requested)
	})
}
