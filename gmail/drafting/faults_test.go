package drafting_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	api "google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/drafting"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/replies"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/queue"
)

// from delivers a message of the conversation with other fields.
func (w *world) from(n int, from, fields string) gmailtest.Message {
	w.t.Helper()
	raw := strings.Replace(fmt.Sprintf(question, n), "Zoë <ann@example.com>", from, 1)
	m, err := w.server.Deliver(w.t.Context(), []byte(strings.Replace(raw, "Subject:", fields+"Subject:", 1)))
	require.NoError(w.t, err)
	w.sync()
	return m
}

// writes has the person send a message of the conversation without the draft.
func (w *world) writes(m gmailtest.Message, to string) {
	w.t.Helper()
	raw := "From: you@example.com\r\nTo: " + to + "\r\nSubject: Re: Tea?\r\nIn-Reply-To: <q1@example.com>\r\n" +
		"References: <first@example.com> <q1@example.com>\r\n\r\nBy hand.\r\n"
	_, err := w.client.Send(w.t.Context(), []byte(raw), m.ThreadID)
	require.NoError(w.t, err)
	w.sync()
}

// A message to somebody who has not written in the conversation, such as a forwarded one, is no answer.
func TestAForwardIsNoAnswer(t *testing.T) {
	w := newWorld(t, dbSQLite(t))
	m := w.letter(1)
	w.needed(m)
	w.writes(m, "carl@example.com")
	w.run()
	require.Equal(t, replies.Drafted, w.reply(m.ThreadID).State, "forwarded before the draft is made")
	w.writes(m, "carl@example.com")
	w.run(drafting.NewCheckJob(""))
	require.Equal(t, replies.Drafted, w.reply(m.ThreadID).State)
	w.oneDraft()
	w.writes(m, "carl@example.com, ann@example.com")
	w.run(drafting.NewCheckJob(""))
	require.Equal(t, replies.Sent, w.reply(m.ThreadID).State)
}

// The newer message that a draft is about may be another person's: the draft is theirs then.
func TestADraftFollowsItsMessage(t *testing.T) {
	for name, tt := range map[string]struct{ from, fields, to string }{
		"another sender":   {from: "Bob <bob@example.com>", to: "bob@example.com"},
		"nobody to answer": {from: "Bob <bob@example.com>", fields: "Reply-To: eve@evil.example\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, dbSQLite(t))
			m := w.letter(1)
			w.needed(m)
			w.run()
			w.exec("UPDATE replies SET state = 'pending'") // as if the second came while the draft was made
			next := w.from(2, tt.from, tt.fields)
			w.needed(next)
			w.run()
			if tt.to == "" {
				require.Equal(t, replies.Skipped, w.reply(m.ThreadID).State)
				require.Contains(t, w.reply(m.ThreadID).Reason, "another domain")
				return
			}
			require.Equal(t, next.ID, w.requests()[1].Message.ProviderID)
			require.Equal(t, tt.to, w.oneDraft().To[0].Email)
		})
	}
}

// At a provider of many mailboxes, the same domain does not mean the same people.
func TestReplyToAtAProviderOfMany(t *testing.T) {
	for to, drafts := range map[string]int{"eve@gmail.com": 0, "Ann@Gmail.com": 1} {
		w := newWorld(t, dbSQLite(t))
		m := w.from(1, "ann@gmail.com", "Reply-To: "+to+"\r\n")
		w.needed(m)
		w.run()
		require.Len(t, w.draftsAt(""), drafts, to)
	}
}

// A line of the text that looks like the marker is none.
func TestAMarkerInOurOwnText(t *testing.T) {
	for _, above := range []string{"Shorter.\n\n", "Shorter.\n---\n"} {
		w := newWorld(t, dbSQLite(t))
		const text = "Hello Zoë,\n\nyes.\n---\nPS: and cake."
		w.write = func(drafting.Request) (string, error) { return text, nil }
		m := w.letter(1)
		w.label(needsResponse, m.ID)
		w.sync()
		w.edit(w.oneDraft(), func(text string) string { return above + text })
		w.label(rework, m.ID)
		w.sync()
		asked := w.requests()[1]
		require.Equal(t, []any{"Shorter.", text, false}, []any{asked.Instruction, asked.Text, asked.Edited})
	}
}

