package outbox_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/internal/worldtest"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/queue"
)

func (w *world) remove() {
	w.t.Helper()
	require.NoError(w.t, gmail.RemoveAccount(w.t.Context(), w.store, w.queue, w.account))
}

// comesBack adds the mailbox again, and returns our new id of a message that it has.
func (w *world) comesBack(email string, m gmailtest.Message) (message string) {
	w.t.Helper()
	w.account = ensureAccount(w.t, w.store, email)
	w.run(gmail.NewIngestJob(w.account, m.ID))
	return w.ours(m.ID)
}

// sentBefore asks as package safety does.
func (w *world) sentBefore(a postroom.Action) (said string, all bool) {
	w.t.Helper()
	msg, err := w.store.Message(w.t.Context(), w.account, a.MessageID)
	require.NoError(w.t, err)
	write(w.t, w.store, func(ctx context.Context, tx queue.Tx) (err error) {
		said, all, err = outbox.NewSentRecord(w.store).SentBefore(ctx, tx, msg, a.Type, a.Parameters)
		return err
	})
	return said, all
}

func TestWhatWasSentIsKnownWhenTheMailboxComesBack(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ann, colleague := worldtest.OpenInbox(w.t, w.server, "ann@example.com"),
			worldtest.OpenInbox(w.t, w.server, "colleague@example.com")
		message, m := w.letter(worldtest.Question)
		first := w.account
		for _, a := range []postroom.Action{worldtest.Reply(message, "Yes."),
			worldtest.Forward(message, "colleague@example.com")} {
			sent, _ := w.carryOut(a)
			require.Equal(t, postroom.ActionCompleted, sent.State, sent.Error)
		}
		w.remove()
		message = w.comesBack("YOU+old@Example.com", m)
		require.NotEqual(t, first, w.account)

		said, all := w.sentBefore(worldtest.Reply(message, "Yes, again."))
		require.True(t, all)
		require.Regexp(t,
			`^a reply to this message was sent to ann@example.com on \d{4}-.*Z, before the mailbox was removed here and came back$`, said)
		said, all = w.sentBefore(worldtest.Forward(message, "boss@example.com", "Colleague@EXAMPLE.com"))
		require.False(t, all)
		require.Regexp(t, `^a forward of this message was sent to colleague@example.com on .*; not to boss@example.com$`,
			said)
		for _, a := range []postroom.Action{
			worldtest.Forward(message, "boss@example.com"), worldtest.Forward(message, "colleague+tea@example.com"),
			{MessageID: message, Type: postroom.Archive}, worldtest.Forward(message),
		} {
			said, all = w.sentBefore(a)
			require.Empty(t, said)
			require.False(t, all)
		}

		for _, a := range []postroom.Action{worldtest.Reply(message, "Yes."),
			worldtest.Forward(message, "colleague@example.com")} {
			again, _ := w.carryOut(a)
			require.Equal(t, postroom.ActionFailed, again.State)
			require.Contains(t, again.Error, "it is sent again only if a person approves that")
		}
		ann.One()
		colleague.One()

		w.ledger.ApprovedBy = "ada"
		again, _ := w.carryOut(worldtest.Forward(message, "colleague@example.com"))
		require.Equal(t, postroom.ActionCompleted, again.State, again.Error)
		messages, _ := colleague.Got()
		require.Len(t, messages, 2)
	})
}

// TestWhatWasSentIsNotSentAgain by another action of the same account, unless a person approves that.
func TestWhatWasSentIsNotSentAgain(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ann, colleague := worldtest.OpenInbox(w.t, w.server, "ann@example.com"),
			worldtest.OpenInbox(w.t, w.server, "colleague@example.com")
		message, _ := w.letter(worldtest.Question)
		other, _ := w.letter(worldtest.Question)
		for _, a := range []postroom.Action{worldtest.Reply(message, "Yes."),
			worldtest.Forward(message, "colleague@example.com")} {
			said, _ := w.sentBefore(a)
			require.Empty(t, said)
			sent, _ := w.carryOut(a)
			require.Equal(t, postroom.ActionCompleted, sent.State, sent.Error)
		}
		said, all := w.sentBefore(worldtest.Forward(message, "Colleague@EXAMPLE.com"))
		require.True(t, all)
		require.Regexp(t, `^a forward of this message was sent to colleague@example.com on \d{4}-.*Z$`, said)
		said, all = w.sentBefore(worldtest.Forward(message, "boss@example.com", "colleague@example.com"))
		require.False(t, all)
		require.Contains(t, said, "; not to boss@example.com")
		for _, a := range []postroom.Action{worldtest.Forward(message, "boss@example.com"),
			worldtest.Forward(other, "colleague@example.com"),
			worldtest.Reply(other, "Yes.")} {
			said, _ = w.sentBefore(a)
			require.Empty(t, said)
		}
		for _, a := range []postroom.Action{worldtest.Reply(message, "Yes."),
			worldtest.Forward(message, "colleague@example.com")} {
			again, _ := w.carryOut(a)
			require.Equal(t, postroom.ActionFailed, again.State)
			require.Contains(t, again.Error, "it is sent again only if a person approves that")
		}
		ann.One()
		colleague.One()
		w.ledger.ApprovedBy = "ada"
		again, _ := w.carryOut(worldtest.Forward(message, "colleague@example.com"))
		require.Equal(t, postroom.ActionCompleted, again.State, again.Error)
	})
}

