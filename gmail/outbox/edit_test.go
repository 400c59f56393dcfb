package outbox_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/internal/worldtest"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// edit edits what an action sends, as a ledger records it.
func (w *world) edit(id string, edit outbox.Edit) (outbox.Preview, error) {
	return w.cfg.Outbox.Edit(w.t.Context(), w.action(id), edit,
		func(ctx context.Context, tx queue.Tx, sha256 string) error {
			a, err := worldtest.ReadAction(ctx, tx, id)
			if err != nil {
				return err
			}
			a.ContentSHA256 = sha256
			return w.ledger.Put(ctx, tx, a)
		})
}

// send approves and carries out, and returns what was sent.
func (w *world) send(id string) []byte {
	w.t.Helper()
	w.put(id, func(a *postroom.Action) { a.State = postroom.ActionQueued })
	w.run(gmail.NewActionJob(w.account, id))
	done := w.action(id)
	require.Equal(w.t, postroom.ActionCompleted, done.State, done.Error)
	require.Equal(w.t, 1, w.server.Counts()[gmailtest.MessagesSend])
	return w.rawAt(done.UndoHint.SentMessageID)
}

const letterInHTML = "From: Zoë <ann@example.com>\r\nTo: You <you@example.com>\r\nSubject: Tea?\r\nMessage-ID: <h@example.com>\r\n" +
	"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/html\r\n\r\n<p>At <b>five</b>?</p>\r\n--b\r\n" +
	"Content-Disposition: attachment; filename=plan.txt\r\nContent-Type: text/plain\r\n\r\nbiscuits\r\n--b--\r\n"

// Of a forward the note is edited, in both of its texts; the original and its files stay.
func TestEditOfAForward(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		w := newWorldOn(t, db)
		colleague := worldtest.OpenInbox(w.t, w.server, "colleague@example.com")
		message, _ := w.letter(letterInHTML)
		forward := worldtest.Forward(message, "colleague@example.com")
		forward.Parameters["body"], forward.Parameters["body_html"] = "For you.", "<p>For <i>you</i>.</p>"
		id := w.waiting(forward).ID
		before, err := w.cfg.Outbox.Preview(t.Context(), w.action(id))
		require.NoError(t, err)
		require.Equal(t, "For you.", before.Note)
		require.Contains(t, before.Message.HTML, "<i>you</i>")

		next, err := w.edit(id, outbox.Edit{Subject: new("Fwd: <Tea> ☕"), Text: new("Please <answer>.\r\nThanks,\rme")})
		require.NoError(t, err)
		require.Equal(t, "Please <answer>.\nThanks,\nme", next.Note)
		require.Equal(t, "Fwd: <Tea> ☕", next.Message.Subject)
		require.Equal(t, hashOf("", next.Raw), next.SHA256)
		require.Equal(t, next.SHA256, w.action(id).ContentSHA256)
		require.Equal(t, before.Message.MessageID, next.Message.MessageID)
		again, err := w.cfg.Outbox.Preview(t.Context(), w.action(id))
		require.NoError(t, err)
		require.Equal(t, next, again)

		require.True(t, bytes.HasSuffix(w.send(id), next.Raw))
		got := colleague.One()
		require.Contains(t, got.Text, "Please <answer>.\nThanks,\nme\n\n---------- Forwarded message")
		require.Contains(t, got.Text, "At five?")
		require.Contains(t, got.HTML, "Please &lt;answer&gt;.")
		require.Contains(t, got.HTML, "<p>At <b>five</b>?</p>")
		require.NotContains(t, got.Text+got.HTML, "For ")
		require.Equal(t, "biscuits", strings.TrimSpace(string(got.Attachments[0].Content)))
	})
}

// A note may go, or be written where there was none.
func TestEditOfTheNoteOfAForward(t *testing.T) {
	w := newWorld(t)
	message, _ := w.letter(worldtest.Question)
	id := w.waiting(worldtest.Forward(message, "colleague@example.com")).ID
	bare, err := w.cfg.Outbox.Preview(t.Context(), w.action(id))
	require.NoError(t, err)
	require.Empty(t, bare.Note)
	noted, err := w.edit(id, outbox.Edit{Text: new("See below.")})
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(noted.Message.Text, "See below.\n\n-----"))
	gone, err := w.edit(id, outbox.Edit{Text: new("")})
	require.NoError(t, err)
	require.Equal(t, bare, gone)
}

