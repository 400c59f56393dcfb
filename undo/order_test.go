package undo_test

import (
	"context"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// act carries out an action of the message, as package gmail does.
func (h *fixture) act(messageID string, change postroom.LabelChange) postroom.Action {
	var a postroom.Action
	h.write(func(ctx context.Context, tx queue.Tx) (err error) {
		a, err = h.ledger.Record(ctx, &postroom.Message{ID: messageID, AccountID: account}, postroom.Decision{
			Action: postroom.Archive, Confidence: 1, Rationale: "test", Source: postroom.SourceHost,
			Key: uuid.NewString(),
		})(ctx, tx)
		return err
	})
	before := h.box.image(messageID)
	h.box.change(messageID, change)
	after := h.box.image(messageID)
	return h.complete(a.ID, postroom.UndoHint{InverseAction: postroom.ApplyLabel, Before: &before, After: &after,
		Change: &change})
}

// TestAllUndoneAtOnce: the undos of one message run one after the other, in any order, through faults, and leave what
// people's changes alone would have made of it.
func TestAllUndoneAtOnce(t *testing.T) {
	labels := []string{"UNREAD", "STARRED", "Label_1", "Label_2"}
	dbtest.Checks(t, 25)
	each(t, func(t *testing.T, base *fixture) {
		rapid.Check(t, func(t *rapid.T) {
			h := *base
			h.t = t
			draw := func(name string) []string {
				return rapid.SliceOfDistinct(rapid.SampledFrom(labels), rapid.ID).Draw(t, name)
			}
			id := uuid.NewString()
			want := postroom.NewSnapshot(draw("labels"))
			h.box.change(id, postroom.LabelChange{Add: want.LabelIDs})
			var actions []postroom.Action
			for range rapid.IntRange(1, 5).Draw(t, "actions") {
				add := draw("adds")
				actions = append(actions, h.act(id, postroom.LabelChange{Add: add, Remove: without(draw("removes"), add)}))

				now := h.box.image(id)
				hand := postroom.LabelChange{Add: draw("person adds"), Remove: draw("person removes")}
				h.box.change(id, hand)
				want = want.Apply(h.box.image(id).ChangeFrom(now))
			}
			h.box.applyFaults = faults(rapid.IntRange(0, 2).Draw(t, "apply faults"))
			h.box.lostFaults = faults(rapid.IntRange(0, 2).Draw(t, "lost faults"))
			h.box.setFaults = faults(rapid.IntRange(0, 2).Draw(t, "set faults"))
			for _, a := range rapid.Permutation(actions).Draw(t, "order") {
				h.request(a.ID)
			}
			h.run()
			h.box.applyFaults, h.box.lostFaults, h.box.setFaults = nil, nil, nil
			require.ElementsMatch(t, want.LabelIDs, h.box.image(id).LabelIDs)
			require.ElementsMatch(t, want.LabelIDs, h.box.copies[id].LabelIDs)
		})
	})
}

func without(labels, other []string) []string {
	return slices.DeleteFunc(labels, func(l string) bool { return slices.Contains(other, l) })
}

// TestUndoOfAnUndo: the message is as after the action, but for what has been changed since, and the action can be
// undone again.
func TestUndoOfAnUndo(t *testing.T) {
	each(t, func(t *testing.T, h *fixture) {
		a := h.acted([]string{"INBOX"}, []string{"Label_1"})
		h.request(a.ID)
		h.run()
		h.box.change(a.MessageID, postroom.LabelChange{Add: []string{"STARRED"}})
		undo := h.undos(a.ID)[0]
		h.request(undo.ID)
		h.run()
		require.Equal(t, []string{"Label_1", "STARRED"}, h.box.image(a.MessageID).LabelIDs)
		_, err := h.undoer.Report(t.Context(), a.ID)
		require.ErrorContains(t, err, "action "+undo.ID+" has been taken back itself")
		require.Equal(t, postroom.LabelChange{Add: []string{"Label_1"}, Remove: []string{"INBOX"}},
			h.report(undo.ID).Restored)

		h.request(a.ID)
		h.run()
		require.Equal(t, []string{"INBOX", "STARRED"}, h.box.image(a.MessageID).LabelIDs)
	})
}

// TestAnUndoWaitsForAnotherAction: it spends no attempt meanwhile, and takes over from an action whose job has ended.
func TestAnUndoWaitsForAnotherAction(t *testing.T) {
	const other queue.Type[int] = "other"
	each(t, func(t *testing.T, h *fixture) {
		for name, end := range map[string]func(job string, a postroom.Action){
			"that completes": func(_ string, a postroom.Action) {
				h.write(func(ctx context.Context, tx queue.Tx) error {
					return h.ledger.Complete(ctx, tx, a.ID, postroom.UndoHint{InverseAction: postroom.None})
				})
			},
			"whose job is canceled": func(job string, _ postroom.Action) { require.NoError(t, h.queue.Cancel(t.Context(), job)) },
		} {
			t.Run(name, func(t *testing.T) {
				original := h.acted([]string{"INBOX"}, nil)
				var executing postroom.Action
				job, err := h.queue.Enqueue(t.Context(), other.New(1, nil))
				require.NoError(t, err)
				h.write(func(ctx context.Context, tx queue.Tx) error {
					a, err := h.ledger.Record(ctx, &postroom.Message{ID: original.MessageID, AccountID: account}, postroom.Decision{
						Action: postroom.Star, Confidence: 1, Rationale: "test", Source: postroom.SourceHost, Key: "second",
					})(ctx, tx)
					if err != nil {
						return err
					}
					executing, err = h.ledger.Start(ctx, tx, a.ID, job.ID)
					return err
				})
				undo := h.request(original.ID)
				events, err := h.queue.Subscribe(queue.EventFilter{JobIDs: []string{undo.ID},
					Kinds: []queue.EventKind{queue.EventRetried}})
				require.NoError(t, err)
				defer events.Close()
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					if _, err := events.Next(t.Context()); err == nil {
						end(job.ID, executing)
					}
				}()
				h.run()
				<-ended
				require.Equal(t, queue.StateCompleted, h.job(undo.ID).State)
				require.Zero(t, h.job(undo.ID).Failures)
				require.Equal(t, []string{"INBOX"}, h.box.image(original.MessageID).LabelIDs)
			})
		}
	})
}
