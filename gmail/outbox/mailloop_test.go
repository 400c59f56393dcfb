package outbox_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/internal/worldtest"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

// refusals are messages that must not be sent. Nothing is, and the reason is on record.
func TestRefusals(t *testing.T) {
	with := func(field string) string { return field + "\r\n" + worldtest.Question }
	to := func(a postroom.Action, to any) postroom.Action {
		a.Parameters["to"] = to
		return a
	}
	replied, forwarded := worldtest.Reply("", "Yes."), worldtest.Forward("", "colleague@example.com")
	tests := []struct {
		name   string
		raw    string
		action postroom.Action
		reason string
	}{
		{"reply to an automatic reply", with("Auto-Submitted: auto-replied"), replied, "auto_reply: Auto-Submitted"},
		{"reply to bulk mail", with("Precedence: bulk"), replied, "bulk: Precedence"},
		{"reply to a list", with("List-Id: <tea.example.com>"), replied, "bulk: List-Id"},
		{"reply to a newsletter", with("List-Unsubscribe: <mailto:leave@example.com>"), replied, "bulk: List-Unsubscribe"},
		{"reply to a null return path", with("Return-Path: <>"), replied, "auto_report: Return-Path"},
		{"reply to a bounce", strings.Replace(worldtest.Question, "ann@", "MAILER-DAEMON@", 1), replied, "sent by a program"},
		{"reply to no-reply", strings.Replace(worldtest.Question, "ann@", "no-reply@", 1), replied, "unattended"},
		{"reply where the sender wants no automatic ones", with("X-Auto-Response-Suppress: All"), replied, "X-Auto-Response-Suppress"},
		{"reply to the mailbox itself", strings.Replace(worldtest.Question, "ann@", "you+tag@", 1), replied, "own address"},
		{"reply to an unattended Reply-To", with("Reply-To: noreply@example.com"), replied, "nobody reads mail to noreply@example.com"},
		{"reply to a Reply-To of its own address", with("Reply-To: you@example.com"), replied, "own address"},
		{"reply to a Reply-To at another domain", with("Reply-To: ann@mallory.example"), replied, "at another domain"},
		{"reply to a message without a sender", "Subject: x\r\n\r\n", replied, "names no sender"},
		{"reply to no address", worldtest.Question, to(worldtest.Reply("", "Yes."), "ann at example.com"), "is not an address"},
		{"reply to something else", worldtest.Question, to(worldtest.Reply("", "Yes."), 7), "give an address"},
		{"reply to an address with a line break", worldtest.Question, to(worldtest.Reply("", "Yes."), "a@example.com\r\nBcc: b@example.com"), "line break"},
		{"reply without a text", worldtest.Question, postroom.Action{Type: postroom.AutoReply}, "needs a text"},
		{"reply to too many", worldtest.Question, to(worldtest.Reply("", "Yes."), manyAddresses(11)), "11 recipients; at most 10"},
		{"forward to the mailbox itself", worldtest.Question, to(worldtest.Forward(""), "YOU@example.com"), "own address"},
		{"forward to the sender", worldtest.Question, to(worldtest.Forward(""), "Ann <ann@example.com>"), "is the sender of the original"},
		{"forward to a tag of the sender", worldtest.Question, to(worldtest.Forward(""), "ann+x@example.com"), "is the sender of the original"},
		{"forward of a bounce", with("Return-Path: <>"), forwarded, "a notice about mail"},
		{"forward that has come back", with("X-Loop: you@example.com"), forwarded, "has come back"},
		{"forward to one who sent it on", with("X-Loop: colleague@example.com"), forwarded, "would come back"},
		{"forward after many hops", with(hops(5)), forwarded, "5 mailboxes have sent the original on"},
		{"forward of a program of its own", "From: you@example.com\r\nAuto-Submitted: auto-generated\r\nSubject: x\r\n\r\nx", forwarded,
			"a program of this mailbox"},
		{"forward to nobody", worldtest.Question, postroom.Action{Type: postroom.Forward}, `needs the parameter "to"`},
		{"forward in another way", worldtest.Question, postroom.Action{Type: postroom.Forward, Parameters: postroom.Parameters{"to": "a@example.org", "include_original": "fax"}}, `use "inline" or "attachment"`},
		{"forward of a list of no addresses", worldtest.Question, to(worldtest.Forward(""), []any{"a@example.org", 7}), "give an address, or a list of them"},
	}
	w := newWorld(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, err := w.server.Deliver(t.Context(), []byte(tt.raw))
			require.NoError(t, err)
			w.run(gmail.NewIngestJob(w.account, m.ID))
			tt.action.MessageID = w.ours(m.ID)
			a, sent := w.carryOut(tt.action)
			require.Equal(t, postroom.ActionFailed, a.State)
			require.Contains(t, a.Error, "refused")
			require.Contains(t, a.Error, tt.reason)
			require.Nil(t, sent)
			_, err = w.cfg.Outbox.Preview(t.Context(), a)
			require.Equal(t, gmailapi.ClassRefused, gmailapi.ClassOf(err), "nobody is asked to approve it")
		})
	}
	require.Zero(t, w.server.Counts()[gmailtest.MessagesSend])
}

func hops(n int) string {
	fields := make([]string, n)
	for i := range fields {
		fields[i] = fmt.Sprintf("X-Loop: hop%d@example.com", i)
	}
	return strings.Join(fields, "\r\n")
}

