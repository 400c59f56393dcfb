package outbox_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	api "google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/internal/worldtest"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/queue"
)

func TestReply(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		w := newWorldOn(t, db)
		ann := worldtest.OpenInbox(w.t, w.server, "ann@example.com")
		message, arrived := w.letter(worldtest.Question)
		a, job := w.carryOut(worldtest.Reply(message, "Yes, with pleasure.\n"))
		require.Equal(t, postroom.ActionCompleted, a.State, a.Error)
		require.Equal(t, queue.StateCompleted, job.State, job.LastError)

		got := ann.One()
		require.Equal(t, "Re: Tea?", got.Subject)
		require.Equal(t, "q@example.com", got.InReplyTo)
		require.Equal(t, []string{"first@example.com", "q@example.com"}, got.References)
		require.Equal(t, []mime.Address{{Email: "you@example.com"}}, got.From)
		require.Equal(t, []mime.Address{{Name: "Zoë", Email: "ann@example.com"}}, got.To)
		require.Equal(t, "Yes, with pleasure.\n", got.Text)
		require.Equal(t, "auto-replied", got.Header.Get("Auto-Submitted"))
		require.NotEmpty(t, got.Header.Automatic(), "nobody answers it automatically")
		require.True(t, strings.HasSuffix(got.MessageID, "@example.com"))
		require.False(t, got.Date.IsZero(), "Gmail adds the date")

		hint := a.UndoHint
		require.Equal(t, &postroom.UndoHint{InverseAction: postroom.None, Irreversible: true,
			SentMessageID: hint.SentMessageID}, hint)
		sent, err := w.server.Message(t.Context(), hint.SentMessageID)
		require.NoError(t, err)
		require.Equal(t, arrived.ThreadID, sent.ThreadID, "Gmail has it in the thread")
		require.Equal(t, []string{"SENT"}, sent.Labels)
		require.JSONEq(t, `{"sent_message_id":"`+sent.ID+`","thread_id":"`+sent.ThreadID+`"}`, string(job.Result))
		raw := w.rawAt(sent.ID)
		_, composed, _ := bytes.Cut(raw, []byte("\r\n")) // without the date
		require.Equal(t, a.ContentSHA256, hashOf(arrived.ThreadID, composed), "these bytes in this thread, and no others")
	})
}

func TestForwardInline(t *testing.T) {
	w := newWorld(t)
	colleague, boss := worldtest.OpenInbox(w.t, w.server, "colleague@example.com"),
		worldtest.OpenInbox(w.t, w.server, "boss@example.com")
	mail := mime.Outgoing{
		From: []mime.Address{{Name: "Größe & Söhne", Email: "shop@example.org"}},
		To:   []mime.Address{{Email: "you@example.com"}},
		Cc:   []mime.Address{{Name: "Ann", Email: "ann@example.com"}}, Subject: "Rechnung №7", MessageID: "bill@example.org",
		Text: "Anbei.\n", HTML: `<p>Anbei. <img src="cid:logo"></p>`,
		Header: []mime.Field{{Name: "Auto-Submitted", Value: "auto-generated"}},
		Attachments: []mime.Attachment{
			{Filename: "Rechnung №7.pdf", ContentType: "application/pdf", Content: []byte("%PDF")},
			{Filename: "logo.png", ContentType: "image/png", Content: []byte("png"), Inline: true, ContentID: "logo"},
			{Filename: "terms.txt", ContentType: "text/plain; charset=iso-8859-1", Content: []byte("F\xfcr alle")},
		},
	}
	raw, err := mail.Build()
	require.NoError(t, err)
	message, _ := w.letter(string(raw))
	action := worldtest.Forward(message, "Bücher <colleague@example.com>", "boss@example.com")
	action.Parameters["body"] = "Please pay.\n"
	a, job := w.carryOut(action)
	require.Equal(t, postroom.ActionCompleted, a.State, a.Error)

	got := colleague.One()
	require.Equal(t, "Fwd: Rechnung №7", got.Subject)
	require.Empty(t, got.InReplyTo)
	require.Empty(t, got.References)
	require.Equal(t, []mime.Address{{Name: "Bücher", Email: "colleague@example.com"}, {Email: "boss@example.com"}}, got.To)
	require.Equal(t,
		"Please pay.\n\n---------- Forwarded message ---------\nFrom: Größe & Söhne <shop@example.org>\nSubject: Rechnung №7\n"+
			"To: you@example.com\nCc: Ann <ann@example.com>\n\nAnbei.\n", got.Text)
	require.Contains(t, got.HTML, `<div><div style="white-space: pre-wrap">Please pay.`)
	require.Contains(t, got.HTML, `From: Größe &amp; Söhne &lt;shop@example.org&gt;<br>`)
	require.Contains(t, got.HTML, mail.HTML)
	require.Len(t, got.Attachments, 3)
	for _, want := range mail.Attachments {
		found := false
		for _, part := range got.Attachments {
			if part.Filename == want.Filename {
				found = true
				require.Equal(t, string(want.Content), string(part.Content))
				require.Equal(t, want.ContentID, part.ContentID)
				require.Equal(t, strings.Split(want.ContentType, ";")[0], part.ContentType)
			}
		}
		require.True(t, found, want.Filename)
	}
	require.Equal(t, "auto-generated", got.Header.Get("Auto-Submitted"))
	require.Equal(t, "you@example.com", got.Header.Get("X-Loop"))
	boss.One()
	sent, err := w.server.Message(t.Context(), a.UndoHint.SentMessageID)
	require.NoError(t, err)
	require.Equal(t, sent.ID, sent.ThreadID, "a thread of its own")
	require.NotContains(t, string(job.Payload), "%PDF")
	require.NotContains(t, string(job.Payload), `"data"`, "the files stay where they are")
}

