package undo_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
	"github.com/postroom-go/postroom/undo"
)

var _ undo.Ender = (*gmail.Mailbox)(nil)

// newSender is a house whose actions may send.
func newSender(t *testing.T, db queue.DB) *house {
	kinds, err := postroom.NewKinds(postroom.KindsConfig{Add: outbox.Kinds()})
	require.NoError(t, err)
	h := newHouseIn(t, db, kinds)
	h.gmail.Outbox, err = outbox.New(outbox.Config{Store: h.store, Clients: h.gmail.Clients, Ledger: h.ledger,
		Settle: time.Millisecond})
	require.NoError(t, err)
	return h
}

// abandonedForward is a forward whose job is canceled while it is not known whether it has sent the message.
func (h *house) abandonedForward(msg *postroom.Message, cut gmailtest.Cut) (actionID, jobID string) {
	h.server.Fault(gmailtest.Fault{Method: gmailtest.MessagesSend, Cut: cut},
		gmailtest.Fault{Method: gmailtest.MessagesList, Status: http.StatusServiceUnavailable, Times: -1})
	require.NoError(h, h.queue.DB().Write(h.Context(), func(ctx context.Context, tx queue.Tx) error {
		a, err := h.ledger.Record(ctx, msg, postroom.Decision{
			Action: postroom.Forward, Parameters: postroom.Parameters{"to": "zoe@example.com"}, Confidence: 1, Rationale: "test",
			Source: postroom.SourceDeterministic, RuleID: "rule-1",
		})(ctx, tx)
		if err == nil {
			actionID = a.ID
			_, err = h.ledger.Approve(ctx, tx, a.ID, "ann")
		}
		return err
	}))
	jobID = h.runUntilRetried(string(outbox.JobSend))
	require.NoError(h, h.queue.Cancel(h.Context(), jobID))
	h.server.ClearFaults()
	require.Equal(h, postroom.ActionExecuting, h.action(actionID).State)
	return actionID, jobID
}

// runUntilRetried works until a job of the type is to run again, and returns its id.
func (h *house) runUntilRetried(jobType string) string {
	events, err := h.queue.Subscribe(queue.EventFilter{Types: []string{jobType},
		Kinds: []queue.EventKind{queue.EventRetried}})
	require.NoError(h, err)
	defer events.Close()
	d, err := queue.NewDispatcher(h.queue, &queue.DispatcherConfig{PollInterval: 20 * time.Millisecond})
	require.NoError(h, err)
	require.NoError(h, gmail.Register(d, h.gmail))
	require.NoError(h, undo.Register(d, h.undo))
	ctx, cancel := context.WithCancel(h.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	event, err := events.Next(ctx)
	cancel()
	require.NoError(h, err)
	require.NoError(h, <-ended)
	return event.JobID
}

func (h *house) action(id string) postroom.Action {
	a, err := h.ledger.Action(h.Context(), id)
	require.NoError(h, err)
	return a
}

func (h *house) job(id string) *queue.Job {
	job, err := h.queue.Job(h.Context(), id)
	require.NoError(h, err)
	return job
}

func (h *house) exec(statement string, args ...any) {
	require.NoError(h, h.queue.DB().Write(h.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, statement, args...)
		return err
	}))
}

// purgeSent is a person who deletes all that the mailbox has sent, for ever.
func (h *house) purgeSent() {
	service, err := h.server.Service(h.Context())
	require.NoError(h, err)
	list, err := service.Users.Messages.List("me").Q("in:sent").Do()
	require.NoError(h, err)
	require.NotEmpty(h, list.Messages)
	for _, m := range list.Messages {
		require.NoError(h, service.Users.Messages.Delete("me", m.Id).Do())
	}
}

// The jobs that may find that the job of another action of the message has ended: that of an action, and that of an
// undo. Each returns its own id.
var nextJobs = map[string]func(h *house, msg *postroom.Message, starred string) string{
	string(gmail.JobAction): func(h *house, msg *postroom.Message, _ string) string {
		action := h.decide(msg, postroom.Archive, "")
		jobs, err := h.queue.Jobs(h.Context(), queue.Filter{Key: gmail.NewActionJob(h.account, action).Key.Name})
		require.NoError(h, err)
		require.Len(h, jobs, 1)
		return jobs[0].ID
	},
	string(undo.JobAction): func(h *house, _ *postroom.Message, starred string) string {
		requested, err := h.undoer.Request(h.Context(), starred)
		require.NoError(h, err)
		return requested.ID
	},
}

