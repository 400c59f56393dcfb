package undo_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
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

// What waits, or has happened and cannot be taken back, is not to be done once more, and what a person has rejected is
// not to be asked again.
func TestADecisionRepeatsWhatWasAskedOrAnswered(t *testing.T) {
	each(t, func(t *testing.T, h *fixture) {
		msg := &postroom.Message{ID: "message-1", AccountID: account, LabelIDs: []string{"INBOX"}}
		label := func(id string) postroom.Parameters { return postroom.Parameters{"label": id} }
		decision := func(action postroom.ActionType, p postroom.Parameters) postroom.Decision {
			return postroom.Decision{Action: action, Parameters: p, Confidence: 1, Rationale: "test",
				Source: postroom.SourceDeterministic, RuleID: "rule-1"}
		}
		repeats := func(action postroom.ActionType, p postroom.Parameters) bool {
			d := decision(action, p)
			found, err := h.undoer.Reverses(t.Context(), msg, &d)
			require.NoError(t, err)
			return found
		}
		record := func(key string, action postroom.ActionType, p postroom.Parameters) (a postroom.Action) {
			d := decision(action, p)
			d.Key = key
			h.write(func(ctx context.Context, tx queue.Tx) (err error) {
				a, err = h.ledger.Record(ctx, msg, d)(ctx, tx)
				return err
			})
			return a
		}
		reject := func(id string) {
			h.write(func(ctx context.Context, tx queue.Tx) error {
				_, err := h.ledger.Reject(ctx, tx, id, "ann", "no")
				return err
			})
		}
		require.False(t, repeats(postroom.Delete, nil))
		deletion := record("1", postroom.Delete, nil)
		require.Equal(t, postroom.ActionPendingApproval, deletion.State)
		require.True(t, repeats(postroom.Delete, nil), "it waits for a person")
		same := decision(postroom.Delete, nil)
		same.Key = "1"
		found, err := h.undoer.Reverses(t.Context(), msg, &same)
		require.NoError(t, err)
		require.False(t, found, "a batch that is finished decides the same")
		reject(deletion.ID)
		require.True(t, repeats(postroom.Delete, nil), "a person has rejected it")

		labelled := record("2", postroom.ApplyLabel, label("Label_1"))
		require.Equal(t, postroom.ActionQueued, labelled.State)
		require.True(t, repeats(postroom.ApplyLabel, label("Label_1")), "it is queued")
		require.False(t, repeats(postroom.ApplyLabel, label("Label_2")), "another label")
		h.complete(labelled.ID, postroom.UndoHint{InverseAction: postroom.RemoveLabel})
		require.False(t, repeats(postroom.ApplyLabel, label("Label_1")), "the labels say whether it is so still")

		msg.ID = "message-2"
		require.False(t, repeats(postroom.Delete, nil), "another message")
		deletion = record("3", postroom.Delete, nil)
		h.write(func(ctx context.Context, tx queue.Tx) error {
			_, err := h.ledger.Approve(ctx, tx, deletion.ID, "ann")
			return err
		})
		h.complete(deletion.ID, postroom.UndoHint{})
		require.True(t, repeats(postroom.Delete, nil), "it is done, and cannot be taken back")
	})
}
