package gmail

import (
	"context"
	"encoding/base64"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	api "google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
)

var naps = queue.ForType(JobUnsnooze)

// sleepy is a world in which the jobs that wake messages are paused, so that the others can be run until none is left.
func sleepy(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	require.NoError(t, w.queue.Pause(t.Context(), naps))
	return w
}

// snooze snoozes a message of ours for three days, and returns the action as it ended.
func (w *world) snooze(messageID string, more ...postroom.Parameters) postroom.Action {
	w.t.Helper()
	parameters := postroom.Parameters{"amount": 3, "units": "days"}
	for _, p := range more {
		parameters = p
	}
	id := w.queued(postroom.Action{MessageID: messageID, Type: postroom.Snooze, Parameters: parameters})
	w.run(NewActionJob(w.account, id))
	return w.action(id)
}

// morning runs the jobs that wake messages, those that are not due included.
func (w *world) morning() {
	w.t.Helper()
	require.NoError(w.t, w.queue.Resume(w.t.Context(), naps))
	queuetest.PromoteScheduled(w.t, w.queue)
	w.run()
}

// runUntil runs jobs until something has happened to one of them.
func (w *world) runUntil(jobID string, kind queue.EventKind) queue.Event {
	w.t.Helper()
	events, err := w.queue.Subscribe(queue.EventFilter{JobIDs: []string{jobID}, Kinds: []queue.EventKind{kind}})
	require.NoError(w.t, err)
	defer events.Close()
	d, err := queue.NewDispatcher(w.queue, &queue.DispatcherConfig{PollInterval: 20 * time.Millisecond})
	require.NoError(w.t, err)
	require.NoError(w.t, Register(d, w.cfg))
	ctx, cancel := context.WithCancel(w.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	patience, end := context.WithTimeout(ctx, 10*time.Minute)
	defer end()
	event, err := events.Next(patience)
	cancel()
	require.NoError(w.t, err)
	require.NoError(w.t, <-ended)
	return event
}

func (w *world) labelNamed(name string) postroom.Label {
	w.t.Helper()
	id, ok, err := w.store.LabelID(w.t.Context(), w.account, name)
	require.NoError(w.t, err)
	require.True(w.t, ok, "there is no label %s", name)
	labels, err := w.store.Labels(w.t.Context(), w.account)
	require.NoError(w.t, err)
	for _, l := range labels {
		if l.ID == id {
			return l
		}
	}
	w.t.Fatalf("label %s has no id", name)
	return postroom.Label{}
}

func TestSnooze(t *testing.T) {
	w := sleepy(t)
	message, providerID := w.known("INBOX", "UNREAD")
	begun := time.Now()
	done := w.snooze(message)
	require.Equal(t, postroom.ActionCompleted, done.State, done.Error)

	label := w.labelNamed("Postroom/Snoozed")
	require.False(t, label.AvailableToClassifier, "the label is ours: a model that chose it would hide mail for ever")
	atGmail, here := w.labels(providerID)
	require.Equal(t, []string{label.ID, "UNREAD"}, atGmail)
	require.Equal(t, atGmail, here)

	hint := done.UndoHint
	require.Equal(t, &postroom.LabelChange{Add: []string{label.ID}, Remove: []string{"INBOX"}}, hint.Change)
	require.True(t, hint.Undoable())
	wake := w.job(hint.InverseParameters["cancel_unsnooze_job_id"].(string))
	require.Equal(t, "unsnooze.gmail:"+w.account+":"+done.ID, wake.Key.Name)
	require.Equal(t, wake.Key.Name, hint.InverseParameters["cancel_unsnooze_key"])
	require.JSONEq(t, `{"account_id":"`+w.account+`","message_id":"`+message+`","action_id":"`+done.ID+
		`","snooze_label_id":"`+label.ID+`"}`, string(wake.Payload))
	require.WithinRange(t, wake.NotBefore, begun.Add(72*time.Hour).Add(-time.Second), time.Now().Add(72*time.Hour))
	require.Equal(t, wake.NotBefore.UTC().Truncate(time.Second).Format(time.RFC3339),
		hint.InverseParameters["snooze_until"])

	w.morning()
	atGmail, here = w.labels(providerID)
	require.Equal(t, []string{"INBOX", "UNREAD"}, atGmail)
	require.Equal(t, atGmail, here)
}

// TestTheWakeUpIsDurableFirst: whenever the message leaves the inbox, the job that brings it back is stored.
func TestTheWakeUpIsDurableFirst(t *testing.T) {
	w := sleepy(t)
	message, providerID := w.known("INBOX")
	var stored []map[queue.State]int // at each call that takes the message out of the inbox
	w.wire.Before = func(r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/modify") {
			counts, err := w.queue.Counts(r.Context(), queue.Filter{Types: []string{string(JobUnsnooze)}})
			if err != nil {
				counts = nil
			}
			stored = append(stored, counts)
		}
	}
	w.server.Fault(gmailtest.Fault{Method: gmailtest.MessagesModify, Cut: gmailtest.CutAfter})
	done := w.snooze(message)
	require.Equal(t, postroom.ActionCompleted, done.State, done.Error)
	require.NotEmpty(t, stored)
	for _, counts := range stored {
		require.Equal(t, map[queue.State]int{queue.StateQueued: 1}, counts)
	}
	require.Equal(t, map[queue.State]int{queue.StateQueued: 1}, w.jobs(string(JobUnsnooze)),
		"the second attempt enqueues no other")
	w.wire.Before = nil
	w.morning()
	atGmail, _ := w.labels(providerID)
	require.Equal(t, []string{"INBOX"}, atGmail)
}

