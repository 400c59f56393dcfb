package undo_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
	"github.com/postroom-go/postroom/undo"
)

// TestWhereverTheProcessDies: the message is put back by one call and no more, what the user has changed since is left
// alone, and the ledger and the scheduled job are as if nothing had happened.
func TestWhereverTheProcessDies(t *testing.T) {
	queuetest.CrashEverywhere(t, func(t testing.TB, q *queue.Queue) queuetest.Scenario {
		h := newFixture(t, q.DB())
		wakeUp, err := q.EnqueueScheduled(t.Context(), queue.Type[int]("unsnooze").New(1, nil), time.Now().Add(time.Hour))
		require.NoError(t, err)

		before, after := postroom.NewSnapshot([]string{"INBOX", "UNREAD"}), postroom.NewSnapshot([]string{"TRASH", "UNREAD"})
		a := h.record(postroom.Archive)
		h.box.messages[a.MessageID] = after
		h.complete(a.ID, postroom.UndoHint{
			InverseAction: postroom.ApplyLabel, Before: &before, After: &after,
			InverseParameters: postroom.Parameters{"cancel_unsnooze_job_id": wakeUp.ID},
		})
		h.box.change(a.MessageID, postroom.LabelChange{Add: []string{"STARRED"}})
		h.request(a.ID)
		return queuetest.Scenario{
			Register: func(d *queue.Dispatcher) { require.NoError(t, undo.Register(d, h.cfg)) },
			Ignore:   []string{"safety_keys"}, // each run has a random key of its own
			Outside: func() []string {
				return []string{
					fmt.Sprint("calls that changed the message: ", h.box.calls),
					fmt.Sprint("labels at the provider: ", h.box.image(a.MessageID).LabelIDs),
					fmt.Sprint("labels here: ", h.box.copies[a.MessageID].LabelIDs),
				}
			},
		}
	})
}