// What is stopped while the writer writes is not written to Gmail.
func TestAStopDuringTheWorkHolds(t *testing.T) {
	w := newWorld(t, dbSQLite(t))
	m := w.letter(1)
	stopped, changes := false, 0
	w.cfg.Held = func(context.Context) error {
		if !stopped {
			return nil
		}
		changes = len(w.draftsAt("subject:tea"))
		for _, d := range w.draftsAt("") {
			if strings.Contains(d.Text, "text 2") {
				changes++
			}
		}
		stopped = false
		return &postroom.HeldError{Reason: "stopped"}
	}
	w.write = func(drafting.Request) (string, error) {
		stopped = true
		return fmt.Sprint("text ", len(w.requests())), nil
	}
	var err error
	w.service, err = drafting.New(w.cfg)
	require.NoError(t, err)
	w.label(needsResponse, m.ID)
	w.sync()
	require.Zero(t, changes, "made while all is stopped")
	require.False(t, stopped, "nobody has looked")
	w.label(rework, m.ID)
	w.sync()
	require.Equal(t, 1, changes, "overwritten while all is stopped")
	require.False(t, stopped, "nobody has looked")
	require.Contains(t, w.oneDraft().Text, "text 2")
	require.Len(t, w.requests(), 2)
}

// A draft that lies ready for long has no history of being looked at.
func TestChecksLeaveNoHistory(t *testing.T) {
	w := newWorld(t, dbSQLite(t))
	m := w.letter(1)
	w.label(needsResponse, m.ID)
	w.sync()
	before, err := w.replies.History(t.Context(), w.account, m.ThreadID)
	require.NoError(t, err)
	for range 3 {
		w.run(drafting.NewCheckJob(""))
	}
	after, err := w.replies.History(t.Context(), w.account, m.ThreadID)
	require.NoError(t, err)
	require.Equal(t, before, after)
}

// A label that asks for what there is goes off again.
func TestALabelThatAsksForNothing(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		m := w.letter(1)
		w.label(needsResponse, m.ID)
		w.sync()
		w.label(needsResponse, m.ID)
		w.sync()
		require.Equal(t, []string{"INBOX", outboxLabel}, w.labels(m.ID))
		require.Len(t, w.requests(), 1)
	})
}

// The texts of a mailbox that is removed while the writer writes are not stored.
func TestARemovedMailboxKeepsNoText(t *testing.T) {
	w := newWorld(t, dbSQLite(t))
	m := w.letter(1)
	w.write = func(drafting.Request) (string, error) {
		return "text", w.db.Write(w.t.Context(), func(ctx context.Context, tx queue.Tx) error {
			if err := w.replies.Forget(ctx, tx, w.account); err != nil {
				return err
			}
			return drafting.Forget(ctx, tx, w.account)
		})
	}
	w.label(needsResponse, m.ID)
	w.sync()
	texts, err := w.service.Texts(t.Context(), replies.Reply{AccountID: w.account, ThreadID: m.ThreadID, Need: 1})
	require.NoError(t, err)
	require.Empty(t, texts)
	require.Empty(t, w.draftsAt(""))
}

// An instruction is found in a draft with a signature and HTML, as Gmail's page leaves it.
func TestAnInstructionAboveASignature(t *testing.T) {
	w := newWorld(t, dbSQLite(t))
	_, err := w.google.Users.Settings.SendAs.Patch("me", "you@example.com",
		&api.SendAs{Signature: "<b>Ada</b><br>Tea & Co, 12 High Street"}).Do()
	require.NoError(t, err)
	m := w.letter(1)
	w.label(needsResponse, m.ID)
	w.sync()
	d := w.oneDraft()
	require.Contains(t, d.Text, "12 High Street")
	out := mime.Outgoing{Draft: true, From: d.From, To: d.To, Subject: d.Subject, InReplyTo: d.InReplyTo,
		References: d.References, MessageID: "edited@mail.example.com", Text: "Shorter.\n\n" + d.Text,
		HTML: strings.Replace(d.HTML, `<div dir="ltr">`, `<div dir="ltr"><div>Shorter.</div><div><br></div>`, 1)}
	raw, err := out.Build()
	require.NoError(t, err)
	_, err = w.client.UpdateDraft(t.Context(), d.id, raw, "")
	require.NoError(t, err)
	w.label(rework, m.ID)
	w.sync()
	asked := w.requests()[1]
	require.Equal(t, []any{"Hello Zoë,\n\nthis is text 1.", "Shorter.", false},
		[]any{asked.Text, asked.Instruction, asked.Edited})
	require.Equal(t, 1, strings.Count(w.oneDraft().Text, "12 High Street"))
}

// What is asked for while nobody is signed in is written once somebody is.
func TestALabelWhileTheGrantIsGone(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		m := w.letter(1)
		w.label(needsResponse, m.ID)
		w.learn()
		w.tx(func(ctx context.Context, tx queue.Tx) error {
			return w.store.SignOut(ctx, tx, w.queue, w.account, "the grant is gone")
		})
		w.run()
		for range 3 {
			w.run(drafting.NewCheckJob(""))
		}
		require.Empty(t, w.requests())
		require.Empty(t, w.draftsAt(""))
		w.tx(func(ctx context.Context, tx queue.Tx) error { return w.store.Resume(ctx, tx, w.queue, w.account) })
		w.run()
		w.oneDraft()
		require.Len(t, w.requests(), 1)
	})
}