// TestASnoozeThatFailsWakesWhatNeverSlept: the wake-up stays, since nobody knows whether the message sleeps, and
// harms nothing.
func TestASnoozeThatFailsWakesWhatNeverSlept(t *testing.T) {
	w := sleepy(t)
	message, providerID := w.known("INBOX")
	w.server.Fault(gmailtest.Fault{Method: gmailtest.MessagesModify, Status: 403, Reason: "insufficientPermissions"})
	require.Equal(t, postroom.ActionFailed, w.snooze(message).State)
	w.morning()
	require.Equal(t, map[queue.State]int{queue.StateCompleted: 1}, w.jobs(string(JobUnsnooze)))
	atGmail, _ := w.labels(providerID)
	require.Equal(t, []string{"INBOX"}, atGmail)
}

func TestASnoozeWhoseTimeHasPassedFails(t *testing.T) {
	w := sleepy(t)
	message, providerID := w.known("INBOX")
	done := w.snooze(message, postroom.Parameters{"until": "2020-01-01T08:00:00Z"})
	require.Equal(t, postroom.ActionFailed, done.State)
	require.Contains(t, done.Error, "2020-01-01T08:00:00Z is not in the future")
	require.Empty(t, w.jobs(string(JobUnsnooze)))
	atGmail, _ := w.labels(providerID)
	require.Equal(t, []string{"INBOX"}, atGmail)
}

func TestUnsnoozeLeavesWhatThePersonHasDone(t *testing.T) {
	tests := map[string]struct {
		hands func(w *world, providerID, label string)
		want  []string // besides the snooze label, which is gone
	}{
		"nothing":    {func(*world, string, string) {}, []string{"INBOX"}},
		"moved back": {func(w *world, id, _ string) { w.modify(id, add("INBOX")) }, []string{"INBOX"}},
		"moved back and took the label off": {
			func(w *world, id, label string) {
				w.modify(id, postroom.LabelChange{Add: []string{"INBOX"}, Remove: []string{label}})
			}, []string{"INBOX"},
		},
		"took the label off": {func(w *world, id, label string) { w.modify(id, remove(label)) }, []string{"INBOX"}},
		"threw it away": {func(w *world, id, _ string) {
			_, err := w.google.Users.Messages.Trash("me", id).Do()
			require.NoError(w.t, err)
		}, []string{"TRASH"}},
		"called it spam": {func(w *world, id, _ string) { w.modify(id, add("SPAM")) }, []string{"SPAM"}},
		"starred it":     {func(w *world, id, _ string) { w.modify(id, add("STARRED")) }, []string{"INBOX", "STARRED"}},
		"deleted the label": {func(w *world, _, label string) {
			require.NoError(w.t, w.google.Users.Labels.Delete("me", label).Do())
		}, []string{"INBOX"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := sleepy(t)
			message, providerID := w.known("INBOX")
			w.snooze(message)
			w.synced()
			tc.hands(w, providerID, w.labelNamed("Postroom/Snoozed").ID)
			w.morning()
			w.run(NewHistorySyncJob(w.account, 0))
			atGmail, here := w.labels(providerID)
			require.Equal(t, tc.want, atGmail)
			require.Equal(t, tc.want, here)
			require.Equal(t, map[queue.State]int{queue.StateCompleted: 1}, w.jobs(string(JobUnsnooze)))
		})
	}
}

