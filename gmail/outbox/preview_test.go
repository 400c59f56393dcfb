package outbox_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/internal/worldtest"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// waiting adds an action that waits for approval.
func (w *world) waiting(a postroom.Action) postroom.Action {
	w.t.Helper()
	return w.put(w.queued(a), func(a *postroom.Action) { a.State = postroom.ActionPendingApproval })
}

// What a person sees before the approval is what is sent, byte for byte.
func TestPreviewIsWhatIsSent(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		w := newWorldOn(t, db)
		worldtest.OpenInbox(w.t, w.server, "colleague@example.com")
		message, _ := w.letter(worldtest.Question)
		a := w.waiting(worldtest.Forward(message, "colleague@example.com"))
		preview, err := w.cfg.Outbox.Preview(t.Context(), a)
		require.NoError(t, err)
		sum := sha256.Sum256(preview.Raw)
		require.Equal(t, hex.EncodeToString(sum[:]), preview.SHA256)
		require.Equal(t, "Fwd: Tea?", preview.Message.Subject)
		require.Contains(t, preview.Message.Text, "At five?")
		require.Empty(t, preview.ThreadID)
		require.Equal(t, preview.SHA256, w.action(a.ID).ContentSHA256, "the action names it")
		require.Zero(t, w.server.Counts()[gmailtest.MessagesSend])

		var wg sync.WaitGroup
		for range 4 { // whoever asks, and however often
			wg.Go(func() {
				again, err := w.cfg.Outbox.Preview(t.Context(), a)
				if err != nil || string(again.Raw) != string(preview.Raw) {
					t.Errorf("another preview: %v", err)
				}
			})
		}
		wg.Wait()

		w.put(a.ID, func(a *postroom.Action) { a.State = postroom.ActionQueued })
		w.run(gmail.NewActionJob(w.account, a.ID))
		done := w.action(a.ID)
		require.Equal(t, postroom.ActionCompleted, done.State, done.Error)
		require.True(t, bytes.HasSuffix(w.rawAt(done.UndoHint.SentMessageID), preview.Raw))
	})
}

// Several previews at once compose one message.
func TestPreviewsAtOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		w := newWorldOn(t, db)
		message, _ := w.letter(worldtest.Question)
		a := w.waiting(worldtest.Reply(message, "Yes."))
		sums := make([]string, 6)
		var wg sync.WaitGroup
		for i := range sums {
			wg.Go(func() {
				p, err := w.cfg.Outbox.Preview(t.Context(), a)
				if err != nil {
					t.Error(err)
				}
				sums[i] = p.SHA256
			})
		}
		wg.Wait()
		for _, sum := range sums {
			require.Equal(t, w.action(a.ID).ContentSHA256, sum)
		}
	})
}

// The job sends what was composed, or nothing.
func TestOtherBytesAreNotSent(t *testing.T) {
	tests := map[string]func(w *world, a postroom.Action){
		"the stored message has another text": func(w *world, _ postroom.Action) {
			w.exec(`UPDATE outbound_messages SET payload_json = REPLACE(payload_json, 'Yes.', 'No!!')`)
		},
		"the stored message and its hash are others": func(w *world, _ postroom.Action) {
			w.exec(`UPDATE outbound_messages SET payload_json = REPLACE(payload_json, 'Yes.', 'No!!'), sha256 = 'a'`)
		},
		"the action names another": func(w *world, a postroom.Action) {
			w.put(a.ID, func(a *postroom.Action) { a.ContentSHA256 = strings.Repeat("1a", 32) })
		},
		"the stored message is gone": func(w *world, _ postroom.Action) { w.exec(`DELETE FROM outbound_messages`) },
		"the stored message is another action's": func(w *world, a postroom.Action) {
			w.exec(`UPDATE outbound_messages SET payload_json = REPLACE(payload_json, $1, 'another')`, a.ID)
		},
		"the stored message goes into another thread": func(w *world, _ postroom.Action) {
			_, other := w.letter(strings.Replace(worldtest.Question, "q@example.com", "other@example.com", 1))
			w.exec(`UPDATE outbound_messages SET payload_json = REPLACE(payload_json, '"thread_id":"', '"thread_id":"' || $1)`,
				other.ThreadID)
		},
		"the stored message goes into no thread": func(w *world, _ postroom.Action) {
			w.exec(`UPDATE outbound_messages SET payload_json = REPLACE(payload_json, '"thread_id"', '"no_thread_id"')`)
		},
		"the stored message is no JSON": func(w *world, _ postroom.Action) { w.exec(`UPDATE outbound_messages SET payload_json = '?'`) },
	}
	for name, alter := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			message, _ := w.letter(worldtest.Question)
			a := w.waiting(worldtest.Reply(message, "Yes."))
			_, err := w.cfg.Outbox.Preview(t.Context(), a)
			require.NoError(t, err)
			alter(w, a)
			w.put(a.ID, func(a *postroom.Action) { a.State = postroom.ActionQueued })
			w.run(gmail.NewActionJob(w.account, a.ID))
			done := w.action(a.ID)
			require.Equal(t, postroom.ActionFailed, done.State)
			require.Contains(t, done.Error, "refused")
			require.Zero(t, w.server.Counts()[gmailtest.MessagesSend])
		})
	}
}

