package undo_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/undo"
)

// eachHouse runs fn on every database.
func eachHouse(t *testing.T, fn func(t *testing.T, h *house)) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) { fn(t, newHouseIn(t, db, nil)) })
}

// snoozes snoozes a message for some days.
func (h *house) snoozes(msg *postroom.Message, days int) (actionID string) {
	h.Helper()
	require.NoError(h, h.queue.DB().Write(h.Context(), func(ctx context.Context, tx queue.Tx) error {
		a, err := h.ledger.Record(ctx, msg, postroom.Decision{
			Action: postroom.Snooze, Parameters: postroom.Parameters{"amount": days, "units": "days"}, Confidence: 1,
			Rationale: "test",
			Source:    postroom.SourceDeterministic, RuleID: "rule-1", Key: uuid.NewString(),
		})(ctx, tx)
		actionID = a.ID
		return err
	}))
	h.run()
	a, err := h.ledger.Action(h.Context(), actionID)
	require.NoError(h, err)
	require.Equal(h, postroom.ActionCompleted, a.State, a.Error)
	return actionID
}

// wakeUp returns the wake-up of a snooze that is unfinished.
func (h *house) wakeUp(snooze string) queue.Job {
	h.Helper()
	a, err := h.ledger.Action(h.Context(), snooze)
	require.NoError(h, err)
	key, _ := a.UndoHint.InverseParameters.Text(postroom.ParamCancelKey)
	found, err := h.queue.Jobs(h.Context(),
		queue.Filter{Key: key, States: []queue.State{queue.StateQueued, queue.StateRunning}})
	require.NoError(h, err)
	require.Len(h, found, 1)
	return found[0]
}

// comesDue makes the wake-up of one snooze due, and allows wake-ups to run.
func (h *house) comesDue(snooze string) (jobID string) {
	h.Helper()
	job := h.wakeUp(snooze)
	require.NoError(h, h.queue.Cancel(h.Context(), job.ID))
	options := queue.Options(job.Options)
	options.NotBefore = time.Time{}
	due, err := h.queue.Enqueue(h.Context(), queue.NewJob{Type: job.Type, Payload: job.Payload, Options: options})
	require.NoError(h, err)
	require.NoError(h, h.queue.Resume(h.Context(), naps))
	return due.ID
}

// wakes lets the wake-up of one snooze come due, and works until it has ended or is put off.
func (h *house) wakes(snooze string) queue.Event {
	h.Helper()
	event := h.runUntil(queue.EventFilter{
		JobIDs: []string{h.comesDue(snooze)}, Kinds: []queue.EventKind{queue.EventCompleted, queue.EventCanceled,
			queue.EventRetried},
	})
	require.NoError(h, h.queue.Pause(h.Context(), naps))
	return event
}

// runUntil works until something has happened.
func (h *house) runUntil(filter queue.EventFilter) queue.Event {
	h.Helper()
	events, err := h.queue.Subscribe(filter)
	require.NoError(h, err)
	defer events.Close()
	d, err := queue.NewDispatcher(h.queue, nil)
	require.NoError(h, err)
	require.NoError(h, gmail.Register(d, h.gmail))
	require.NoError(h, undo.Register(d, h.undo))
	ctx, cancel := context.WithTimeout(h.Context(), 10*time.Minute)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	event, err := events.Next(ctx)
	cancel()
	require.NoError(h, err)
	require.NoError(h, <-ended)
	return event
}

// TestTheSnoozeThatWasExecutedLastCounts, also if it ends first: it wakes the message, and the others wake nothing
// then.
func TestTheSnoozeThatWasExecutedLastCounts(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		id, msg := h.letter("sooner")
		first, second := h.snoozes(msg, 30), h.snoozes(msg, 3)
		h.wakes(second)
		require.Equal(t, []string{"INBOX", "UNREAD"}, h.labels(id))

		require.NoError(t, h.server.Person().Archive(t.Context(), id))
		h.wakes(first)
		require.Equal(t, []string{"UNREAD"}, h.labels(id), "it is awake, and the person archived it")
		h.undoAll(second, first)
		require.Equal(t, []string{"UNREAD"}, h.labels(id))
	})
}