// A message of the mailbox's own says to whom it went in secret; its forward does not.
func TestForwardAsAttachment(t *testing.T) {
	w := newWorld(t)
	colleague := worldtest.OpenInbox(w.t, w.server, "colleague@example.com")
	own := "From: you@example.com\r\nTo: ann@example.com\r\nBcc: secret@example.com,\r\n another@example.com\r\nSubject: Plan\r\n" +
		"Resent-Bcc: third@example.com\r\nMessage-ID: <plan@example.com>\r\n\r\nBcc: stays in the text\r\n"
	id := w.arrive(own, "INBOX")
	w.run(gmail.NewIngestJob(w.account, id))
	action := worldtest.Forward(w.ours(id), "colleague@example.com")
	action.Parameters["include_original"] = "attachment"
	a, _ := w.carryOut(action)
	require.Equal(t, postroom.ActionCompleted, a.State, a.Error)
	got := colleague.One()
	require.Len(t, got.Attachments, 1)
	attached := got.Attachments[0]
	require.Equal(t, "forwarded.eml", attached.Filename)
	require.Equal(t, "message/rfc822", attached.ContentType)
	require.Equal(t,
		"From: you@example.com\r\nTo: ann@example.com\r\nSubject: Plan\r\nMessage-ID: <plan@example.com>\r\n\r\nBcc: stays in the text\r\n", string(attached.Content))
}

func TestForwardInlineTellsNoBcc(t *testing.T) {
	w := newWorld(t)
	colleague := worldtest.OpenInbox(w.t, w.server, "colleague@example.com")
	id := w.arrive(
		"From: you@example.com\r\nTo: ann@example.com\r\nBcc: secret@example.com\r\nSubject: Plan\r\n\r\n<b>\r\n", "INBOX")
	w.run(gmail.NewIngestJob(w.account, id))
	a, _ := w.carryOut(worldtest.Forward(w.ours(id), "colleague@example.com"))
	require.Equal(t, postroom.ActionCompleted, a.State, a.Error)
	_, ids := colleague.Got()
	full, err := colleague.Service.Users.Messages.Get("me", ids[0]).Format("raw").Do()
	require.NoError(t, err)
	raw, err := (&gmailapi.RawMessage{Encoded: full.Raw}).Bytes()
	require.NoError(t, err)
	require.NotContains(t, string(raw), "secret")
}

func TestReplyComesFromTheAddressThatWasWrittenTo(t *testing.T) {
	w := newWorld(t)
	ann := worldtest.OpenInbox(w.t, w.server, "ann@example.com")
	_, err := w.google.Users.Settings.SendAs.Create("me",
		&api.SendAs{SendAsEmail: "shop@example.com", DisplayName: "Der Läden", ReplyToAddress: "desk@example.com"}).Do()
	require.NoError(t, err)
	id := w.arrive(strings.Replace(worldtest.Question, "To: You <you@example.com>", "To: SHOP@example.com", 1), "INBOX")
	w.run(gmail.NewIngestJob(w.account, id))
	a, _ := w.carryOut(worldtest.Reply(w.ours(id), "Yes."))
	require.Equal(t, postroom.ActionCompleted, a.State, a.Error)
	got := ann.One()
	require.Equal(t, []mime.Address{{Name: "Der Läden", Email: "shop@example.com"}}, got.From)
	require.Equal(t, []mime.Address{{Email: "desk@example.com"}}, got.ReplyTo)
}

