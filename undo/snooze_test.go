package undo_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
	"github.com/postroom-go/postroom/undo"
)

var naps = queue.ForType(gmail.JobUnsnooze)

// morning runs the jobs that wake messages, those that are not due included.
func (h *house) morning() {
	require.NoError(h, h.queue.Resume(h.Context(), naps))
	queuetest.PromoteScheduled(h, h.queue)
	h.run()
}

func (h *house) undoAll(actionIDs ...string) {
	h.Helper()
	for _, id := range actionIDs {
		_, err := h.undoer.Request(h.Context(), id)
		require.NoError(h, err)
		h.run()
	}
}

// wakeUps counts the jobs that wake messages, by state.
func (h *house) wakeUps() map[queue.State]int {
	counts, err := h.queue.Counts(h.Context(), queue.Filter{Types: []string{string(gmail.JobUnsnooze)}})
	require.NoError(h, err)
	return counts
}

func (h *house) undoOf(actionID string) postroom.Action {
	undos, err := h.ledger.Undos(h.Context(), actionID)
	require.NoError(h, err)
	require.NotEmpty(h, undos)
	return undos[0]
}

func TestUndoOfASnooze(t *testing.T) {
	h := newHouse(t)
	id, msg := h.letter("undone")
	snooze := h.decide(msg, postroom.Snooze, "")
	h.run()
	require.Equal(t, []string{"Postroom/Snoozed", "UNREAD"}, h.labels(id))
	h.undoAll(snooze)
	require.Equal(t, []string{"INBOX", "UNREAD"}, h.labels(id))
	require.Equal(t, map[queue.State]int{queue.StateCanceled: 1}, h.wakeUps(), "nothing puts it into the inbox later")
}

// TestUndoOfASnoozeThatIsOver: what a person has done since stands, also when the job of the wake-up is no longer
// stored.
func TestUndoOfASnoozeThatIsOver(t *testing.T) {
	for name, after := range map[string]func(h *house){"at once": func(*house) {},
		"after the retention": (*house).forgetJobs} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			id, msg := h.letter("over")
			snooze := h.decide(msg, postroom.Snooze, "")
			h.run()
			h.morning()
			require.Equal(t, []string{"INBOX", "UNREAD"}, h.labels(id))
			require.NoError(t, h.server.Person().Archive(t.Context(), id))
			after(h)
			h.undoAll(snooze)
			require.Equal(t, []string{"UNREAD"}, h.labels(id), "the person archived it")
		})
	}
}

// TestTheWakeUpIsOurOwn: of a snooze that is over nothing is to restore, and nobody but us has woken the message.
func TestTheWakeUpIsOurOwn(t *testing.T) {
	for name, after := range map[string]func(h *house){"at once": func(*house) {},
		"after the retention": (*house).forgetJobs} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			id, msg := h.letter("woken")
			snooze := h.decide(msg, postroom.Snooze, "")
			h.run()
			h.morning()
			require.NoError(t, h.server.Person().Star(t.Context(), id))
			after(h)
			planned, err := h.undoer.Plan(t.Context(), snooze)
			require.NoError(t, err)
			h.undoAll(snooze)
			report, err := h.undoer.Report(t.Context(), snooze)
			require.NoError(t, err)
			want := undo.Report{Preserved: []undo.ExternalChange{{LabelID: postroom.LabelStarred, Added: true}}}
			require.Equal(t, want, report)
			require.Equal(t, want, planned)
		})
	}
}

// forgetJobs deletes the finished jobs.
func (h *house) forgetJobs() {
	q, err := queue.New(h.queue.DB(),
		&queue.Config{Retention: queue.Retention{Keep: queue.Keep{Completed: 1, Failed: 1, Canceled: 1}}})
	require.NoError(h, err)
	n, err := q.Prune(h.Context())
	require.NoError(h, err)
	require.NotZero(h, n)
}

// TestUndoOfASnoozeWhoseWakeUpIsLost: a wake-up that a person has canceled ends nothing, stored or not.
func TestUndoOfASnoozeWhoseWakeUpIsLost(t *testing.T) {
	h := newHouse(t)
	id, msg := h.letter("lost")
	snooze := h.decide(msg, postroom.Snooze, "")
	h.run()
	_, err := h.queue.CancelAll(t.Context(), queue.Filter{Types: []string{string(gmail.JobUnsnooze)}})
	require.NoError(t, err)
	h.forgetJobs()
	h.undoAll(snooze)
	require.Equal(t, []string{"INBOX", "UNREAD"}, h.labels(id))
}

