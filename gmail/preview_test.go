package gmail

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/gmailtest"
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
		w.inbox("colleague@example.com")
		message, _ := w.letter(question)
		a := w.waiting(forward(message, "colleague@example.com"))
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
		w.run(NewActionJob(w.account, a.ID))
		done := w.action(a.ID)
		require.Equal(t, postroom.ActionCompleted, done.State, done.Error)
		require.True(t, bytes.HasSuffix(w.rawAt(done.UndoHint.SentMessageID), preview.Raw))
	})
}

// Several previews at once compose one message.
func TestPreviewsAtOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		w := newWorldOn(t, db)
		message, _ := w.letter(question)
		a := w.waiting(reply(message, "Yes."))
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
			_, other := w.letter(strings.Replace(question, "q@example.com", "other@example.com", 1))
			w.exec(`UPDATE outbound_messages SET payload_json = REPLACE(payload_json, '"thread_id":"', '"thread_id":"' || $1)`, other.ThreadID)
		},
		"the stored message goes into no thread": func(w *world, _ postroom.Action) {
			w.exec(`UPDATE outbound_messages SET payload_json = REPLACE(payload_json, '"thread_id"', '"no_thread_id"')`)
		},
		"the stored message is no JSON": func(w *world, _ postroom.Action) { w.exec(`UPDATE outbound_messages SET payload_json = '?'`) },
	}
	for name, alter := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			message, _ := w.letter(question)
			a := w.waiting(reply(message, "Yes."))
			_, err := w.cfg.Outbox.Preview(t.Context(), a)
			require.NoError(t, err)
			alter(w, a)
			w.put(a.ID, func(a *postroom.Action) { a.State = postroom.ActionQueued })
			w.run(NewActionJob(w.account, a.ID))
			done := w.action(a.ID)
			require.Equal(t, postroom.ActionFailed, done.State)
			require.Contains(t, done.Error, "refused")
			require.Zero(t, w.server.Counts()[gmailtest.MessagesSend])
		})
	}
}

func TestForwardOfAMessageThatHasGone(t *testing.T) {
	w := newWorld(t)
	message, m := w.letter(question)
	require.NoError(t, w.google.Users.Messages.Delete("me", m.ID).Do())
	a, job := w.carryOut(forward(message, "colleague@example.com"))
	require.Equal(t, postroom.ActionFailed, a.State)
	require.Contains(t, a.Error, "message gone")
	require.Nil(t, job)
}

