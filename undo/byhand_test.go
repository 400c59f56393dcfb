package undo_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/undo"
)

// reverses asks about a decision when the message has the labels now.
func (h *fixture) reverses(a postroom.Action, action postroom.ActionType, now ...string) bool {
	msg := &postroom.Message{ID: a.MessageID, AccountID: a.AccountID, LabelIDs: now}
	d := &postroom.Decision{Action: action, Parameters: postroom.Parameters{"label": "Label_1"}}
	found, err := h.undoer.Reverses(context.Background(), msg, d)
	require.NoError(h.t, err)
	return found
}

func TestADecisionReversesWhatWasMovedBack(t *testing.T) {
	each(t, func(t *testing.T, h *fixture) {
		a := h.acted([]string{"INBOX", "UNREAD"}, []string{"Label_1", "UNREAD"})
		require.False(t, h.reverses(a, postroom.Trash, "Label_1", "UNREAD"), "nobody has changed it since")
		require.False(t, h.reverses(a, postroom.Trash, "Label_1"), "it was only read")
		require.True(t, h.reverses(a, postroom.Move, "INBOX", "UNREAD"), "it was moved back")
		require.True(t, h.reverses(a, postroom.Archive, "INBOX", "Label_1"))
		require.True(t, h.reverses(a, postroom.ApplyLabel, "UNREAD"), "the label was taken away")
		require.True(t, h.reverses(a, postroom.Trash, "INBOX", "UNREAD"))
		require.True(t, h.reverses(a, postroom.Delete, "INBOX", "UNREAD"))
		require.True(t, h.reverses(a, postroom.Trash, "Label_1", "STARRED"), "it was starred")
		require.True(t, h.reverses(a, postroom.Trash, "Label_1", "Label_2"), "it was filed")
		require.False(t, h.reverses(a, postroom.MarkRead, "INBOX", "UNREAD"), "that is another part of it")
	})
}

func TestADecisionRepeatsWhatWasUndone(t *testing.T) {
	each(t, func(t *testing.T, h *fixture) {
		a := h.acted([]string{"INBOX"}, []string{"Label_1"})
		require.False(t, h.reverses(a, postroom.Archive, "Label_1"))
		h.request(a.ID)
		h.run()
		require.True(t, h.reverses(a, postroom.Archive, "INBOX"), "the same")
		require.True(t, h.reverses(a, postroom.Move, "INBOX"), "a part of it")
		require.False(t, h.reverses(a, postroom.Star, "INBOX"))
		h.request(h.undos(a.ID)[0].ID)
		h.run()
		require.False(t, h.reverses(a, postroom.Archive, "Label_1"), "the undo is undone")
	})
}

// What people have changed before the first action is known from the mailbox alone, and counts while it is so.
func TestADecisionReversesWhatTheMailboxReports(t *testing.T) {
	each(t, func(t *testing.T, h *fixture) {
		h.cfg.ByHand = func(context.Context, string) (postroom.LabelChange, error) {
			return postroom.LabelChange{Add: []string{"INBOX"}, Remove: []string{"Label_1"}}, nil
		}
		var err error
		h.undoer, err = undo.NewUndoer(h.cfg)
		require.NoError(t, err)
		never := postroom.Action{MessageID: "message-1", AccountID: account}
		require.True(t, h.reverses(never, postroom.Archive, "INBOX"))
		require.True(t, h.reverses(never, postroom.ApplyLabel, "INBOX"))
		require.False(t, h.reverses(never, postroom.Archive, "Label_2"), "it was archived since")
		require.False(t, h.reverses(never, postroom.Star, "INBOX"))
	})
}
