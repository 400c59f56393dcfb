package drafting_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/drafting"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/replies"
	"github.com/postroom-go/postroom/queue"
)

// sends says that the draft is to be sent as it is with the hash, and counts what is on record.
func (w *world) sends(word drafting.Word, sha256 string, onRecord *int) error {
	return w.service.Send(w.t.Context(), word, sha256, func(context.Context, queue.Tx) error {
		*onRecord++
		return nil
	})
}

func (w *world) look(threadID string) drafting.Look {
	w.t.Helper()
	l, err := w.service.Look(w.t.Context(), w.reply(threadID))
	require.NoError(w.t, err)
	return l
}

func (w *world) sentMail() (n int) {
	w.t.Helper()
	list, err := w.google.Users.Messages.List("me").Q("in:sent").Do()
	require.NoError(w.t, err)
	return len(list.Messages)
}

// drafted has a draft lie ready, and returns the word about it.
func (w *world) drafted(n int) (gmailtest.Message, drafting.Word) {
	w.t.Helper()
	m := w.letter(n)
	w.label(needsResponse, m.ID)
	w.sync()
	return m, drafting.Word{AccountID: w.account, ThreadID: m.ThreadID, By: "ada", Turn: w.reply(m.ThreadID).Turn}
}

// A person has a draft sent as it was shown: once, and it is on record who has said so.
func TestAPersonSendsADraft(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		m, word := w.drafted(1)
		shown, onRecord := w.look(m.ThreadID), 0
		require.Len(t, shown.Message.To, 1)
		w.edit(w.oneDraft(), func(string) string { return "Hello Zoë,\n\nI have changed it.\n" })
		w.refused(w.sends(word, shown.SHA256, &onRecord), "has changed since it was shown")
		w.refused(w.sends(word, "", &onRecord), "has changed since it was shown")
		require.Zero(t, w.sentMail())
		require.Zero(t, onRecord)

		shown = w.look(m.ThreadID)
		require.True(t, shown.Touched)
		require.NoError(t, w.sends(word, shown.SHA256, &onRecord))
		require.Equal(t, 1, w.sentMail())
		require.Empty(t, w.draftsAt(""))
		r := w.reply(m.ThreadID)
		require.Equal(t, replies.Sent, r.State)
		require.NotEmpty(t, r.SentMessageID)
		w.refused(w.sends(word, shown.SHA256, &onRecord), "this draft is sent")
		require.Equal(t, []int{1, 1}, []int{w.sentMail(), onRecord})
		history, err := w.replies.History(t.Context(), w.account, m.ThreadID)
		require.NoError(t, err)
		require.Equal(t, "by ada", history[len(history)-1].Reason)
		w.sync()
		require.Equal(t, []string{"INBOX"}, w.labels(m.ID), "the label Outbox is gone")
	})
}

// A draft with facts to check, one that is being written again, and one that a stop holds is not sent.
func TestADraftIsNotSentUnseen(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		m, word := w.drafted(1)
		onRecord := 0
		w.edit(w.oneDraft(), func(string) string { return "Hello Zoë,\n\nat [check: 18:30].\n" })
		w.refused(w.sends(word, w.look(m.ThreadID).SHA256, &onRecord), "facts to check")
		w.edit(w.oneDraft(), func(string) string { return "Hello Zoë.\n" })
		shown := w.look(m.ThreadID)
		require.NoError(t, w.say(word, "Shorter."))
		w.refused(w.sends(word, shown.SHA256, &onRecord), "has changed since it was shown")
		word.Turn = 0
		w.refused(w.sends(word, shown.SHA256, &onRecord), "being written")
		w.sync()
		w.cfg.Held = func(context.Context) error { return &postroom.HeldError{Reason: "a look"} }
		service, err := drafting.New(w.cfg)
		require.NoError(t, err)
		w.service = service
		require.ErrorIs(t, w.sends(word, w.look(m.ThreadID).SHA256, &onRecord), postroom.ErrHeld)
		require.Zero(t, onRecord)
		require.Zero(t, w.sentMail())
	})
}

// Two who say so at once have it sent once.
func TestADraftIsSentOnceByTwo(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		m, word := w.drafted(1)
		shown := w.look(m.ThreadID)
		var both sync.WaitGroup
		errs := make([]error, 4)
		for i := range errs {
			both.Go(func() {
				errs[i] = w.service.Send(context.Background(), word, shown.SHA256,
					func(context.Context, queue.Tx) error { return nil })
			})
		}
		both.Wait()
		require.Equal(t, 1, w.sentMail(), "%v", errors.Join(errs...))
		require.Contains(t, errs, error(nil), "%v", errors.Join(errs...))
		require.Equal(t, replies.Sent, w.reply(m.ThreadID).State)
	})
}
