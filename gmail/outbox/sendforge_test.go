package outbox_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/gmail/internal/worldtest"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/queue"
)

// planted is a message to somebody else than the action says, as whoever writes to the database would have it sent.
func (w *world) planted(actionID, message string) outbox.Payload {
	return outbox.Payload{
		AccountID: w.account, ActionID: actionID, MessageType: outbox.Forward, From: w.server.Email(),
		To:      []string{"mallory@example.com"},
		Subject: "The contract", BodyPlain: "Please pay to this account.", OriginalMessageID: message,
		MessageID: "planted@example.com",
	}
}

// plant stores a message that nobody has composed.
func (w *world) plant(p outbox.Payload) {
	w.t.Helper()
	text, err := maildb.JSON(p)
	require.NoError(w.t, err)
	out := mime.Outgoing{
		From: []mime.Address{{Email: p.From}}, To: []mime.Address{{Email: p.To[0]}}, Subject: p.Subject,
		MessageID: p.MessageID, Text: p.BodyPlain,
		Header: []mime.Field{{Name: "Auto-Submitted", Value: "auto-generated"}, {Name: "X-Loop", Value: w.server.Email()}},
	}
	raw, err := out.Build()
	require.NoError(w.t, err)
	w.exec(`INSERT INTO outbound_messages (action_id, account_id, message_type, rfc_message_id, payload_json, sha256, size, created_at, updated_at, original_message_id)
SELECT $1, $2, 'forward', $3, $4, $5, $6, created_at, created_at, $7 FROM accounts WHERE id = $2`,
		p.ActionID, w.account, p.MessageID, text, hashOf("", raw), len(raw), p.OriginalMessageID)
}

// trigger makes the database do something on its own.
func (w *world) trigger(name, when, condition, body string) {
	w.t.Helper()
	if string(w.db.Dialect()) != "postgres" {
		w.exec(`CREATE TRIGGER ` + name + ` ` + when + ` ON outbound_messages WHEN ` + condition + ` BEGIN ` + body + `; END`)
		return
	}
	body = strings.Replace(body, "SELECT RAISE(ABORT, 'not now')", "RAISE EXCEPTION 'not now'", 1)
	w.exec(`CREATE FUNCTION ` + name + `() RETURNS trigger AS $$ BEGIN ` + body + `; RETURN NEW; END $$ LANGUAGE plpgsql`)
	w.exec(`CREATE TRIGGER ` + name + ` ` + when + ` ON outbound_messages FOR EACH ROW WHEN (` + condition +
		`) EXECUTE FUNCTION ` + name + `()`)
}

// endTrigger makes it stop.
func (w *world) endTrigger(name string) {
	if string(w.db.Dialect()) == "postgres" {
		w.exec(`DROP TRIGGER IF EXISTS ` + name + ` ON outbound_messages`)
		return
	}
	w.exec(`DROP TRIGGER IF EXISTS ` + name)
}

// TestWhatNobodyHasComposedIsNotSent: a stored message is that of its action once the action names its hash, and not
// before.
func TestWhatNobodyHasComposedIsNotSent(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		w := newWorldOn(t, db)
		mallory, bob := worldtest.OpenInbox(w.t, w.server, "mallory@example.com"),
			worldtest.OpenInbox(w.t, w.server, "bob@example.com")
		message, _ := w.letter(worldtest.Question)
		id := w.queued(worldtest.Forward(message, "bob@example.com")) // a person, or a rule, has said so
		w.plant(w.planted(id, message))
		w.exec(
			`UPDATE outbound_messages SET attempts = 1, history_id = 1, sent_message_id = 'of another', open_until = created_at`)
		w.run(gmail.NewActionJob(w.account, id))
		got, _ := mallory.Got()
		require.Empty(t, got)
		require.Equal(t, "Fwd: Tea?", bob.One().Subject)
		a := w.action(id)
		require.Equal(t, postroom.ActionCompleted, a.State, a.Error)
		require.NotEqual(t, "of another", a.UndoHint.SentMessageID)
	})
}

// TestAJobDoesNotSayWhatIsSent: its payload is a row like others, and what was approved are the parameters of the
// action.
func TestAJobDoesNotSayWhatIsSent(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		w := newWorldOn(t, db)
		mallory, bob := worldtest.OpenInbox(w.t, w.server, "mallory@example.com"),
			worldtest.OpenInbox(w.t, w.server, "bob@example.com")
		message, _ := w.letter(worldtest.Question)
		id := w.queued(worldtest.Forward(message, "bob@example.com"))
		w.run(outbox.JobSend.New(w.planted(id, message), nil))
		got, _ := mallory.Got()
		require.Empty(t, got)
		require.Equal(t, "Fwd: Tea?", bob.One().Subject)
	})
}

