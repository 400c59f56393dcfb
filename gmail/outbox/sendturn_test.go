package outbox_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/internal/worldtest"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
)

// forwardOf is a forward to one colleague of the n-th letter, decided n seconds after the first.
func (w *world) forwardOf(n int) postroom.Action {
	w.t.Helper()
	a := worldtest.Forward("", "colleague@example.com")
	a.MessageID, _ = w.letter(strings.NewReplacer("ann@", fmt.Sprintf("ann%d@", n), "<q@", fmt.Sprintf("<q%d@", n)).
		Replace(worldtest.Question))
	a.CreatedAt = time.Date(2026, 3, 1, 12, 0, n, 0, time.UTC)
	return a
}

func (w *world) sentEarlier(d time.Duration) {
	w.t.Helper()
	w.exec("UPDATE outbound_recipients SET sent_at = $1", dbtime.Of(time.Now().Add(-d)))
}

func TestSendsWaitInTheOrderOfTheirDecisions(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.cfg.Outbox.RecipientsDay = 2
		colleague := worldtest.OpenInbox(w.t, w.server, "colleague@example.com")
		for n := range 2 {
			a, _ := w.carryOut(w.forwardOf(n))
			require.Equal(t, postroom.ActionCompleted, a.State, a.Error)
		}
		waits, until := map[int]postroom.Action{}, map[int]time.Time{}
		for _, n := range []int{4, 2, 3} { // their jobs do not run in the order of the decisions
			a, job := w.putOff(w.forwardOf(n))
			require.Equal(t, postroom.ActionQueued, a.State)
			waits[n], until[n] = a, job.NotBefore
			cancel(w, job.ID)
		}
		waiting, err := outbox.CountWaiting(t.Context(), w.db, w.ledger)
		require.NoError(t, err)
		require.Equal(t, 3, waiting)
		for _, n := range []int{2, 3} {
			require.WithinDuration(t, time.Now().Add(24*time.Hour), until[n], time.Hour)
		}

		w.sentEarlier(25 * time.Hour)
		early, err := w.queue.Enqueue(t.Context(), outbox.NewSendJob(w.account, waits[4].ID))
		require.NoError(t, err)
		w.runUntil(early.ID, queue.EventRetried)
		require.Equal(t, postroom.ActionQueued, w.action(waits[4].ID).State, "two were decided before it")
		require.Contains(t, w.job(early.ID).LastError, "has got 0 messages within a day, and 2 that were decided before wait")
		require.WithinDuration(t, time.Now().Add(24*time.Hour), w.job(early.ID).NotBefore, time.Hour)
		cancel(w, early.ID)
		w.run(outbox.NewSendJob(w.account, waits[2].ID), outbox.NewSendJob(w.account, waits[3].ID))
		require.Equal(t, postroom.ActionCompleted, w.action(waits[2].ID).State)
		require.Equal(t, postroom.ActionCompleted, w.action(waits[3].ID).State)
		w.sentEarlier(25 * time.Hour)
		w.run(outbox.NewSendJob(w.account, waits[4].ID))
		require.Equal(t, postroom.ActionCompleted, w.action(waits[4].ID).State)
		waiting, err = outbox.CountWaiting(t.Context(), w.db, w.ledger)
		require.NoError(t, err)
		require.Zero(t, waiting)
		received, _ := colleague.Got()
		require.Len(t, received, 5)
	})
}

// What would wait for more than two days is a person's to decide, and their word is above the limit.
func TestALongWaitForTheLimitAsksAPerson(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.cfg.Outbox.RecipientsDay = 1
		worldtest.OpenInbox(w.t, w.server, "colleague@example.com")
		a, _ := w.carryOut(w.forwardOf(0))
		require.Equal(t, postroom.ActionCompleted, a.State, a.Error)
		for n := 1; n <= 2; n++ {
			a, job := w.putOff(w.forwardOf(n))
			require.Equal(t, postroom.ActionQueued, a.State)
			require.WithinDuration(t, time.Now().Add(time.Duration(n)*24*time.Hour), job.NotBefore, time.Hour)
			cancel(w, job.ID)
		}
		for n := 3; n <= 4; n++ {
			a, job := w.carryOut(w.forwardOf(n))
			require.Equal(t, postroom.ActionPendingApproval, a.State, a.Error)
			require.Contains(t, a.Error, "colleague@example.com has got 1 messages within a day, and 2 that were "+
				"decided before wait; at most 1 are allowed")
			require.Contains(t, a.Error, "would wait until")
			require.Equal(t, queue.StateCompleted, job.State, "its key is free")
			waiting, err := outbox.CountWaiting(t.Context(), w.db, w.ledger)
			require.NoError(t, err)
			require.Equal(t, 2, waiting, "who waits for a person waits for no other")
			if n == 4 {
				w.ledger.ApprovedBy = "ada"
				w.put(a.ID, func(a *postroom.Action) { a.State, a.Error = postroom.ActionQueued, "" })
				w.run(outbox.NewSendJob(w.account, a.ID))
				require.Equal(t, postroom.ActionCompleted, w.action(a.ID).State, w.action(a.ID).Error)
			}
		}
	})
}