func TestUnsnoozeOfAMessageThatIsGone(t *testing.T) {
	w := sleepy(t)
	message, providerID := w.known("INBOX")
	w.snooze(message)
	require.NoError(t, w.google.Users.Messages.Delete("me", providerID).Do())
	w.morning()
	require.Equal(t, map[queue.State]int{queue.StateCompleted: 1}, w.jobs(string(JobUnsnooze)))
	n, err := w.store.CountMessages(t.Context(), w.account)
	require.NoError(t, err)
	require.Zero(t, n)
}

// TestAWakeUpThatSomebodyHasInsertedWakesNothingElse: no message that does not sleep, and from no other label.
func TestAWakeUpThatSomebodyHasInsertedWakesNothingElse(t *testing.T) {
	w := sleepy(t)
	message, providerID := w.known("UNREAD", "STARRED")
	_, archived := w.act(message, postroom.Archive, "")
	other, _ := w.known("INBOX")
	snoozed := w.snooze(other)
	require.Equal(t, postroom.ActionCompleted, snoozed.State)
	_, err := w.queue.CancelAll(t.Context(), queue.Filter{Types: []string{string(JobUnsnooze)}})
	require.NoError(t, err)
	require.NoError(t, w.queue.Resume(t.Context(), naps))
	for _, action := range []string{"none", archived.ID, snoozed.ID} {
		for _, label := range []string{"UNREAD", "STARRED", ""} {
			w.run(NewUnsnoozeJob(UnsnoozePayload{AccountID: w.account, MessageID: message, ActionID: action,
				SnoozeLabelID: label}, time.Now()))
			atGmail, here := w.labels(providerID)
			require.Equal(t, []string{"STARRED", "UNREAD"}, atGmail)
			require.Equal(t, atGmail, here)
		}
	}
	asleep := w.labelNamed("Postroom/Snoozed").ID
	w.modify(providerID, postroom.LabelChange{Add: []string{asleep}})
	w.run(NewUnsnoozeJob(UnsnoozePayload{AccountID: w.account, MessageID: message, ActionID: "from before",
		SnoozeLabelID: "UNREAD"}, time.Now()))
	atGmail, _ := w.labels(providerID)
	require.Equal(t, []string{"INBOX", "STARRED", "UNREAD"}, atGmail, "what sleeps wakes, whatever is known of its snooze")
}

// TestUnsnoozeAfterTheNameHasChanged: a message wakes from the label under which it sleeps.
func TestUnsnoozeAfterTheNameHasChanged(t *testing.T) {
	for name, alter := range map[string]func(p *UnsnoozePayload){
		"the payload says which": func(*UnsnoozePayload) {},
		"the payload does not":   func(p *UnsnoozePayload) { p.SnoozeLabelID = "" },
	} {
		t.Run(name, func(t *testing.T) {
			w := sleepy(t)
			message, providerID := w.known("INBOX")
			done := w.snooze(message)
			old := w.labelNamed("Postroom/Snoozed").ID
			payload := UnsnoozePayload{AccountID: w.account, MessageID: message, ActionID: done.ID, SnoozeLabelID: old}
			if alter(&payload); payload.SnoozeLabelID != "" {
				w.cfg.SnoozeLabel = "Later"
			}
			_, err := w.queue.CancelAll(t.Context(), queue.Filter{Types: []string{string(JobUnsnooze)}})
			require.NoError(t, err)
			_, err = w.queue.Enqueue(t.Context(), NewUnsnoozeJob(payload, time.Time{}))
			require.NoError(t, err)
			w.morning()
			atGmail, _ := w.labels(providerID)
			require.Equal(t, []string{"INBOX"}, atGmail)
		})
	}
}