// Each mailbox on the way of a message is known to the next ones, so that none sends it on twice.
func TestForwardsCarryTheirWay(t *testing.T) {
	w := newWorld(t)
	colleague := worldtest.OpenInbox(w.t, w.server, "colleague@example.com")
	message, _ := w.letter(hops(3) + "\r\nX-Loop: not an address\r\nAuto-Submitted: auto-replied (away)\r\n" +
		worldtest.Question)
	a, _ := w.carryOut(worldtest.Forward(message, "colleague@example.com"))
	require.Equal(t, postroom.ActionCompleted, a.State, a.Error)
	got := colleague.One()
	require.Equal(t, []string{"hop0@example.com", "hop1@example.com", "hop2@example.com", "you@example.com"},
		got.Header.Values("X-Loop"))
	require.Equal(t, "auto-replied", got.Header.Get("Auto-Submitted"))
}

func manyAddresses(n int) (list []any) {
	for i := range n {
		list = append(list, fmt.Sprintf("p%d@example.com", i))
	}
	return list
}

// What a person forwards to others may well be automatic mail.
func TestForwardOfAutomaticMail(t *testing.T) {
	w := newWorld(t)
	colleague := worldtest.OpenInbox(w.t, w.server, "colleague@example.com")
	message, _ := w.letter("Precedence: bulk\r\nAuto-Submitted: auto-generated\r\nList-Id: <bills.example.com>\r\n" +
		strings.Replace(worldtest.Question, "ann@", "noreply@", 1))
	a, _ := w.carryOut(worldtest.Forward(message, "colleague@example.com"))
	require.Equal(t, postroom.ActionCompleted, a.State, a.Error)
	colleague.One()
}

func TestReplyToSpam(t *testing.T) {
	w := newWorld(t)
	id := w.arrive(worldtest.Question, "SPAM")
	w.run(gmail.NewIngestJob(w.account, id))
	a, _ := w.carryOut(worldtest.Reply(w.ours(id), "Yes."))
	require.Contains(t, a.Error, "the original is spam")
}

// A recipient gets one automatic reply in a while, counted in the database; another recipient gets theirs.
func TestRecipientLimits(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		w := newWorldOn(t, db)
		w.cfg.Outbox.RecipientsDay = 3
		send := func(a postroom.Action, name string) postroom.Action {
			a.MessageID, _ = w.letter(strings.NewReplacer("ann@", name+"@", "<q@", "<"+name+"@").Replace(worldtest.Question))
			done, _ := w.carryOut(a)
			return done
		}
		require.Equal(t, postroom.ActionCompleted, send(worldtest.Reply("", "One."), "ann").State)
		again := send(worldtest.Reply("", "Two."), "ann+tag")
		require.Equal(t, postroom.ActionCanceled, again.State, "no failure: breakers count those")
		require.Contains(t, again.Error, "ann@example.com has got an automatic reply within the last 72h0m0s")
		require.Equal(t, postroom.ActionCompleted, send(worldtest.Reply("", "One."), "bob").State)

		require.Equal(t, postroom.ActionCompleted, send(worldtest.Forward("", "ann@example.com"), "bob").State)
		require.Equal(t, postroom.ActionCompleted,
			send(worldtest.Forward("", "carol@example.com", "ann@example.com"), "bob").State)
		full := worldtest.Forward("", "carol@example.com", "ann@example.com")
		full.MessageID, _ = w.letter(strings.NewReplacer("ann@", "bob@", "<q@", "<full@").Replace(worldtest.Question))
		waits, job := w.putOff(full)
		require.Equal(t, postroom.ActionQueued, waits.State, "it has not begun")
		require.Contains(t, job.LastError, "ann@example.com has got 3 messages within a day; at most 3")
		require.WithinDuration(t, time.Now().Add(24*time.Hour), job.NotBefore, time.Hour)
		require.Zero(t, job.Failures)
		cancel(w, job.ID)

		later := func(d time.Duration) {
			w.exec("UPDATE outbound_recipients SET sent_at = $1", dbtime.Of(time.Now().Add(-d)))
		}
		later(25 * time.Hour)
		w.run(outbox.NewSendJob(w.account, waits.ID))
		require.Equal(t, postroom.ActionCompleted, w.action(waits.ID).State, "on the next day it is sent")
		later(25 * time.Hour)
		require.Equal(t, postroom.ActionCanceled, send(worldtest.Reply("", "Three."), "ann").State)
		require.Equal(t, postroom.ActionCompleted, send(worldtest.Forward("", "ann@example.com"), "bob").State)
		later(73 * time.Hour)
		require.Equal(t, postroom.ActionCompleted, send(worldtest.Reply("", "Four."), "ann").State)
	})
}

// A message that is never sent counts for nobody.
func TestWhatIsNotSentDoesNotCount(t *testing.T) {
	w := newWorld(t)
	message, _ := w.letter(worldtest.Question)
	w.server.Fault(gmailtest.Fault{Method: gmailtest.MessagesSend, Status: 403, Reason: "insufficientPermissions"})
	a, _ := w.carryOut(worldtest.Reply(message, "One."))
	require.Equal(t, postroom.ActionFailed, a.State)
	a, _ = w.carryOut(worldtest.Reply(message, "Two."))
	require.Equal(t, postroom.ActionCompleted, a.State, a.Error)
}

// putOff carries out an action that waits, and returns it with its job.
func (w *world) putOff(a postroom.Action) (postroom.Action, *queue.Job) {
	w.t.Helper()
	id := w.queued(a)
	send, sends, err := w.cfg.Outbox.SendJob(w.t.Context(), w.account, id, w.store.DB().Write)
	require.NoError(w.t, err)
	require.True(w.t, sends)
	job, err := w.queue.Enqueue(w.t.Context(), send)
	require.NoError(w.t, err)
	w.runUntil(job.ID, queue.EventRetried)
	return w.action(id), w.job(job.ID)
}

func cancel(w *world, jobID string) {
	w.t.Helper()
	require.NoError(w.t, w.queue.Cancel(w.t.Context(), jobID))
}