// TestUndoOfTheLaterSnooze: the wake-up that was put off for it is due then.
func TestUndoOfTheLaterSnooze(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		id, msg := h.letter("put off")
		first, second := h.snoozes(msg, 3), h.snoozes(msg, 30)
		require.Equal(t, queue.EventRetried, h.wakes(first).Kind)
		require.NotContains(t, h.labels(id), "INBOX")
		require.WithinDuration(t, h.wakeUp(second).NotBefore, h.wakeUp(first).NotBefore, 3*time.Second)

		h.undoAll(second)
		require.NoError(t, h.queue.Resume(t.Context(), naps))
		h.runUntil(queue.EventFilter{Types: []string{string(gmail.JobUnsnooze)},
			Kinds: []queue.EventKind{queue.EventCompleted}})
		require.Equal(t, []string{"INBOX", "UNREAD"}, h.labels(id))
		require.Zero(t, h.wakeUps()[queue.StateQueued])
	})
}

// TestUndoBesideAWakeUpThatIsPutOff: a wake-up that has read of the later snooze, and not been put off for it yet, is
// due as well.
func TestUndoBesideAWakeUpThatIsPutOff(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		id, msg := h.letter("meanwhile")
		first, second := h.snoozes(msg, 3), h.snoozes(msg, 30)
		h.comesDue(first)
		attempts, err := h.queue.Claim(t.Context(), "elsewhere", []string{string(gmail.JobUnsnooze)}, 1)
		require.NoError(t, err)
		require.Len(t, attempts, 1)
		_, err = h.undoer.Request(t.Context(), second)
		require.NoError(t, err)
		h.runUntil(queue.EventFilter{Types: []string{string(gmail.JobUnsnooze)},
			Kinds: []queue.EventKind{queue.EventCompleted}})
		require.Error(t, attempts[0].Fail(t.Context(), queue.Defer(errors.New("the message has been snoozed again"),
			30*24*time.Hour)))
		woken, err := h.queue.Job(t.Context(), attempts[0].Job.ID)
		require.NoError(t, err)
		require.Zero(t, woken.Crashes, "nobody has waited for the end of its lease")
		require.Equal(t, []string{"INBOX", "UNREAD"}, h.labels(id))
	})
}

// TestASnoozeBesideAWakeUp takes effect after it: the message sleeps, and wakes.
func TestASnoozeBesideAWakeUp(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		id, msg := h.letter("beside")
		first := h.snoozes(msg, 3)
		gate := gmailtest.NewGate()
		h.server.Fault(gmailtest.Fault{Method: gmailtest.MessagesModify, Gate: gate})
		wake := h.comesDue(first)
		second := make(chan string, 1)
		go func() {
			<-gate.Arrived()
			defer gate.Open()
			second <- h.decideAndSee(msg)
		}()
		h.runUntil(queue.EventFilter{JobIDs: []string{wake}, Kinds: []queue.EventKind{queue.EventCompleted}})
		require.NoError(t, h.queue.Pause(t.Context(), naps))
		h.run()
		require.Equal(t, []string{"Postroom/Snoozed", "UNREAD"}, h.labels(id))

		later := <-second
		h.wakes(later)
		require.Equal(t, []string{"INBOX", "UNREAD"}, h.labels(id))
		h.undoAll(first, later)
		require.Equal(t, []string{"INBOX", "UNREAD"}, h.labels(id))
	})
}

// decideAndSee decides to snooze a message, and returns when the job of the snooze has ended or was put off.
func (h *house) decideAndSee(msg *postroom.Message) (snooze string) {
	events, err := h.queue.Subscribe(queue.EventFilter{
		Types: []string{string(gmail.JobAction)}, Kinds: []queue.EventKind{queue.EventRetried, queue.EventCompleted},
	})
	require.NoError(h, err)
	defer events.Close()
	snooze = h.decide(msg, postroom.Snooze, "")
	ctx, cancel := context.WithTimeout(h.Context(), 10*time.Minute)
	defer cancel()
	_, err = events.Next(ctx)
	require.NoError(h, err)
	return snooze
}