// A reply stays in its thread, as long as it has its subject.
func TestEditOfAReply(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		w := newWorldOn(t, db)
		ann := worldtest.OpenInbox(w.t, w.server, "ann@example.com")
		message, m := w.letter(worldtest.Question)
		reply := worldtest.Reply(message, "")
		reply.Parameters["body_html"] = "<p>Yes, <b>gladly</b>.</p>"
		id := w.waiting(reply).ID
		before, err := w.cfg.Outbox.Preview(t.Context(), w.action(id))
		require.NoError(t, err)
		require.Equal(t, "Yes, gladly.", strings.TrimSpace(before.Note))

		same := strings.ReplaceAll(before.Note, "\n", "\r\n") // as a form sends it
		other, err := w.edit(id, outbox.Edit{Subject: new("Supper?"), Text: &same})
		require.NoError(t, err)
		require.Empty(t, other.ThreadID, "Gmail would put it into no thread of another subject")
		require.Contains(t, other.Message.HTML, "<b>gladly</b>", "the text is the same")
		require.Equal(t, hashOf("", other.Raw), other.SHA256)
		back, err := w.edit(id, outbox.Edit{Subject: new("RE: Tea?"), Text: new("At six.")})
		require.NoError(t, err)
		require.Equal(t, m.ThreadID, back.ThreadID)
		require.Equal(t, hashOf(m.ThreadID, back.Raw), back.SHA256)
		require.Empty(t, back.Message.HTML)

		require.True(t, bytes.HasSuffix(w.send(id), back.Raw))
		got := ann.One()
		require.Equal(t, "At six.", strings.TrimSpace(got.Text))
		require.Empty(t, got.HTML)
		require.Equal(t, "q@example.com", got.InReplyTo)
	})
}

// What cannot be edited says why, and everything stays as it was.
func TestEditsThatAreRefused(t *testing.T) {
	w := newWorld(t)
	message, _ := w.letter(worldtest.Question)
	id := w.waiting(worldtest.Reply(message, "Yes.")).ID
	before, err := w.cfg.Outbox.Preview(t.Context(), w.action(id))
	require.NoError(t, err)
	for says, edit := range map[string]outbox.Edit{
		"the text is empty":                           {Text: new(" \r\n\t")},
		"the text has a NUL character in it":          {Text: new("a\x00b")},
		"the text is not UTF-8":                       {Text: new("caf\xe9")},
		"the text has 32769 bytes; at most 32768 are": {Text: new(strings.Repeat("x", outbox.MaxEditedText+1))},
		"the subject has a line break in it":          {Subject: new("Tea?\r\nBcc: mallory@example.com")},
		"the subject has a NUL character in it":       {Subject: new("\x00")},
		"the subject has 999 bytes":                   {Subject: new(strings.Repeat("x", outbox.MaxEditedSubject+1))},
		"are the same as before":                      {Subject: new("Re: Tea?"), Text: new("Yes.")},
	} {
		_, err := w.edit(id, edit)
		require.ErrorContains(t, err, says)
		require.Equal(t, gmailapi.ClassInvalid, gmailapi.ClassOf(err), says)
	}
	_, err = w.edit(w.waiting(postroom.Action{MessageID: message, Type: postroom.Archive}).ID, outbox.Edit{Text: new("x")})
	require.ErrorContains(t, err, "archive sends no message")

	full := errors.New("full")
	_, err = w.cfg.Outbox.Edit(t.Context(), w.action(id), outbox.Edit{Text: new("No.")},
		func(context.Context, queue.Tx, string) error { return full })
	require.ErrorIs(t, err, full)
	now, err := w.cfg.Outbox.Preview(t.Context(), w.action(id))
	require.NoError(t, err)
	require.Equal(t, before, now)
	_, err = w.edit(id, outbox.Edit{Text: new(strings.Repeat("x", outbox.MaxEditedText))})
	require.NoError(t, err)
}

// What was sent, or may have been, is not edited; nor what another has edited since it was read.
func TestEditOfWhatHasChanged(t *testing.T) {
	for name, alter := range map[string]string{
		"it was sent":     `UPDATE outbound_messages SET sent_message_id = 'x'`,
		"it may be sent":  `UPDATE outbound_messages SET open_until = '2999-01-01T00:00:00.000000Z'`,
		"it is another's": `UPDATE outbound_messages SET sha256 = 'x'`,
	} {
		w := newWorld(t)
		message, _ := w.letter(worldtest.Question)
		id := w.waiting(worldtest.Reply(message, "Yes.")).ID
		before, err := w.cfg.Outbox.Preview(t.Context(), w.action(id))
		require.NoError(t, err)
		_, err = w.cfg.Outbox.Edit(t.Context(), w.action(id), outbox.Edit{Text: new("No.")},
			func(ctx context.Context, tx queue.Tx, _ string) error {
				_, err := tx.ExecContext(ctx, alter)
				return err
			})
		require.ErrorContains(t, err, "edited or sent meanwhile", name)
		require.Equal(t, before.SHA256, w.action(id).ContentSHA256, name)
	}
}

// Who previews an action as it was before an edit sees it as it is.
func TestPreviewOfWhatWasEditedMeanwhile(t *testing.T) {
	w := newWorld(t)
	message, _ := w.letter(worldtest.Question)
	id := w.waiting(worldtest.Reply(message, "Yes.")).ID
	_, err := w.cfg.Outbox.Preview(t.Context(), w.action(id))
	require.NoError(t, err)
	old := w.action(id)
	next, err := w.edit(id, outbox.Edit{Text: new("No.")})
	require.NoError(t, err)
	seen, err := w.cfg.Outbox.Preview(t.Context(), old)
	require.NoError(t, err)
	require.Equal(t, next, seen)
	w.exec(`UPDATE outbound_messages SET sha256 = 'x'`)
	_, err = w.cfg.Outbox.Preview(t.Context(), old)
	require.Equal(t, gmailapi.ClassRefused, gmailapi.ClassOf(err))
}