// A host may make the message itself.
func TestMessageOfTheHost(t *testing.T) {
	w := newWorld(t)
	ann := w.inbox("ann@example.com")
	message, m := w.letter(question)
	payload := OutboundPayload{
		AccountID: w.account, ActionID: w.queued(reply(message, "")), MessageType: OutboundReply, From: "you@example.com",
		To: []string{"ann@example.com"}, Cc: []string{"Bob <bob@example.com>"}, Subject: "Re: Tea?", BodyPlain: "Here.", BodyHTML: "<p>Here.</p>",
		OriginalMessageID: message, ThreadID: m.ThreadID, InReplyTo: "q@example.com", References: []string{"q@example.com"},
		Attachments: []OutboundAttachment{{Filename: "a.txt", MimeType: "text/plain", Data: []byte("hello")}},
	}
	preview, err := w.cfg.Outbox.Fix(t.Context(), payload)
	require.NoError(t, err)
	require.Equal(t, preview.SHA256, w.action(payload.ActionID).ContentSHA256)
	w.run(NewActionJob(w.account, payload.ActionID))
	a := w.action(payload.ActionID)
	require.Equal(t, postroom.ActionCompleted, a.State, a.Error)
	got := ann.one()
	require.Equal(t, "<p>Here.</p>", strings.TrimSpace(got.HTML))
	require.Equal(t, "hello", string(got.Attachments[0].Content))
	require.Equal(t, "Bob", got.Cc[0].Name)

	for name, change := range map[string]func(*OutboundPayload){
		"another message's":           func(p *OutboundPayload) { p.OriginalMessageID = "another" },
		"another type":                func(p *OutboundPayload) { p.MessageType = OutboundForward },
		"from somebody else":          func(p *OutboundPayload) { p.From = "mallory@example.com" },
		"to nobody":                   func(p *OutboundPayload) { p.To, p.Cc = nil, nil },
		"a part that is not there":    func(p *OutboundPayload) { p.Attachments[0] = OutboundAttachment{MessageID: message, Part: 1} },
		"a part of another message":   func(p *OutboundPayload) { p.Attachments[0] = OutboundAttachment{MessageID: "another", Part: 1} },
		"a subject with a line break": func(p *OutboundPayload) { p.Subject = "Re: Tea?\r\nBcc: b@example.com" },
	} {
		t.Run(name, func(t *testing.T) {
			p := payload
			p.Attachments = append([]OutboundAttachment(nil), payload.Attachments...)
			p.ActionID = w.queued(reply(message, ""))
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
	message, _ := w.letter(question)
	id := w.queued(reply(message, "Yes."))
	_, err := w.cfg.Outbox.Preview(t.Context(), w.action(id))
	require.NoError(t, err)
	m, err := outboundRows{w.store.DB()}.outbound(t.Context(), id)
	require.NoError(t, err)
	p := m.payload
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
	good := w.cfg.Outbox.OutboxConfig
	for want, change := range map[string]func(*OutboxConfig){
		"OutboxConfig.Store":          func(c *OutboxConfig) { c.Store = nil },
		"OutboxConfig.Clients":        func(c *OutboxConfig) { c.Clients = nil },
		"OutboxConfig.Ledger":         func(c *OutboxConfig) { c.Ledger = nil },
		"MaxRecipients is 101":        func(c *OutboxConfig) { c.MaxRecipients = 101 },
		"MaxRecipients is -1":         func(c *OutboxConfig) { c.MaxRecipients = -1 },
		"OutboxConfig.MaxSize is neg": func(c *OutboxConfig) { c.MaxSize = -1 },
		"OutboxConfig.Settle is neg":  func(c *OutboxConfig) { c.Settle = -1 },
		"ReplyInterval is -1ns":       func(c *OutboxConfig) { c.ReplyInterval = -1 },
		"it must be at least 1s":      func(c *OutboxConfig) { c.ReplyInterval = time.Second - 1 },
		"RecipientsDay is negative":   func(c *OutboxConfig) { c.RecipientsDay = -1 },
	} {
		cfg := good
		change(&cfg)
		_, err := NewOutbox(cfg)
		require.ErrorContains(t, err, want)
	}
	w.cfg.Ledger = nil
	d, err := queue.NewDispatcher(w.queue, nil)
	require.NoError(t, err)
	require.ErrorContains(t, Register(d, w.cfg), "Config.Outbox is set and Config.Ledger is not")
}

func TestMessageThatIsTooLarge(t *testing.T) {
	w := newWorld(t)
	w.cfg.Outbox.MaxSize = 1000
	message, _ := w.letter(question)
	a, _ := w.carryOut(reply(message, strings.Repeat("x", 1000)))
	require.Contains(t, a.Error, "at most 1000 are allowed (OutboxConfig.MaxSize)")

	w.cfg.Outbox.Names = map[string]string{"MaxSize": "mail.largest"}
	a, _ = w.carryOut(reply(message, strings.Repeat("x", 2000)))
	require.Contains(t, a.Error, "at most 1000 are allowed (mail.largest)")
}

// A long text does not go along in the payload of the job, which has a bound.
func TestLongReply(t *testing.T) {
	w := newWorld(t)
	ann := w.inbox("ann@example.com")
	message, _ := w.letter(question)
	a, job := w.carryOut(reply(message, strings.Repeat("A long answer. ", 100_000)))
	require.Equal(t, postroom.ActionCompleted, a.State, a.Error)
	require.Less(t, len(job.Payload), 1000)
	require.Len(t, ann.one().Text, 15*100_000)
}

// Without a Message-ID that can be looked for, a message whose sending is unclear could neither be sent again nor given up.
func TestMessageIDThatCannotBeLookedFor(t *testing.T) {
	w := newWorld(t)
	message, m := w.letter(question)
	payload := OutboundPayload{
		AccountID: w.account, ActionID: w.queued(reply(message, "")), MessageType: OutboundReply, From: "you@example.com",
		To: []string{"ann@example.com"}, Subject: "Re: Tea?", BodyPlain: "Here.", OriginalMessageID: message, ThreadID: m.ThreadID,
		MessageID: "a(b)@example.com",
	}
	_, err := w.cfg.Outbox.Fix(t.Context(), payload)
	require.ErrorContains(t, err, "cannot be looked for at Gmail")
}
