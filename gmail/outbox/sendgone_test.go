package outbox_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/internal/worldtest"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/queue"
)

// sentCutOff cuts off the answers to messages that are sent, and then calls fn before anybody looks for them.
func (w *world) sentCutOff(fn func()) {
	w.server.Fault(gmailtest.Fault{Method: gmailtest.MessagesSend, Cut: gmailtest.CutAfter})
	w.wire.Failed = func(r *http.Request, _ error) {
		if strings.Contains(r.URL.Path, "/messages/send") {
			fn()
		}
	}
}

// purgeSent is a person who deletes all that the mailbox has sent, for ever.
func (w *world) purgeSent() {
	list, err := w.google.Users.Messages.List("me").Q("in:sent").Do()
	require.NoError(w.t, err)
	require.NotEmpty(w.t, list.Messages)
	for _, m := range list.Messages {
		require.NoError(w.t, w.google.Users.Messages.Delete("me", m.Id).Do())
	}
}

// TestASentMessageThatAPersonDeletesIsNotSentAgain: nobody can find out any more that it was sent, and a person reads
// why.
func TestASentMessageThatAPersonDeletesIsNotSentAgain(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ann := worldtest.OpenInbox(w.t, w.server, "ann@example.com")
		message, _ := w.letter(worldtest.Question)
		w.sentCutOff(w.purgeSent)
		a, job := w.carryOut(worldtest.Reply(message, "Yes."))
		ann.One()
		require.Equal(t, 1, w.server.Counts()[gmailtest.MessagesSend])
		require.Equal(t, postroom.ActionFailed, a.State)
		require.Contains(t, a.Error, "it cannot be told whether the message was sent")
		require.Contains(t, a.Error, "ask the recipients before you send it again")
		require.Equal(t, queue.StateFailed, job.State)
		require.Equal(t, 2, job.Failures, "the send and the end: looking is no failure")
		said, all := w.sentBefore(worldtest.Reply(message, "Yes."))
		require.Contains(t, said, "a reply to this message may have been sent to ann@example.com on ")
		require.False(t, all)
	})
}

// TestADeletedMessageHidesNoOther: what was sent is found, whatever else a person has sent and deleted since.
func TestADeletedMessageHidesNoOther(t *testing.T) {
	w := newWorld(t)
	ann := worldtest.OpenInbox(w.t, w.server, "ann@example.com")
	message, _ := w.letter(worldtest.Question)
	w.sentCutOff(func() {
		other, err := w.client.Send(t.Context(), []byte(strings.Replace(outgoing, "ann@", "zoe@", 1)), "")
		require.NoError(t, err)
		require.NoError(t, w.google.Users.Messages.Delete("me", other.ID).Do())
	})
	a, _ := w.carryOut(worldtest.Reply(message, "Yes."))
	require.Equal(t, postroom.ActionCompleted, a.State, a.Error)
	ann.One()
}

// TestADraftThatWasSentAndDeletedIsAsked about: it may be the message that a person has sent and deleted for ever.
func TestADraftThatWasSentAndDeletedIsAsked(t *testing.T) {
	w := newWorld(t)
	message, _ := w.letter(worldtest.Question)
	d := w.drafts(time.Millisecond)
	made, err := d.Create(t.Context(), w.account, "k", outbox.DraftContent{Answers: message, Text: "Perhaps."})
	require.NoError(t, err)
	w.sendDraft(made.ID)
	w.purgeSent()
	draft, err := until(t, func() (outbox.Draft, error) { return d.Check(t.Context(), w.account, "k") })
	require.NoError(t, err)
	require.Equal(t, outbox.DraftDeleted, draft.State)
	said, _ := w.sentBefore(worldtest.Reply(message, "Yes."))
	require.Contains(t, said, "a reply to this message may have been sent to ann@example.com on ")
}

const outgoing = "From: you@example.com\r\nTo: ann@example.com\r\nSubject: Tea\r\nMessage-ID: <tea@example.com>\r\n\r\nAt five?\r\n"