// TestAWakeUpWaitsForTheActions: a message whose snooze takes longer than its sleep does not sleep for ever.
func TestAWakeUpWaitsForTheActions(t *testing.T) {
	w := sleepy(t)
	message, providerID := w.known("INBOX")
	done := w.snooze(message)
	other, err := w.queue.EnqueueIn(t.Context(), JobAction.New(ActionPayload{}, nil), time.Hour)
	require.NoError(t, err)
	busy := done
	busy.State, busy.JobID = postroom.ActionExecuting, other.ID
	write(t, w.store, func(ctx context.Context, tx queue.Tx) error { return w.ledger.Put(ctx, tx, busy) })
	require.NoError(t, w.queue.Pause(t.Context(), queue.ForType(JobAction)))
	require.NoError(t, w.queue.Resume(t.Context(), naps))
	queuetest.PromoteScheduled(t, w.queue)
	wake := done.UndoHint.InverseParameters["unsnooze_job_id"].(string)
	w.runUntil(wake, queue.EventRetried)
	atGmail, _ := w.labels(providerID)
	require.NotContains(t, atGmail, "INBOX")

	require.NoError(t, w.queue.Cancel(t.Context(), other.ID))
	w.morning()
	require.Equal(t, queue.StateCompleted, w.job(wake).State)
	atGmail, _ = w.labels(providerID)
	require.Equal(t, []string{"INBOX"}, atGmail)
}

// TestAWakeUpIsHeld while nothing may be changed in a mailbox, and is not lost.
func TestAWakeUpIsHeld(t *testing.T) {
	w := sleepy(t)
	message, providerID := w.known("INBOX")
	done := w.snooze(message)
	var held atomic.Bool
	held.Store(true)
	w.ledger.Holding = func() error {
		if held.Load() {
			return &postroom.HeldError{Reason: "stopped by ann"}
		}
		return nil
	}
	require.NoError(t, w.queue.Resume(t.Context(), naps))
	queuetest.PromoteScheduled(t, w.queue)
	wake := done.UndoHint.InverseParameters["unsnooze_job_id"].(string)
	w.runUntil(wake, queue.EventRetried)
	atGmail, _ := w.labels(providerID)
	require.NotContains(t, atGmail, "INBOX")
	require.Zero(t, w.job(wake).Failures)

	held.Store(false)
	w.morning()
	atGmail, _ = w.labels(providerID)
	require.Equal(t, []string{"INBOX"}, atGmail)
}

// TestSnoozedAgain: the later snooze counts, and when it is taken back the earlier one still wakes the message.
func TestSnoozedAgain(t *testing.T) {
	for name, undone := range map[string]bool{"and left": false, "and taken back": true} {
		t.Run(name, func(t *testing.T) {
			w := sleepy(t)
			message, providerID := w.known("INBOX")
			first := w.snooze(message)
			second := w.snooze(message, postroom.Parameters{"amount": 30, "units": "days"})
			early, late := first.UndoHint.InverseParameters["unsnooze_job_id"].(string),
				second.UndoHint.InverseParameters["unsnooze_job_id"].(string)

			// The first comes due.
			require.NoError(t, w.queue.Cancel(t.Context(), early))
			due, err := w.queue.Enqueue(t.Context(), NewUnsnoozeJob(UnsnoozePayload{
				AccountID: w.account, MessageID: message, ActionID: first.ID, SnoozeLabelID: w.labelNamed("Postroom/Snoozed").ID,
			}, time.Time{}))
			require.NoError(t, err)
			early = due.ID
			require.NoError(t, w.queue.Resume(t.Context(), naps))
			put := w.runUntil(early, queue.EventRetried)
			require.WithinDuration(t, w.job(late).NotBefore, put.NotBefore, 3*time.Second)
			atGmail, _ := w.labels(providerID)
			require.NotContains(t, atGmail, "INBOX", "it sleeps on")

			if undone {
				require.NoError(t, w.queue.Cancel(t.Context(), late))
			}
			w.morning()
			atGmail, _ = w.labels(providerID)
			require.Equal(t, []string{"INBOX"}, atGmail)
			require.True(t, w.job(early).State.Finished())
		})
	}
}

func TestTheSnoozeLabelIsChecked(t *testing.T) {
	w := newWorld(t)
	w.cfg.SnoozeLabel = "INBOX"
	d, err := queue.NewDispatcher(w.queue, nil)
	require.NoError(t, err)
	require.ErrorContains(t, Register(d, w.cfg), "gmail: Config.SnoozeLabel: ")
}