// TestASendThatTheDatabaseForgetsIsNotRepeated: that it has begun is signed with the action.
func TestASendThatTheDatabaseForgetsIsNotRepeated(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		w := newWorldOn(t, db)
		bob := worldtest.OpenInbox(w.t, w.server, "bob@example.com")
		message, _ := w.letter(worldtest.Question)
		w.trigger("forget", "AFTER UPDATE OF open_until", "NEW.open_until IS NOT NULL",
			`UPDATE outbound_messages SET open_until = NULL, history_id = 0, rfc_message_id = 'another@example.com' WHERE action_id = NEW.action_id`)
		w.trigger("stall", "BEFORE UPDATE OF sent_message_id", "NEW.attempts = 1", `SELECT RAISE(ABORT, 'not now')`)
		w.wire.Before = func(r *http.Request) {
			if strings.Contains(r.URL.Query().Get("q"), "rfc822msgid:") { // it looks for what it has sent
				w.endTrigger("stall")
			}
		}
		a, _ := w.carryOut(worldtest.Forward(message, "bob@example.com"))
		require.Equal(t, 1, w.server.Counts()[gmailtest.MessagesSend], "it was approved once, and sent before: %s", a.State)
		require.Equal(t, postroom.ActionCompleted, a.State, a.Error)
		bob.One()
	})
}

// TestASendWhoseRowIsGoneIsNotRepeated, nor does it fail.
func TestASendWhoseRowIsGoneIsNotRepeated(t *testing.T) {
	for name, alter := range map[string]string{
		"gone":       `DELETE FROM outbound_messages`,
		"unreadable": `UPDATE outbound_messages SET payload_json = '?', open_until = NULL`,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			bob := worldtest.OpenInbox(w.t, w.server, "bob@example.com")
			message, _ := w.letter(worldtest.Question)
			w.server.Fault(gmailtest.Fault{Method: gmailtest.MessagesSend, Cut: gmailtest.CutAfter})
			w.wire.Failed = func(r *http.Request, _ error) {
				if strings.Contains(r.URL.Path, "send") {
					w.exec(alter)
				}
			}
			a, _ := w.carryOut(worldtest.Forward(message, "bob@example.com"))
			require.Equal(t, postroom.ActionCompleted, a.State, a.Error)
			require.Equal(t, 1, w.server.Counts()[gmailtest.MessagesSend])
			bob.One()
		})
	}
}

// TestWhatIsSaidToBeSentMustBe: a row that says so without an intent is believed only if Gmail says so as well.
func TestWhatIsSaidToBeSentMustBe(t *testing.T) {
	w := newWorld(t)
	worldtest.OpenInbox(w.t, w.server, "bob@example.com")
	message, arrived := w.letter(worldtest.Question)
	id := w.queued(worldtest.Forward(message, "bob@example.com"))
	_, err := w.cfg.Outbox.Preview(t.Context(), w.action(id))
	require.NoError(t, err)
	w.exec(`UPDATE outbound_messages SET sent_message_id = $1`, arrived.ID)
	w.run(gmail.NewActionJob(w.account, id))
	a := w.action(id)
	require.Equal(t, postroom.ActionFailed, a.State)
	require.Contains(t, a.Error, "has no intent to send it; look among the sent mail")
	require.Zero(t, w.server.Counts()[gmailtest.MessagesSend])
}

// TestAReplyGoesToWhoWroteAtGmail, whatever the stored copy says.
func TestAReplyGoesToWhoWroteAtGmail(t *testing.T) {
	w := newWorld(t)
	ann, mallory := worldtest.OpenInbox(w.t, w.server, "ann@example.com"),
		worldtest.OpenInbox(w.t, w.server, "mallory@example.com")
	message, _ := w.letter(worldtest.Question)
	w.exec(`UPDATE messages SET from_email = 'mallory@example.com', subject = 'Pay' WHERE id = $1`, message)
	a, _ := w.carryOut(worldtest.Reply(message, "Yes."))
	require.Equal(t, postroom.ActionCompleted, a.State, a.Error)
	got, _ := mallory.Got()
	require.Empty(t, got)
	require.Equal(t, "Re: Tea?", ann.One().Subject)
}