func TestForwardOfAMessageThatHasGone(t *testing.T) {
	w := newWorld(t)
	message, m := w.letter(worldtest.Question)
	require.NoError(t, w.google.Users.Messages.Delete("me", m.ID).Do())
	a, job := w.carryOut(worldtest.Forward(message, "colleague@example.com"))
	require.Equal(t, postroom.ActionFailed, a.State)
	require.Contains(t, a.Error, "message gone")
	require.Nil(t, job)
}

// A host may make the message itself.
func TestMessageOfTheHost(t *testing.T) {
	w := newWorld(t)
	ann := worldtest.OpenInbox(w.t, w.server, "ann@example.com")
	message, m := w.letter(worldtest.Question)
	payload := outbox.Payload{
		AccountID: w.account, ActionID: w.queued(worldtest.Reply(message, "")), MessageType: outbox.Reply,
		From: "you@example.com",
		To:   []string{"ann@example.com"}, Cc: []string{"Bob <bob@example.com>"}, Subject: "Re: Tea?", BodyPlain: "Here.",
		BodyHTML:          "<p>Here.</p>",
		OriginalMessageID: message, ThreadID: m.ThreadID, InReplyTo: "q@example.com", References: []string{"q@example.com"},
		Attachments: []outbox.Attachment{{Filename: "a.txt", MimeType: "text/plain", Data: []byte("hello")}},
	}
	preview, err := w.cfg.Outbox.Fix(t.Context(), payload)
	require.NoError(t, err)
	require.Equal(t, preview.SHA256, w.action(payload.ActionID).ContentSHA256)
	w.run(gmail.NewActionJob(w.account, payload.ActionID))
	a := w.action(payload.ActionID)
	require.Equal(t, postroom.ActionCompleted, a.State, a.Error)
	got := ann.One()
	require.Equal(t, "<p>Here.</p>", strings.TrimSpace(got.HTML))
	require.Equal(t, "hello", string(got.Attachments[0].Content))
	require.Equal(t, "Bob", got.Cc[0].Name)

	for name, change := range map[string]func(*outbox.Payload){
		"another message's":           func(p *outbox.Payload) { p.OriginalMessageID = "another" },
		"another type":                func(p *outbox.Payload) { p.MessageType = outbox.Forward },
		"from somebody else":          func(p *outbox.Payload) { p.From = "mallory@example.com" },
		"to nobody":                   func(p *outbox.Payload) { p.To, p.Cc = nil, nil },
		"a part that is not there":    func(p *outbox.Payload) { p.Attachments[0] = outbox.Attachment{MessageID: message, Part: 1} },
		"a part of another message":   func(p *outbox.Payload) { p.Attachments[0] = outbox.Attachment{MessageID: "another", Part: 1} },
		"a subject with a line break": func(p *outbox.Payload) { p.Subject = "Re: Tea?\r\nBcc: b@example.com" },
	} {
		t.Run(name, func(t *testing.T) {
			p := payload
			p.Attachments = append([]outbox.Attachment(nil), payload.Attachments...)
			p.ActionID = w.queued(worldtest.Reply(message, ""))
			change(&p)
			_, err := w.cfg.Outbox.Fix(t.Context(), p)
			require.Equal(t, gmailapi.ClassRefused, gmailapi.ClassOf(err), "%v", err)
			require.Empty(t, w.action(p.ActionID).ContentSHA256)
		})
	}
	require.Equal(t, 1, w.server.Counts()[gmailtest.MessagesSend])
}

// A message that is not the one that was composed is refused: the action is sent as it was shown.
func TestMessageOfTheHostBesideThePreview(t *testing.T) {
	w := newWorld(t)
	message, _ := w.letter(worldtest.Question)
	id := w.queued(worldtest.Reply(message, "Yes."))
	_, err := w.cfg.Outbox.Preview(t.Context(), w.action(id))
	require.NoError(t, err)
	var text string
	require.NoError(t, dbquery.Get(t.Context(), w.db.Reader(), &text,
		"SELECT payload_json FROM outbound_messages WHERE action_id = $1", id))
	var p outbox.Payload
	require.NoError(t, json.Unmarshal([]byte(text), &p))
	p.BodyPlain = "No."
	_, err = w.cfg.Outbox.Fix(t.Context(), p)
	require.ErrorContains(t, err, "is not the message that was composed")
	require.Equal(t, gmailapi.ClassRefused, gmailapi.ClassOf(err))
	p.BodyPlain, p.MessageID = "Yes.", ""
	_, err = w.cfg.Outbox.Fix(t.Context(), p)
	require.NoError(t, err, "it is the same")
}

