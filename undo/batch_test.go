package undo_test

import (
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
		deleted := h.complete(h.record(postroom.Delete).ID, postroom.UndoHint{InverseAction: postroom.None, Irreversible: true})
		h.record(postroom.Archive) // is not completed

		byRule := safety.Filter{Rule: "rule-1", Since: time.Now().Add(-time.Hour)}
		planned, err := h.undoer.PlanAll(t.Context(), byRule, false)
		require.NoError(t, err)
		require.Equal(t, ids[1:], planned.Requested)
		require.Len(t, planned.Refused, 1)
		require.ErrorIs(t, planned.Refused[deleted.ID], undo.ErrIrreversible)
		require.Empty(t, h.undos(ids[1]), "a plan writes nothing")

		requested, err := h.undoer.RequestAll(t.Context(), byRule, false)
		require.NoError(t, err)
		require.Equal(t, planned.Requested, requested.Requested)
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
			_, err = h.undoer.PlanAll(t.Context(), f, false)
			require.ErrorContains(t, err, want)
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