// TestASendFromBeforeThereWereAnnouncements goes on from its row.
func TestASendFromBeforeThereWereAnnouncements(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		w := newWorldOn(t, db)
		bob := worldtest.OpenInbox(w.t, w.server, "bob@example.com")
		for i, sent := range []bool{true, false} {
			message, _ := w.letter(strings.Replace(worldtest.Question, "q@", fmt.Sprintf("q%d@", i), 1))
			id := w.queued(worldtest.Forward(message, "bob@example.com"))
			p, err := w.cfg.Outbox.Preview(t.Context(), w.action(id))
			require.NoError(t, err)
			job, err := w.queue.Enqueue(t.Context(), outbox.NewSendJob(w.account, id))
			require.NoError(t, err)
			w.put(id, func(a *postroom.Action) { a.State, a.JobID = postroom.ActionExecuting, job.ID })
			w.exec(`UPDATE outbound_messages SET attempts = 1, history_id = $1, open_until = created_at WHERE action_id = $2`,
				int64(w.latest()), id)
			if sent {
				_, err := w.client.Send(t.Context(), p.Raw, "")
				require.NoError(t, err)
			}
			w.run()
			a := w.action(id)
			require.Equal(t, postroom.ActionCompleted, a.State, a.Error)
			got, _ := bob.Got()
			require.Len(t, got, i+1)
		}
	})
}

// TestNothingIsSentFromAnotherMailbox: what signs in to which mailbox is not signed. An address of before, which is
// one of its own, is no other mailbox.
func TestNothingIsSentFromAnotherMailbox(t *testing.T) {
	w := newWorld(t)
	bob := worldtest.OpenInbox(w.t, w.server, "bob@example.com")
	w.wire.After = func(r *http.Request, answer *http.Response) {
		if strings.HasSuffix(r.URL.Path, "/profile") {
			worldtest.SetBody(answer, `{"emailAddress":"other@example.com","historyId":"1"}`)
		}
	}
	message, _ := w.letter(worldtest.Question)
	a, _ := w.carryOut(worldtest.Forward(message, "bob@example.com"))
	require.Equal(t, postroom.ActionCompleted, a.State, "it is another name of the same: %s", a.Error)
	bob.One()

	w.exec(`UPDATE accounts SET email = 'third@example.com'`)
	message, _ = w.letter(strings.Replace(worldtest.Question, "q@", "q2@", 1))
	a, _ = w.carryOut(worldtest.Forward(message, "bob@example.com"))
	require.Equal(t, postroom.ActionFailed, a.State)
	require.Contains(t, a.Error, "the account signs in to other@example.com, and was that of third@example.com")
	require.Equal(t, 1, w.server.Counts()[gmailtest.MessagesSend])
}

// TestAnAttemptIsLookedForInItsMailbox, and waits while the account signs in to another.
func TestAnAttemptIsLookedForInItsMailbox(t *testing.T) {
	w := newWorld(t)
	bob := worldtest.OpenInbox(w.t, w.server, "bob@example.com")
	message, _ := w.letter(worldtest.Question)
	w.server.Fault(gmailtest.Fault{Method: gmailtest.MessagesSend, Cut: gmailtest.CutAfter})
	sent, looks := false, 0
	w.wire.Failed = func(*http.Request, error) { sent = true }
	w.wire.After = func(r *http.Request, answer *http.Response) {
		switch {
		case !sent || looks >= 2:
		case strings.HasSuffix(r.URL.Path, "/profile"):
			looks++
			worldtest.SetBody(answer, `{"emailAddress":"other@example.com","historyId":"1"}`)
		case strings.HasSuffix(r.URL.Path, "/sendAs"):
			worldtest.SetBody(answer, `{"sendAs":[{"sendAsEmail":"other@example.com","isPrimary":true}]}`)
		case strings.HasSuffix(r.URL.Path, "/messages"):
			worldtest.SetBody(answer, `{}`)
		}
	}
	a, _ := w.carryOut(worldtest.Forward(message, "bob@example.com"))
	require.Equal(t, postroom.ActionCompleted, a.State, a.Error)
	require.Equal(t, 2, looks)
	require.Equal(t, 1, w.server.Counts()[gmailtest.MessagesSend])
	bob.One()
}
