package drafting_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/drafting"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/replies"
	"github.com/postroom-go/postroom/queue"
)

// needed reports that a message needs an answer, as a decider does.
func (w *world) needed(m gmailtest.Message) {
	w.t.Helper()
	id, err := w.store.MessageID(w.t.Context(), w.account, m.ID)
	require.NoError(w.t, err)
	msg, err := w.store.Message(w.t.Context(), w.account, id)
	require.NoError(w.t, err)
	w.tx(func(ctx context.Context, tx queue.Tx) error { return w.service.Needed(ctx, tx, msg) })
}

// apart delivers a letter that belongs to no other conversation.
func (w *world) apart(subject string) gmailtest.Message {
	w.t.Helper()
	m, err := w.server.Deliver(w.t.Context(), []byte("From: Zoë <ann@example.com>\r\n"+
		"To: You <you@example.com>\r\nSubject: "+subject+"\r\nMessage-ID: <"+subject+"@example.com>\r\n\r\nAt five?\r\n"))
	require.NoError(w.t, err)
	w.sync()
	return m
}

// perDay makes the service anew, with a bound.
func (w *world) perDay(n int) *strings.Builder {
	w.t.Helper()
	var log strings.Builder
	w.cfg.PerDay, w.cfg.Logger = n, slog.New(slog.NewTextHandler(&log, nil))
	var err error
	w.service, err = drafting.New(w.cfg)
	require.NoError(w.t, err)
	return &log
}

// Mail that needs an answer has one draft, however often it is reported, and whatever comes later.
func TestADraftForMailThatNeedsAnAnswer(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.perDay(1)
		m := w.letter(1)
		w.needed(m)
		w.needed(m)
		w.run()
		require.Equal(t, []string{"INBOX", outboxLabel}, w.labels(m.ID))
		require.False(t, w.requests()[0].Asked)
		later := w.letter(2)
		w.needed(later)
		w.needed(m)
		w.run()
		w.oneDraft()
		require.Len(t, w.requests(), 1)
		require.Equal(t, []replies.State{replies.Pending, replies.Drafted}, w.states(m.ThreadID))
		require.Equal(t, []string{"INBOX"}, w.labels(later.ID))
	})
}

// Beyond the drafts of a day the label says that an answer is needed, and is a button as before.
func TestSoManyDraftsADay(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		log := w.perDay(2)
		var all []gmailtest.Message
		for _, subject := range []string{"one", "two", "three", "four"} {
			all = append(all, w.apart(subject))
			w.needed(all[len(all)-1])
		}
		w.needed(all[2])
		w.run()
		require.Len(t, w.draftsAt(""), 2)
		for i, m := range all {
			require.Equal(t, []string{"INBOX", []string{outboxLabel, needsResponse}[i/2]}, w.labels(m.ID))
		}
		require.Equal(t, replies.Skipped, w.reply(all[2].ThreadID).State)
		require.Contains(t, w.reply(all[2].ThreadID).Reason, "2 drafts were begun")
		require.Equal(t, 1, strings.Count(log.String(), "no more drafts"), "it is said once")

		w.sync() // what this package has put on is no button
		require.Len(t, w.draftsAt(""), 2)
		w.unlabel(needsResponse, all[2].ID)
		w.sync()
		w.label(needsResponse, all[2].ID)
		w.sync()
		require.Len(t, w.draftsAt(""), 3, "a person is not counted")
		require.Equal(t, []string{"INBOX", outboxLabel}, w.labels(all[2].ID))

		w.exec(`UPDATE reply_days SET day = '2001-01-01'`)
		next := w.apart("five")
		w.needed(next)
		w.run()
		require.Len(t, w.draftsAt(""), 4, "another day")
		w.tx(func(ctx context.Context, tx queue.Tx) error { return drafting.Forget(ctx, tx, w.account) })
	})
}

// A conversation that was answered gets the label as well, on its new message; one with a draft stays as it is.
func TestTooManyDraftsInOldConversations(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.perDay(1)
		m := w.letter(1)
		w.needed(m)
		w.run()
		w.needed(w.letter(2))
		w.run()
		require.Equal(t, []string{"INBOX", outboxLabel}, w.labels(m.ID))
		w.send(w.oneDraft())
		w.sync()
		require.Equal(t, replies.Sent, w.reply(m.ThreadID).State)
		w.needed(w.letter(3))
		w.run()
		require.Empty(t, w.draftsAt(""))
		require.Equal(t, []string{"INBOX", needsResponse}, w.labels(m.ID))
		require.Equal(t, replies.Sent, w.reply(m.ThreadID).State)
	})
}