func TestReplyHonoursReplyTo(t *testing.T) {
	w := newWorld(t)
	desk := worldtest.OpenInbox(w.t, w.server, "desk@example.com")
	message, _ := w.letter("Reply-To: The Desk <desk@example.com>\r\n" + worldtest.Question)
	a, _ := w.carryOut(worldtest.Reply(message, "Yes."))
	require.Equal(t, postroom.ActionCompleted, a.State, a.Error)
	desk.One()
}

// Whatever happens to the call that sends, the message is delivered once.
func TestEachMessageIsSentOnce(t *testing.T) {
	send := gmailtest.MessagesSend
	tests := []struct {
		name   string
		faults []gmailtest.Fault
		calls  int
	}{
		{"all is well", nil, 1},
		{"cut before", []gmailtest.Fault{{Method: send, Cut: gmailtest.CutBefore}}, 2},
		{"cut after", []gmailtest.Fault{{Method: send, Cut: gmailtest.CutAfter}}, 1},
		{"half an answer", []gmailtest.Fault{{Method: send, Truncate: true}}, 1},
		{"server error", []gmailtest.Fault{{Method: send, Status: 503}}, 2},
		{"a page of a proxy", []gmailtest.Fault{{Method: send, Status: 502, Body: "<html>Bad Gateway"}}, 2},
		{"rate limit", []gmailtest.Fault{{Method: send, Status: 429, RetryAfter: time.Second}}, 2},
		{"token refused", []gmailtest.Fault{{Method: send, Status: 401}}, 2},
		{"cut before, again and again", []gmailtest.Fault{{Method: send, Cut: gmailtest.CutBefore, Times: 4}}, 5},
		{"cut before, then after", []gmailtest.Fault{{Method: send, Cut: gmailtest.CutBefore}, {Method: send, Cut: gmailtest.CutAfter, Nth: 2}}, 2},
		{"cut after, and the search fails", []gmailtest.Fault{
			{Method: send, Cut: gmailtest.CutAfter}, {Method: gmailtest.MessagesList, Status: 503, Times: 2}, {Method: gmailtest.HistoryList, Cut: gmailtest.CutBefore},
		}, 1},
		{"cut after, and no search works for a while", []gmailtest.Fault{
			{Method: send, Cut: gmailtest.CutAfter}, {Method: gmailtest.MessagesList, Status: 429, RetryAfter: time.Second},
		}, 1},
		{"the profile fails", []gmailtest.Fault{{Method: gmailtest.GetProfile, Status: 500, Times: 2}}, 1},
		{"the addresses fail", []gmailtest.Fault{{Method: gmailtest.SettingsSendAsList, Cut: gmailtest.CutBefore}}, 1},
		{"the addresses may not be seen", []gmailtest.Fault{{Method: gmailtest.SettingsSendAsList, Status: 403, Reason: "insufficientPermissions"}}, 1},
	}
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		w := newWorldOn(t, db)
		for i, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				person := string(rune('a'+i)) + "@example.com"
				recipient := worldtest.OpenInbox(w.t, w.server, person)
				message, _ := w.letter(strings.NewReplacer("ann@", string(rune('a'+i))+"@", "<q@", "<"+string(rune('a'+i))+
					"@").Replace(worldtest.Question))
				w.server.ClearFaults()
				w.server.Fault(tt.faults...)
				before := w.server.Counts()[send]
				a, job := w.carryOut(worldtest.Reply(message, "Yes."))
				w.server.ClearFaults()
				require.Equal(t, postroom.ActionCompleted, a.State, a.Error)
				require.Equal(t, queue.StateCompleted, job.State, job.LastError)
				require.Equal(t, tt.calls, w.server.Counts()[send]-before)
				recipient.One()
			})
		}
	})
}

