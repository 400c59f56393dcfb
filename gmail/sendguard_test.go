package gmail

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

// refusals are messages that must not be sent. Nothing is, and the reason is on record.
func TestRefusals(t *testing.T) {
	with := func(field string) string { return field + "\r\n" + question }
	to := func(a postroom.Action, to any) postroom.Action {
		a.Parameters["to"] = to
		return a
	}
	replied, forwarded := reply("", "Yes."), forward("", "colleague@example.com")
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
		{"reply to a bounce", strings.Replace(question, "ann@", "MAILER-DAEMON@", 1), replied, "sent by a program"},
		{"reply to no-reply", strings.Replace(question, "ann@", "no-reply@", 1), replied, "unattended"},
		{"reply where the sender wants no automatic ones", with("X-Auto-Response-Suppress: All"), replied, "X-Auto-Response-Suppress"},
		{"reply to the mailbox itself", strings.Replace(question, "ann@", "you+tag@", 1), replied, "own address"},
		{"reply to an unattended Reply-To", with("Reply-To: noreply@example.com"), replied, "nobody reads mail to noreply@example.com"},
		{"reply to a Reply-To of its own address", with("Reply-To: you@example.com"), replied, "own address"},
		{"reply to a Reply-To at another domain", with("Reply-To: ann@mallory.example"), replied, "at another domain"},
		{"reply to a message without a sender", "Subject: x\r\n\r\n", replied, "names no sender"},
		{"reply to no address", question, to(reply("", "Yes."), "ann at example.com"), "is not an address"},
		{"reply to something else", question, to(reply("", "Yes."), 7), "give an address"},
		{"reply to an address with a line break", question, to(reply("", "Yes."), "a@example.com\r\nBcc: b@example.com"), "line break"},
		{"reply without a text", question, postroom.Action{Type: postroom.AutoReply}, "needs a text"},
		{"reply to too many", question, to(reply("", "Yes."), manyAddresses(11)), "11 recipients; at most 10"},
		{"forward to the mailbox itself", question, to(forward(""), "YOU@example.com"), "own address"},
		{"forward to the sender", question, to(forward(""), "Ann <ann@example.com>"), "is the sender of the original"},
		{"forward to a tag of the sender", question, to(forward(""), "ann+x@example.com"), "is the sender of the original"},
		{"forward of a bounce", with("Return-Path: <>"), forwarded, "a notice about mail"},
		{"forward that has come back", with("X-Loop: you@example.com"), forwarded, "has come back"},
		{"forward to nobody", question, postroom.Action{Type: postroom.Forward}, `needs the parameter "to"`},
		{"forward in another way", question, postroom.Action{Type: postroom.Forward, Parameters: postroom.Parameters{"to": "a@example.org", "include_original": "fax"}}, `use "inline" or "attachment"`},
		{"forward of a list of no addresses", question, to(forward(""), []any{"a@example.org", 7}), "give an address, or a list of them"},
	}
	w := newWorld(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, err := w.server.Deliver(t.Context(), []byte(tt.raw))
			require.NoError(t, err)
			w.run(NewIngestJob(w.account, m.ID))
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

func manyAddresses(n int) (list []any) {
	for i := range n {
		list = append(list, fmt.Sprintf("p%d@example.com", i))
	}
	return list
}

// What a person forwards to others may well be automatic mail.
func TestForwardOfAutomaticMail(t *testing.T) {
	w := newWorld(t)
	colleague := w.inbox("colleague@example.com")
	message, _ := w.letter("Precedence: bulk\r\nAuto-Submitted: auto-generated\r\nList-Id: <bills.example.com>\r\n" + strings.Replace(question, "ann@", "noreply@", 1))
	a, _ := w.carryOut(forward(message, "colleague@example.com"))
	require.Equal(t, postroom.ActionCompleted, a.State, a.Error)
	colleague.one()
}

func TestReplyToSpam(t *testing.T) {
	w := newWorld(t)
	id := w.arrive(question, "SPAM")
	w.run(NewIngestJob(w.account, id))
	a, _ := w.carryOut(reply(w.ours(id), "Yes."))
	require.Contains(t, a.Error, "the original is spam")
}

// A recipient gets one automatic reply in a while, counted in the database; another recipient gets theirs.
func TestRecipientLimits(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		w := newWorldOn(t, db)
		w.cfg.Outbox.RecipientsDay = 3
		send := func(a postroom.Action, name string) postroom.Action {
			a.MessageID, _ = w.letter(strings.NewReplacer("ann@", name+"@", "<q@", "<"+name+"@").Replace(question))
			done, _ := w.carryOut(a)
			return done
		}
		require.Equal(t, postroom.ActionCompleted, send(reply("", "One."), "ann").State)
		again := send(reply("", "Two."), "ann+tag")
		require.Equal(t, postroom.ActionFailed, again.State)
		require.Contains(t, again.Error, "ann@example.com has got an automatic reply within the last 72h0m0s")
		require.Equal(t, postroom.ActionCompleted, send(reply("", "One."), "bob").State)

		require.Equal(t, postroom.ActionCompleted, send(forward("", "ann@example.com"), "bob").State)
		require.Equal(t, postroom.ActionCompleted, send(forward("", "carol@example.com", "ann@example.com"), "bob").State)
		full := send(forward("", "carol@example.com", "ann@example.com"), "bob")
		require.Contains(t, full.Error, "ann@example.com has got 3 messages within a day; at most 3")

		later := func(d time.Duration) {
			w.exec("UPDATE outbound_recipients SET sent_at = $1", dbtime.Of(time.Now().Add(-d)))
		}
		later(25 * time.Hour)
		require.Equal(t, postroom.ActionFailed, send(reply("", "Three."), "ann").State)
		require.Equal(t, postroom.ActionCompleted, send(forward("", "ann@example.com"), "bob").State)
		later(73 * time.Hour)
		require.Equal(t, postroom.ActionCompleted, send(reply("", "Four."), "ann").State)
	})
}

// A message that is never sent counts for nobody.
func TestWhatIsNotSentDoesNotCount(t *testing.T) {
	w := newWorld(t)
	message, _ := w.letter(question)
	w.server.Fault(gmailtest.Fault{Method: gmailtest.MessagesSend, Status: 403, Reason: "insufficientPermissions"})
	a, _ := w.carryOut(reply(message, "One."))
	require.Equal(t, postroom.ActionFailed, a.State)
	a, _ = w.carryOut(reply(message, "Two."))
	require.Equal(t, postroom.ActionCompleted, a.State, a.Error)
}