// TestAnAbandonedSendIsLookedFor: the next job of the message ends the action whose job has ended, and finds out
// before whether it has sent the message.
func TestAnAbandonedSendIsLookedFor(t *testing.T) {
	tests := map[string]struct {
		cut    gmailtest.Cut
		before func(h *house, jobID string)
		ends   postroom.ActionState
		reason string
	}{
		"sent":     {gmailtest.CutAfter, nil, postroom.ActionCompleted, ""},
		"not sent": {gmailtest.CutBefore, nil, postroom.ActionFailed, "its job ended before it did, and nothing was sent"},
		"sent, and its job is no longer stored": {gmailtest.CutAfter, func(h *house, jobID string) {
			h.exec(`DELETE FROM jobs WHERE id = $1`, jobID)
		}, postroom.ActionCompleted, ""},
		"sent, and looked for by a program that sends nothing": {gmailtest.CutAfter, func(h *house, _ string) {
			h.gmail.Outbox = nil
		}, postroom.ActionCompleted, ""},
		"sent, and deleted by a person": {gmailtest.CutAfter, func(h *house, _ string) {
			h.purgeSent()
		}, postroom.ActionFailed, "it cannot be told whether the message was sent"},
	}
	for name, tt := range tests {
		for by, next := range nextJobs {
			t.Run(name+"/"+by, func(t *testing.T) {
				dbtest.Each(t, func(t *testing.T, db queue.DB) {
					h := newSender(t, db)
					_, msg := h.letter("send")
					starred := h.decide(msg, postroom.Star, "")
					h.run()
					send, job := h.abandonedForward(msg, tt.cut)
					if tt.before != nil {
						tt.before(h, job)
					}
					after := next(h, msg, starred)
					h.run()
					a := h.action(send)
					require.Equal(t, tt.ends, a.State, a.Error)
					require.Contains(t, a.Error, tt.reason)
					require.Equal(t, tt.ends == postroom.ActionCompleted, a.UndoHint.SentMessageID != "")
					require.Equal(t, 1, h.server.Counts()[gmailtest.MessagesSend])
					require.Equal(t, queue.StateCompleted, h.job(after).State)
				})
			})
		}
	}
}

// TestLookingForAnAbandonedSendSpendsNoAttempt of the job that waits, nor is the action failed before.
func TestLookingForAnAbandonedSendSpendsNoAttempt(t *testing.T) {
	for by, next := range nextJobs {
		t.Run(by, func(t *testing.T) {
			h := newSender(t, dbtest.SQLite(t))
			_, msg := h.letter("send")
			starred := h.decide(msg, postroom.Star, "")
			h.run()
			send, _ := h.abandonedForward(msg, gmailtest.CutAfter)
			h.server.Fault(gmailtest.Fault{Method: gmailtest.MessagesList, Status: http.StatusServiceUnavailable, Times: -1})
			after := next(h, msg, starred)
			require.Equal(t, after, h.runUntilRetried(by))
			require.Equal(t, postroom.ActionExecuting, h.action(send).State)
			h.server.ClearFaults()
			queuetest.PromoteScheduled(t, h.queue)
			h.run()
			require.Equal(t, postroom.ActionCompleted, h.action(send).State)
			require.Equal(t, queue.StateCompleted, h.job(after).State)
			require.Zero(t, h.job(after).Failures)
		})
	}
}

// TestAnAbandonedStepOfTheHostsOwnIsAPersons to look at: nobody else knows what it has announced.
func TestAnAbandonedStepOfTheHostsOwnIsAPersons(t *testing.T) {
	kinds, err := postroom.NewKinds(
		postroom.KindsConfig{Add: []postroom.Kind{{Type: "pay", Job: "pay", Summary: "pay the bill"}}})
	require.NoError(t, err)
	h := newHouseOf(t, kinds)
	_, msg := h.letter("bill")
	pay := h.decide(msg, "pay", "")
	require.NoError(t, h.queue.DB().Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		a, err := h.ledger.Start(ctx, tx, pay, "a job that is no longer stored")
		if err == nil {
			_, err = h.ledger.DeclareIntent(ctx, tx, a, postroom.Parameters{"amount": "5"})
		}
		return err
	}))
	h.decide(msg, postroom.Archive, "")
	h.run()
	a := h.action(pay)
	require.Equal(t, postroom.ActionFailed, a.State)
	require.Contains(t, a.Error, "it had declared a step that cannot be taken back: find out whether it was taken")
}