// TestUndoOfASnoozeThatHasWoken: nobody but its wake-up has put an archived message into the inbox.
func TestUndoOfASnoozeThatHasWoken(t *testing.T) {
	person := func(h *house) gmailtest.Person { return h.server.Person() }
	nothing := func(*house, string, *postroom.Message) {}
	for name, tc := range map[string]struct {
		asleep, awake func(h *house, id string, msg *postroom.Message)
		want          []string
	}{
		"nothing else": {nothing, nothing, []string{"UNREAD"}},
		"another action in its sleep": {func(h *house, _ string, msg *postroom.Message) {
			h.decide(msg, postroom.Star, "")
			h.run()
		}, nothing, []string{"STARRED", "UNREAD"}},
		"another action after it": {nothing, func(h *house, _ string, msg *postroom.Message) {
			h.decide(msg, postroom.Star, "")
			h.run()
		}, []string{"STARRED", "UNREAD"}},
		"a person puts it back in its sleep": {func(h *house, id string, _ *postroom.Message) {
			require.NoError(h, person(h).MoveToInbox(h.Context(), id))
		}, nothing, []string{"INBOX", "UNREAD"}},
		"a person throws it away in its sleep": {func(h *house, id string, _ *postroom.Message) {
			require.NoError(h, person(h).Trash(h.Context(), id))
		}, nothing, []string{"TRASH", "UNREAD"}},
		"a person archives it after it": {nothing, func(h *house, id string, _ *postroom.Message) {
			require.NoError(h, person(h).Archive(h.Context(), id))
		}, []string{"UNREAD"}},
	} {
		t.Run(name, func(t *testing.T) {
			for name, after := range map[string]func(h *house){"at once": func(*house) {},
				"after the retention": (*house).forgetJobs} {
				t.Run(name, func(t *testing.T) {
					h := newHouse(t)
					id, msg := h.letter("archived")
					require.NoError(t, h.server.Person().Archive(t.Context(), id))
					snooze := h.decide(msg, postroom.Snooze, "")
					h.run()
					tc.asleep(h, id, msg)
					h.morning()
					tc.awake(h, id, msg)
					after(h)
					h.undoAll(snooze)
					require.Equal(t, tc.want, h.labels(id))
				})
			}
		})
	}
}

// TestUndoOfOneOfTwoSnoozesThatHaveWoken: a message that one wake-up has woken from both stays awake until both are
// undone.
func TestUndoOfOneOfTwoSnoozesThatHaveWoken(t *testing.T) {
	for name, order := range map[string][2]int{"the later one": {1, 0}, "the earlier one": {0, 1}} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			id, msg := h.letter("both")
			require.NoError(t, h.server.Person().Archive(t.Context(), id))
			snoozes := []string{h.snoozes(msg, 30), h.snoozes(msg, 3)}
			h.wakes(snoozes[1])
			require.Equal(t, []string{"INBOX", "UNREAD"}, h.labels(id))
			h.undoAll(snoozes[order[0]])
			require.Equal(t, []string{"INBOX", "UNREAD"}, h.labels(id))
			report, err := h.undoer.Report(t.Context(), snoozes[order[0]])
			require.NoError(t, err)
			require.Equal(t, undo.Report{Preserved: []undo.ExternalChange{}}, report)
			h.undoAll(snoozes[order[1]])
			require.Equal(t, []string{"UNREAD"}, h.labels(id))
		})
	}
}

// TestUndoAmidAWakeUp waits for it, through a lost answer.
func TestUndoAmidAWakeUp(t *testing.T) {
	h := newHouse(t)
	id, msg := h.letter("amid")
	require.NoError(t, h.server.Person().Archive(t.Context(), id))
	snooze := h.decide(msg, postroom.Snooze, "")
	h.run()
	h.server.Fault(gmailtest.Fault{Method: gmailtest.MessagesModify, Cut: gmailtest.CutAfter})
	h.comesDue(snooze)
	_, err := h.undoer.Request(t.Context(), snooze)
	require.NoError(t, err)
	h.run()
	require.Equal(t, []string{"UNREAD"}, h.labels(id))
	require.Zero(t, h.wakeUps()[queue.StateQueued])
}

// TestAWakeUpThatDied amid its turn keeps no action and no undo from the message.
func TestAWakeUpThatDied(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		id, msg := h.letter("died")
		snooze := h.snoozes(msg, 3)
		wake := h.wakeUp(snooze).ID
		dies := func() {
			require.NoError(t, h.queue.DB().Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
				_, err := h.ledger.StartWakeUp(ctx, tx, snooze, wake)
				return err
			}))
		}
		dies()
		require.NoError(t, h.queue.Cancel(t.Context(), wake))
		h.decide(msg, postroom.Star, "")
		h.run()
		require.Equal(t, []string{"Postroom/Snoozed", "STARRED", "UNREAD"}, h.labels(id))
		dies()
		h.undoAll(snooze)
		require.Equal(t, []string{"INBOX", "STARRED", "UNREAD"}, h.labels(id))
		a, err := h.ledger.Action(t.Context(), snooze)
		require.NoError(t, err)
		require.Equal(t, postroom.ActionCompleted, a.State)
	})
}