func TestLimitsOfRecipientsGoOnWhenTheMailboxComesBack(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.cfg.Outbox.RecipientsDay = 2
		message, _ := w.letter(worldtest.Question)
		for _, a := range []postroom.Action{worldtest.Reply(message, "Yes."),
			worldtest.Forward(message, "colleague@example.com")} {
			sent, _ := w.carryOut(a)
			require.Equal(t, postroom.ActionCompleted, sent.State, sent.Error)
		}
		w.remove()
		m, err := w.server.Deliver(t.Context(),
			[]byte(strings.Replace(worldtest.Question, "q@example.com", "q2@example.com", 1)))
		require.NoError(t, err)
		message = w.comesBack("you@example.com", m)
		a, _ := w.carryOut(worldtest.Reply(message, "Yes, again."))
		require.Equal(t, postroom.ActionCanceled, a.State)
		require.Contains(t, a.Error, "ann@example.com has got an automatic reply within the last 72h0m0s")
		a, _ = w.carryOut(worldtest.Forward(message, "colleague+tea@example.com"))
		require.Equal(t, postroom.ActionCompleted, a.State, a.Error)
		a, job := w.putOff(worldtest.Forward(message, "colleague+cake@example.com"))
		require.Equal(t, postroom.ActionQueued, a.State)
		require.Contains(t, job.LastError, "colleague@example.com has got 2 messages within a day")
		cancel(w, job.ID)

		w.remove()
		for email, want := range map[string]int{"You@example.com": 3, "yuo@example.com": 0} {
			kept, err := outbox.NewSentRecord(w.store).Kept(t.Context(), email)
			require.NoError(t, err)
			require.Equal(t, want, kept)
			forgotten, err := outbox.NewSentRecord(w.store).Forget(t.Context(), email)
			require.NoError(t, err)
			require.Equal(t, want, forgotten)
		}
		var rows int
		require.NoError(t, w.db.Reader().GetContext(t.Context(), &rows, `SELECT COUNT(*) FROM sent_before`))
		require.Zero(t, rows)
		message = w.comesBack("you@example.com", m)
		a, _ = w.carryOut(worldtest.Reply(message, "Yes, again."))
		require.Equal(t, postroom.ActionCompleted, a.State, a.Error)
	})
}

// The mailbox is removed while Gmail sends: nobody learns whether it has.
func TestASendThatARemovalInterruptsIsNotMadeAgain(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ann := worldtest.OpenInbox(w.t, w.server, "ann@example.com")
		message, m := w.letter(worldtest.Question)
		w.wire.After = func(r *http.Request, _ *http.Response) {
			if strings.HasSuffix(r.URL.Path, "/messages/send") {
				w.remove()
			}
		}
		_, job := w.carryOut(worldtest.Reply(message, "Yes."))
		w.wire.After = nil
		require.Equal(t, queue.StateCanceled, job.State)
		ann.One()
		message = w.comesBack("you@example.com", m)
		said, all := w.sentBefore(worldtest.Reply(message, "Yes."))
		require.Contains(t, said, "a reply to this message may have been sent to ann@example.com on")
		require.False(t, all, "a person decides")
		a, _ := w.carryOut(worldtest.Reply(message, "Yes."))
		require.Contains(t, a.Error, "may have been sent")
		ann.One()
	})
}

// What is kept of a mailbox that was removed names nobody.
func TestWhatStaysOfARemovedMailboxIsHashed(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		message, m := w.letter(worldtest.Question)
		a, _ := w.carryOut(worldtest.Forward(message, "colleague@example.com"))
		require.Equal(t, postroom.ActionCompleted, a.State, a.Error)
		w.remove()
		var rows []struct{ Mailbox, What, Target, Recipient string }
		require.NoError(t, w.db.Reader().SelectContext(t.Context(), &rows,
			`SELECT mailbox, what, target, recipient FROM sent_before`))
		require.Len(t, rows, 1)
		for _, text := range []string{rows[0].Mailbox, rows[0].What, rows[0].Target, rows[0].Recipient} {
			require.Regexp(t, `^[0-9a-f]{64}$`, text)
			require.NotContains(t, text, m.ID)
		}
		for _, table := range []string{"outbound_messages", "outbound_recipients"} {
			var n int
			require.NoError(t, w.db.Reader().GetContext(t.Context(), &n, `SELECT COUNT(*) FROM `+table))
			require.Zero(t, n, table)
		}
	})
}
