package undo_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// TestADeletionBehindACanceledJob: an action that no job is left to carry out has failed, and keeps no other waiting.
func TestADeletionBehindACanceledJob(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		_, msg := h.letter("dead")
		star := h.decide(msg, postroom.Star, "")
		jobs, err := h.queue.Jobs(h.Context(), queue.Filter{Key: gmail.NewActionJob(h.account, star).Key.Name})
		require.NoError(t, err)
		require.NoError(t, h.queue.Cancel(t.Context(), jobs[0].ID))
		deletion := h.decide(msg, postroom.Delete, "")
		h.run()
		for id, state := range map[string]postroom.ActionState{star: postroom.ActionFailed,
			deletion: postroom.ActionCompleted} {
			a, err := h.ledger.Action(t.Context(), id)
			require.NoError(t, err)
			require.Equal(t, state, a.State, a.Error)
		}
	})
}

// TestAWakeUpWhoseAnswerIsLost keeps its turn whatever the next attempt meets: its change is not taken for somebody
// else's.
func TestAWakeUpWhoseAnswerIsLost(t *testing.T) {
	h := newHouse(t)
	id, msg := h.letter("archived")
	require.NoError(t, h.server.Person().Archive(t.Context(), id))
	snooze := h.snoozes(msg, 3)
	h.server.Fault(gmailtest.Fault{Method: gmailtest.MessagesModify, Cut: gmailtest.CutAfter},
		gmailtest.Fault{Method: gmailtest.MessagesGet, Status: http.StatusTooManyRequests, Nth: 2, RetryAfter: time.Second})
	wake := h.comesDue(snooze)
	h.runUntil(queue.EventFilter{JobIDs: []string{wake}, Kinds: []queue.EventKind{queue.EventCompleted}})
	require.Equal(t, []string{"INBOX", "UNREAD"}, h.labels(id))
	h.undoAll(snooze)
	require.Equal(t, []string{"UNREAD"}, h.labels(id))
}

// TestAWakeUpBesideAnAbandonedSend has no turn, and knows all the same of the later snooze.
func TestAWakeUpBesideAnAbandonedSend(t *testing.T) {
	h := newSender(t, dbtest.SQLite(t))
	id, msg := h.letter("send")
	first := h.snoozes(msg, 3)
	h.snoozes(msg, 30)
	require.Equal(t, queue.EventRetried, h.wakes(first).Kind, "it is put off")
	h.abandonedForward(msg, gmailtest.CutAfter)
	h.wakes(first)
	require.NotContains(t, h.labels(id), "INBOX")
}

// TestAWakeUpThatWasPutOffAndDoneAgain, by an undo and its undo, is due when the snooze is undone for which it was
// put off.
func TestAWakeUpThatWasPutOffAndDoneAgain(t *testing.T) {
	h := newHouse(t)
	_, msg := h.letter("again")
	var first string
	require.NoError(t, h.queue.DB().Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		a, err := h.ledger.Record(ctx, msg, postroom.Decision{
			Action: postroom.Snooze, Parameters: postroom.Parameters{"until": time.Now().Add(2 * time.Second).Format(
				time.RFC3339Nano)},
			Confidence: 1, Rationale: "test", Source: postroom.SourceDeterministic, RuleID: "rule-1", Key: uuid.NewString(),
		})(ctx, tx)
		first = a.ID
		return err
	}))
	h.run()
	second := h.snoozes(msg, 30)
	require.NoError(t, h.queue.Resume(t.Context(), naps))
	h.runUntil(queue.EventFilter{JobIDs: []string{h.wakeUp(first).ID}, Kinds: []queue.EventKind{queue.EventRetried}})
	require.NoError(t, h.queue.Pause(t.Context(), naps))
	h.undoAll(first)
	h.undoAll(h.undoOf(first).ID)
	h.undoAll(second)
	require.WithinDuration(t, time.Now(), h.wakeUp(first).NotBefore, time.Minute)
}