// An approval that ends before the limit allows the message asks a person at once, whose word is above the limit.
func TestAnApprovalThatEndsBeforeTheTurnAsksAgain(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.cfg.Outbox.RecipientsDay = 1
		worldtest.OpenInbox(w.t, w.server, "colleague@example.com")
		a, _ := w.carryOut(w.forwardOf(0))
		require.Equal(t, postroom.ActionCompleted, a.State, a.Error)
		w.ledger.ApprovedBy, w.ledger.ApprovedUntil = "ada", time.Now().Add(25*time.Hour)
		a, job := w.putOff(w.forwardOf(1))
		require.Equal(t, postroom.ActionQueued, a.State, "it is sent before the approval ends")
		cancel(w, job.ID)
		w.ledger.ApprovedUntil = time.Now().Add(23 * time.Hour)
		a, job = w.carryOut(w.forwardOf(2))
		require.Equal(t, postroom.ActionPendingApproval, a.State, a.Error)
		require.Contains(t, a.Error, ", and the approval by ada counts until "+
			w.ledger.ApprovedUntil.UTC().Format(time.RFC3339))
		require.Equal(t, queue.StateCompleted, job.State)
		w.put(a.ID, func(a *postroom.Action) { a.State, a.Error = postroom.ActionQueued, "" })
		w.run(outbox.NewSendJob(w.account, a.ID))
		require.Equal(t, postroom.ActionCompleted, w.action(a.ID).State, w.action(a.ID).Error)
	})
}

// Messages that wait keep their order over a stop of hours; those whose actions have ended keep no other waiting.
func TestPlacesAreKeptOverAStop(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.cfg.Outbox.RecipientsDay = 1
		worldtest.OpenInbox(w.t, w.server, "colleague@example.com")
		a, _ := w.carryOut(w.forwardOf(0))
		require.Equal(t, postroom.ActionCompleted, a.State, a.Error)
		var waits []postroom.Action
		for n := 1; n <= 2; n++ {
			a, job := w.putOff(w.forwardOf(n))
			require.Equal(t, postroom.ActionQueued, a.State)
			waits = append(waits, a)
			cancel(w, job.ID)
		}
		w.sentEarlier(25 * time.Hour)
		w.exec("UPDATE outbound_waiting SET wait_until = $1", dbtime.Of(time.Now().Add(-3*time.Hour)))
		waiting, err := outbox.CountWaiting(t.Context(), w.db, w.ledger)
		require.NoError(t, err)
		require.Equal(t, 2, waiting, "their turn has come, and they are not sent yet")
		w.put(waits[1].ID, func(a *postroom.Action) { a.State = postroom.ActionCanceled })
		waiting, err = outbox.CountWaiting(t.Context(), w.db, w.ledger)
		require.NoError(t, err)
		require.Equal(t, 1, waiting, "what was canceled waits no more")
		w.put(waits[1].ID, func(a *postroom.Action) { a.State = postroom.ActionQueued })
		late, err := w.queue.Enqueue(t.Context(), outbox.NewSendJob(w.account, waits[1].ID))
		require.NoError(t, err)
		w.runUntil(late.ID, queue.EventRetried)
		require.Contains(t, w.job(late.ID).LastError, "and 1 that were decided before wait")
		cancel(w, late.ID)
		w.exec("UPDATE outbound_waiting SET wait_until = $1", dbtime.Of(time.Now().Add(-3*time.Hour)))
		w.put(waits[0].ID, func(a *postroom.Action) { a.State = postroom.ActionCanceled })
		w.run(outbox.NewSendJob(w.account, waits[1].ID))
		require.Equal(t, postroom.ActionCompleted, w.action(waits[1].ID).State, w.action(waits[1].ID).Error)
		waiting, err = outbox.CountWaiting(t.Context(), w.db, w.ledger)
		require.NoError(t, err)
		require.Zero(t, waiting)
	})
}