// A call that takes too long is given up, and may take effect later.
func TestSendThatHangs(t *testing.T) {
	w := newWorld(t)
	impatient, err := gmailapi.NewClient(gmailapi.ClientConfig{
		HTTPClient: authorized(w), Endpoint: w.server.URL(), Timeout: 300 * time.Millisecond,
		Limits: gmailapi.Limits{Unlimited: true},
	})
	require.NoError(t, err)
	w.client = impatient
	ann := worldtest.OpenInbox(w.t, w.server, "ann@example.com")
	message, _ := w.letter(worldtest.Question)
	w.cfg.Outbox.Settle = 2 * time.Second
	gate := gmailtest.NewGate()
	w.wire.Failed = func(*http.Request, error) { gate.Open() } // it may go on now, or the server may have noticed
	w.server.Fault(gmailtest.Fault{Method: gmailtest.MessagesSend, Gate: gate})
	a, job := w.carryOut(worldtest.Reply(message, "Yes."))
	require.Equal(t, postroom.ActionCompleted, a.State, a.Error)
	require.Equal(t, 1, job.Failures)
	ann.One()
}

// Gmail's search learns of what was sent only later.
func TestSentMessageThatTheSearchDoesNotKnowYet(t *testing.T) {
	w := newWorld(t)
	ann := worldtest.OpenInbox(w.t, w.server, "ann@example.com")
	message, _ := w.letter(worldtest.Question)
	w.wire.After = worldtest.HideFromSearch
	w.server.Fault(gmailtest.Fault{Method: gmailtest.MessagesSend, Cut: gmailtest.CutAfter})
	a, _ := w.carryOut(worldtest.Reply(message, "Yes."))
	require.Equal(t, postroom.ActionCompleted, a.State, a.Error)
	require.Equal(t, 1, w.server.Counts()[gmailtest.MessagesSend])
	ann.One()
}

// While the message may still come, it is not sent again: neither by the search alone nor when the history is
// forgotten.
func TestNotFoundIsNotNotSent(t *testing.T) {
	w := newWorld(t)
	w.cfg.Outbox.Settle = time.Second
	ann := worldtest.OpenInbox(w.t, w.server, "ann@example.com")
	message, _ := w.letter(worldtest.Question)
	w.server.Fault(gmailtest.Fault{Method: gmailtest.MessagesSend, Cut: gmailtest.CutAfter})
	looks := 0
	w.wire.After = func(r *http.Request, answer *http.Response) {
		if !strings.Contains(r.URL.Query().Get("q"), "rfc822msgid:") {
			return
		}
		if looks++; looks == 1 {
			worldtest.SetBody(answer, `{"resultSizeEstimate":0}`)
			require.NoError(t, w.server.ForgetHistory(t.Context()))
		}
	}
	a, job := w.carryOut(worldtest.Reply(message, "Yes."))
	require.Equal(t, postroom.ActionCompleted, a.State, a.Error)
	require.Equal(t, 2, looks)
	require.Equal(t, 1, w.server.Counts()[gmailtest.MessagesSend])
	require.Equal(t, 1, job.Failures, "looking is no failure")
	ann.One()
}

// A header may hold line breaks once it is decoded. They do not come into the header of what is sent.
func TestLineBreaksInTheOriginal(t *testing.T) {
	w := newWorld(t)
	ann := worldtest.OpenInbox(w.t, w.server, "ann@example.com")
	mallory := worldtest.OpenInbox(w.t, w.server, "mallory@example.com")
	evil := strings.Replace(worldtest.Question, "Tea?", "=?utf-8?q?Tea=0D=0ABcc:_mallory@example.com=0D=0A?=", 1)
	message, _ := w.letter(evil)
	a, _ := w.carryOut(worldtest.Reply(message, "Yes."))
	require.Equal(t, postroom.ActionCompleted, a.State, a.Error)
	got := ann.One()
	require.Equal(t, "Re: Tea Bcc: mallory@example.com", strings.Join(strings.Fields(got.Subject), " "))
	require.Empty(t, got.Bcc)
	messages, _ := mallory.Got()
	require.Empty(t, messages)
}

// TestOnlyTheMessageThatWasDecidedAboutIsSentOn, though the database says that it is another one at Gmail.
func TestOnlyTheMessageThatWasDecidedAboutIsSentOn(t *testing.T) {
	w := newWorld(t)
	bob := worldtest.OpenInbox(w.t, w.server, "bob@example.com")
	message, arrived := w.letter(worldtest.Question)
	a := worldtest.Forward(message, "bob@example.com")
	a.ProviderMessageID = "of another message"
	done, job := w.carryOut(a)
	require.Equal(t, postroom.ActionFailed, done.State)
	require.Contains(t, done.Error, "it was altered there")
	require.Nil(t, job)
	a.ProviderMessageID = arrived.ID
	done, _ = w.carryOut(a)
	require.Equal(t, postroom.ActionCompleted, done.State, done.Error)
	require.Contains(t, bob.One().Text, "At five?")
}