func TestOutboxConfigIsChecked(t *testing.T) {
	w := newWorld(t)
	good := w.cfg.Outbox.Config
	for want, change := range map[string]func(*outbox.Config){
		"outbox: Config.Store":      func(c *outbox.Config) { c.Store = nil },
		"outbox: Config.Clients":    func(c *outbox.Config) { c.Clients = nil },
		"outbox: Config.Ledger":     func(c *outbox.Config) { c.Ledger = nil },
		"MaxRecipients is 101":      func(c *outbox.Config) { c.MaxRecipients = 101 },
		"MaxRecipients is -1":       func(c *outbox.Config) { c.MaxRecipients = -1 },
		"Config.MaxSize is neg":     func(c *outbox.Config) { c.MaxSize = -1 },
		"Config.Settle is neg":      func(c *outbox.Config) { c.Settle = -1 },
		"ReplyInterval is -1ns":     func(c *outbox.Config) { c.ReplyInterval = -1 },
		"it must be at least 1s":    func(c *outbox.Config) { c.ReplyInterval = time.Second - 1 },
		"RecipientsDay is negative": func(c *outbox.Config) { c.RecipientsDay = -1 },
	} {
		cfg := good
		change(&cfg)
		_, err := outbox.New(cfg)
		require.ErrorContains(t, err, want)
	}
	w.cfg.Ledger = nil
	d, err := queue.NewDispatcher(w.queue, nil)
	require.NoError(t, err)
	require.ErrorContains(t, gmail.Register(d, w.cfg), "Config.Outbox is set and Config.Ledger is not")
}

func TestMessageThatIsTooLarge(t *testing.T) {
	w := newWorld(t)
	w.cfg.Outbox.MaxSize = 1000
	message, _ := w.letter(worldtest.Question)
	a, _ := w.carryOut(worldtest.Reply(message, strings.Repeat("x", 1000)))
	require.Contains(t, a.Error, "at most 1000 are allowed (outbox.Config.MaxSize)")

	w.cfg.Outbox.Names = map[string]string{"MaxSize": "mail.largest"}
	a, _ = w.carryOut(worldtest.Reply(message, strings.Repeat("x", 2000)))
	require.Contains(t, a.Error, "at most 1000 are allowed (mail.largest)")
}

// Who may see jobs need not see mail: what they carry are ids.
func TestJobsHoldNoTextOfMail(t *testing.T) {
	w := newWorld(t)
	ann := worldtest.OpenInbox(w.t, w.server, "ann@example.com")
	message, _ := w.letter(worldtest.Question)
	a, _ := w.carryOut(worldtest.Reply(message, "An answer."))
	require.Equal(t, postroom.ActionCompleted, a.State, a.Error)
	require.Equal(t, "Re: Tea?", ann.One().Subject)
	jobs, err := w.queue.Jobs(t.Context(), queue.Filter{})
	require.NoError(t, err)
	require.Len(t, jobs, 3, "the letter is taken in, and the reply composed and sent")
	for _, job := range jobs {
		for _, text := range []string{"Tea", "answer", "ann@", "At five"} {
			require.NotContains(t, string(job.Payload)+string(job.Result)+job.LastError, text, job.Type)
		}
	}
}

// A long text is in no job: a payload has a bound.
func TestLongReply(t *testing.T) {
	w := newWorld(t)
	ann := worldtest.OpenInbox(w.t, w.server, "ann@example.com")
	message, _ := w.letter(worldtest.Question)
	a, job := w.carryOut(worldtest.Reply(message, strings.Repeat("A long answer. ", 100_000)))
	require.Equal(t, postroom.ActionCompleted, a.State, a.Error)
	require.Less(t, len(job.Payload), 1000)
	require.Len(t, ann.One().Text, 15*100_000)
}

// Without a Message-ID that can be looked for, a message whose sending is unclear could neither be sent again nor
// given up.
func TestMessageIDThatCannotBeLookedFor(t *testing.T) {
	w := newWorld(t)
	message, m := w.letter(worldtest.Question)
	payload := outbox.Payload{
		AccountID: w.account, ActionID: w.queued(worldtest.Reply(message, "")), MessageType: outbox.Reply,
		From: "you@example.com",
		To:   []string{"ann@example.com"}, Subject: "Re: Tea?", BodyPlain: "Here.", OriginalMessageID: message,
		ThreadID:  m.ThreadID,
		MessageID: "a(b)@example.com",
	}
	_, err := w.cfg.Outbox.Fix(t.Context(), payload)
	require.ErrorContains(t, err, "cannot be looked for at Gmail")
}