// A reply waits while it is not known whether an earlier one to the same person was sent.
func TestAReplyWaitsForOneThatIsTriedAgain(t *testing.T) {
	for name, ends := range map[string]struct {
		earlier func(w *world, id string)
		state   postroom.ActionState
	}{
		"it was not sent": {func(w *world, id string) {
			w.put(id, func(a *postroom.Action) { a.State = postroom.ActionFailed })
			w.exec("DELETE FROM outbound_recipients WHERE action_id = $1", id)
			w.exec("UPDATE outbound_messages SET open_until = NULL WHERE action_id = $1", id)
		}, postroom.ActionCompleted},
		"it was sent": {func(w *world, id string) {
			w.put(id, func(a *postroom.Action) { a.State = postroom.ActionCompleted })
			w.exec("UPDATE outbound_messages SET open_until = NULL, sent_message_id = 'x' WHERE action_id = $1", id)
		}, postroom.ActionCanceled},
		"nobody can find out": {func(w *world, id string) {
			w.put(id, func(a *postroom.Action) { a.State = postroom.ActionFailed })
		}, postroom.ActionCanceled},
	} {
		t.Run(name, func(t *testing.T) {
			eachWorld(t, func(t *testing.T, w *world) {
				w.cfg.Outbox.Settle = time.Hour
				worldtest.OpenInbox(w.t, w.server, "ann@example.com")
				reply := func(n int) (id, job string) {
					message, _ := w.letter(strings.Replace(worldtest.Question, "<q@", fmt.Sprintf("<q%d@", n), 1))
					id = w.queued(worldtest.Reply(message, "Yes."))
					enqueued, err := w.queue.Enqueue(t.Context(), outbox.NewSendJob(w.account, id))
					require.NoError(t, err)
					w.runUntil(enqueued.ID, queue.EventRetried)
					return id, enqueued.ID
				}
				w.server.Fault(gmailtest.Fault{Method: gmailtest.MessagesSend, Status: http.StatusServiceUnavailable, Times: 1})
				first, job := reply(1)
				cancel(w, job)
				second, _ := reply(2)
				require.Equal(t, postroom.ActionExecuting, w.action(second).State, w.action(second).Error)
				require.Equal(t, 1, w.server.Counts()[gmailtest.MessagesSend])
				ends.earlier(w, first)
				queuetest.PromoteScheduled(t, w.queue)
				w.run()
				require.Equal(t, ends.state, w.action(second).State, w.action(second).Error)
			})
		})
	}
}

// Of sends that begin at once, each counts the others, and those beyond the limit have not begun.
func TestSendsThatBeginAtOnceAreCounted(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.cfg.Outbox.RecipientsDay = 2
		worldtest.OpenInbox(w.t, w.server, "colleague@example.com")
		const all = 6
		ids, jobs := make([]string, all), make([]queue.NewJob, all)
		for n := range all {
			ids[n] = w.queued(w.forwardOf(n))
			job, sends, err := w.cfg.Outbox.SendJob(t.Context(), w.account, ids[n], w.store.DB().Write)
			require.NoError(t, err)
			require.True(t, sends)
			jobs[n] = job
		}
		w.runUntilEach(jobs, queue.EventCompleted, queue.EventRetried)
		states := map[postroom.ActionState]int{}
		for _, id := range ids {
			states[w.action(id).State]++
		}
		require.Equal(t, 2, states[postroom.ActionCompleted])
		require.Zero(t, states[postroom.ActionExecuting])
		require.Equal(t, 2, w.server.Counts()[gmailtest.MessagesSend])
	})
}

// Of replies to one person that have started, one is sent: none keeps the others from it while it is not being sent.
func TestOfRepliesThatHaveStartedOneIsSent(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		worldtest.OpenInbox(w.t, w.server, "ann@example.com")
		const all = 4
		ids, jobs := make([]string, all), make([]queue.NewJob, all)
		for n := range all {
			message, _ := w.letter(strings.Replace(worldtest.Question, "<q@", fmt.Sprintf("<q%d@", n), 1))
			ids[n] = w.queued(worldtest.Reply(message, "Yes."))
			jobs[n] = outbox.NewSendJob(w.account, ids[n])
		}
		// All have started, and none has begun to send.
		w.server.Fault(gmailtest.Fault{Method: gmailtest.GetProfile, Status: http.StatusServiceUnavailable, Times: -1})
		w.runUntilEach(jobs, queue.EventRetried, queue.EventFailed)
		for _, id := range ids {
			require.Equal(t, postroom.ActionExecuting, w.action(id).State)
		}
		require.Zero(t, w.server.Counts()[gmailtest.MessagesSend])
		w.server.ClearFaults()
		queuetest.PromoteScheduled(t, w.queue)
		w.run()
		states := map[postroom.ActionState]int{}
		for _, id := range ids {
			states[w.action(id).State]++
		}
		require.Equal(t, map[postroom.ActionState]int{postroom.ActionCompleted: 1, postroom.ActionCanceled: all - 1}, states)
	})
}

// runUntilEach enqueues jobs and runs them until something of the kinds has happened to each.
func (w *world) runUntilEach(jobs []queue.NewJob, kinds ...queue.EventKind) {
	w.t.Helper()
	enqueued, err := w.queue.EnqueueMany(w.t.Context(), jobs)
	require.NoError(w.t, err)
	left := map[string]bool{}
	for _, job := range enqueued {
		left[job.ID] = true
	}
	events, err := w.queue.Subscribe(queue.EventFilter{Kinds: kinds})
	require.NoError(w.t, err)
	defer events.Close()
	d, err := queue.NewDispatcher(w.queue, &queue.DispatcherConfig{PollInterval: 20 * time.Millisecond, Workers: 4})
	require.NoError(w.t, err)
	require.NoError(w.t, gmail.Register(d, w.cfg))
	ctx, cancel := context.WithTimeout(w.t.Context(), 10*time.Minute)
	defer cancel()
	run, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- d.Run(run) }()
	for len(left) > 0 {
		event, err := events.Next(ctx)
		require.NoError(w.t, err)
		delete(left, event.JobID)
	}
	stop()
	require.NoError(w.t, <-ended)
}