func TestAReplyWakes(t *testing.T) {
	const reply = "From: Zoe <zoe@example.org>\r\nTo: me@example.com\r\nSubject: Re: Hello\r\nMessage-ID: <2@example.org>\r\n" +
		"In-Reply-To: <1@example.org>\r\nReferences: <1@example.org>\r\n\r\nStill there?\r\n"
	for name, tc := range map[string]struct {
		onReply bool
		labels  []string
		wakes   bool
	}{
		"asked for":       {true, []string{"INBOX"}, true},
		"not asked for":   {false, []string{"INBOX"}, false},
		"a reply of ours": {true, []string{"SENT"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := sleepy(t)
			message, providerID := w.known("INBOX")
			done := w.snooze(message, postroom.Parameters{"amount": 3, "units": "days", "wake_on_reply": tc.onReply})
			require.Equal(t, postroom.ActionCompleted, done.State, done.Error)
			stored, err := w.store.Message(t.Context(), w.account, message)
			require.NoError(t, err)
			answer, err := w.google.Users.Messages.Insert("me", &api.Message{
				Raw: base64.URLEncoding.EncodeToString([]byte(reply)), LabelIds: tc.labels, ThreadId: stored.ProviderThreadID,
			}).Do()
			require.NoError(t, err)
			w.run(NewIngestJob(w.account, answer.Id))

			queued := w.jobs(string(JobUnsnooze))
			if !tc.wakes {
				require.Equal(t, map[queue.State]int{queue.StateQueued: 1}, queued)
				return
			}
			require.Equal(t, map[queue.State]int{queue.StateQueued: 1, queue.StateCanceled: 1}, queued)
			require.NoError(t, w.queue.Resume(t.Context(), naps))
			w.run()
			atGmail, _ := w.labels(providerID)
			require.Equal(t, []string{"INBOX"}, atGmail)
		})
	}
}

// A reply from before the snooze, which a backfill takes in later, wakes nothing.
func TestAnOldReplyWakesNothing(t *testing.T) {
	w := sleepy(t)
	message, _ := w.known("INBOX")
	w.snooze(message, postroom.Parameters{"amount": 3, "units": "days", "wake_on_reply": true})
	stored, err := w.store.Message(t.Context(), w.account, message)
	require.NoError(t, err)
	old := "From: ann@example.com\r\nSubject: Re: Hello\r\nIn-Reply-To: <1@example.org>\r\nReferences: <1@example.org>\r\nMessage-ID: <2@example.org>\r\n" +
		"Date: Sun, 08 Mar 2020 12:00:00 +0000\r\n\r\nBefore.\r\n"
	answer, err := w.google.Users.Messages.Insert("me", &api.Message{
		Raw: base64.URLEncoding.EncodeToString([]byte(old)), LabelIds: []string{"INBOX"}, ThreadId: stored.ProviderThreadID,
	}).InternalDateSource("dateHeader").Do()
	require.NoError(t, err)
	w.run(NewIngestJob(w.account, answer.Id))
	require.Equal(t, map[queue.State]int{queue.StateQueued: 1}, w.jobs(string(JobUnsnooze)))
}

// What an administrator forbids for a day is not forbidden for ever.
func TestWakeUpOutlastsARefusal(t *testing.T) {
	for _, fault := range []gmailtest.Fault{
		{Method: gmailtest.MessagesGet, Status: http.StatusForbidden, Reason: "domainPolicy"},
		{Method: gmailtest.MessagesModify, Status: http.StatusBadRequest, Reason: "invalidArgument", Message: "Invalid label: Label_1"},
	} {
		t.Run(fault.Reason, func(t *testing.T) {
			w := sleepy(t)
			message, providerID := w.known("INBOX")
			done := w.snooze(message)
			require.Equal(t, postroom.ActionCompleted, done.State, done.Error)
			wake := done.UndoHint.InverseParameters[postroom.ParamCancelJob].(string)
			w.server.Fault(fault)
			require.NoError(t, w.queue.Resume(t.Context(), naps))
			queuetest.PromoteScheduled(t, w.queue)
			w.runUntil(wake, queue.EventRetried)
			job := w.job(wake)
			require.Equal(t, queue.StateQueued, job.State, job.LastError)
			require.Equal(t, 1, job.Failures)
			require.WithinDuration(t, time.Now().Add(refusedDelay), job.NotBefore, 10*time.Minute)
			require.False(t, w.ledger.EndTurn(done.ID), "nothing was changed: other actions need not wait as long")

			w.morning()
			atGmail, _ := w.labels(providerID)
			require.Equal(t, []string{"INBOX"}, atGmail)
		})
	}
}