// TestNoRedoOfAForgottenSnooze: what would wake the message again is no longer stored, and it would sleep for ever.
func TestNoRedoOfAForgottenSnooze(t *testing.T) {
	h := newHouse(t)
	id, msg := h.letter("forgotten")
	snooze := h.decide(msg, postroom.Snooze, "")
	h.run()
	h.undoAll(snooze)
	h.forgetJobs()
	_, err := h.undoer.Request(t.Context(), h.undoOf(snooze).ID)
	require.ErrorIs(t, err, undo.ErrTooLate)
	require.ErrorContains(t, err, "is no longer stored")
	require.Equal(t, []string{"INBOX", "UNREAD"}, h.labels(id))
}

// TestRedoOfASnooze: the undo of the undo puts the message to sleep again, with a wake-up of its own, and that is
// undone as well.
func TestRedoOfASnooze(t *testing.T) {
	h := newHouse(t)
	id, msg := h.letter("again")
	snooze := h.decide(msg, postroom.Snooze, "")
	h.run()
	action, err := h.ledger.Action(t.Context(), snooze)
	require.NoError(t, err)
	first, err := h.queue.Job(t.Context(), action.UndoHint.InverseParameters["unsnooze_job_id"].(string))
	require.NoError(t, err)

	for range 2 {
		h.undoAll(snooze)
		require.Equal(t, []string{"INBOX", "UNREAD"}, h.labels(id))
		require.Zero(t, h.wakeUps()[queue.StateQueued])

		h.undoAll(h.undoOf(snooze).ID)
		require.Equal(t, []string{"Postroom/Snoozed", "UNREAD"}, h.labels(id))
		require.Equal(t, 1, h.wakeUps()[queue.StateQueued])
		queued, err := h.queue.Jobs(t.Context(), queue.Filter{Key: first.Key.Name, States: []queue.State{queue.StateQueued}})
		require.NoError(t, err)
		require.Equal(t, first.NotBefore, queued[0].NotBefore)
		require.Equal(t, first.Tags, queued[0].Tags)
		require.JSONEq(t, string(first.Payload), string(queued[0].Payload))
	}
	h.morning()
	require.Equal(t, []string{"INBOX", "UNREAD"}, h.labels(id))
}

// TestNoRedoAfterTheTime: a message that was put to sleep then would not wake.
func TestNoRedoAfterTheTime(t *testing.T) {
	h := newHouse(t)
	id, msg := h.letter("late")
	snooze := h.decide(msg, postroom.Snooze, "")
	h.run()
	queuetest.PromoteScheduled(h, h.queue)
	h.undoAll(snooze)
	redo := h.undoOf(snooze).ID
	_, err := h.undoer.Request(t.Context(), redo)
	require.ErrorIs(t, err, undo.ErrRefused)
	require.ErrorIs(t, err, undo.ErrTooLate)
	_, err = h.undoer.Plan(t.Context(), redo)
	require.ErrorIs(t, err, undo.ErrTooLate)
	require.Equal(t, []string{"INBOX", "UNREAD"}, h.labels(id))
}

// TestAWakeUpThatComesDuringTheRedo waits for it: a wake-up before the redo has taken effect would be none, and the
// message would sleep for ever.
func TestAWakeUpThatComesDuringTheRedo(t *testing.T) {
	h := newHouse(t)
	id, msg := h.letter("tight")
	snooze := h.decide(msg, postroom.Snooze, "")
	h.run()
	h.undoAll(snooze)
	gate := gmailtest.NewGate()
	h.server.Fault(gmailtest.Fault{Method: gmailtest.MessagesModify, Gate: gate})
	events, err := h.queue.Subscribe(queue.EventFilter{Types: []string{string(gmail.JobUnsnooze)},
		Kinds: []queue.EventKind{queue.EventRetried}})
	require.NoError(t, err)
	defer events.Close()
	put := make(chan error, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	go func() {
		<-gate.Arrived()
		defer gate.Open()
		queuetest.PromoteScheduled(t, h.queue)
		if err := h.queue.Resume(t.Context(), naps); err != nil {
			put <- err
			return
		}
		_, err := events.Next(ctx)
		put <- err
	}()
	h.undoAll(h.undoOf(snooze).ID)
	require.NoError(t, <-put)
	require.Equal(t, []string{"INBOX", "UNREAD"}, h.labels(id))
}
