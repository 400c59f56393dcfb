package drafting_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	api "google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom/gmail/drafting"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/replies"
	"github.com/postroom-go/postroom/queue"
)

// reminds has drafts of reminders written.
func (w *world) reminds(perDay int) {
	w.t.Helper()
	w.cfg.FollowUpDraft, w.cfg.PerDay = true, perDay
	var err error
	w.service, err = drafting.New(w.cfg)
	require.NoError(w.t, err)
}

// insert puts a message into a thread of its own for each n, that Gmail received some hours from now.
func (w *world) insert(n, hours int, label, header, text string) gmailtest.Message {
	w.t.Helper()
	at := time.Now().Add(time.Duration(hours) * time.Hour).UTC().Format(time.RFC1123Z)
	raw := fmt.Sprintf("%s\r\nSubject: Re: Tea %d?\r\nMessage-ID: <%d.%d@example.com>\r\nReferences: <n%d@example.com>\r\n"+
		"Date: %s\r\n\r\n%s\r\n", header, n, n, hours, n, at, text)
	m, err := w.google.Users.Messages.Insert("me", &api.Message{LabelIds: []string{label}, Raw: encoded(raw)}).
		InternalDateSource("dateHeader").Do()
	require.NoError(w.t, err)
	return gmailtest.Message{ID: m.Id, ThreadID: m.ThreadId}
}

const fromZoe = "From: Zoë <ann@example.com>\r\nTo: You <you@example.com>"

// asks puts a question of three hours ago into the thread.
func (w *world) asks(n int) gmailtest.Message {
	w.t.Helper()
	m := w.insert(n, -3, "INBOX", fromZoe, "At five?")
	w.sync()
	return m
}

// waits has the person write last in the thread, an hour ago, and put it out of the inbox with the label Waiting.
func (w *world) waits(question gmailtest.Message, n int, to string) (sent string) {
	w.t.Helper()
	m := w.insert(n, -1, "SENT", "From: You <you@example.com>\r\n"+to, "Where?")
	require.Equal(w.t, question.ThreadID, m.ThreadID)
	w.sync()
	w.archive(question.ID)
	w.label(waiting, m.ID)
	w.sync()
	return m.ID
}

const toZoe = "To: Zoë <ann@example.com>, you@example.com\r\nCc: bob@example.com"

func (w *world) waitsFor(n int) (question gmailtest.Message, sent string) {
	w.t.Helper()
	question = w.asks(n)
	return question, w.waits(question, n, toZoe)
}

// theyAnswer puts an answer of Zoë's into the thread, and leaves the sync to the caller.
func (w *world) theyAnswer(n int, header string) gmailtest.Message {
	w.t.Helper()
	return w.insert(n, 1, "INBOX", header+fromZoe, "At mine.")
}

// writesAgain has the person write in the thread, later.
func (w *world) writesAgain(n int) {
	w.t.Helper()
	w.insert(n, 1, "SENT", "From: You <you@example.com>\r\n"+toZoe, "Well?")
}

// Nobody answers, and a reminder lies ready: of the person's message, to whom it went, once.
func TestAReminderLiesReady(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.reminds(20)
		m, sent := w.waitsFor(1)
		w.timePasses()
		require.Equal(t, []string{"INBOX", outboxLabel}, w.labels(sent), "in place of Action Required")
		require.Empty(t, w.labels(m.ID))
		asked := w.requests()
		require.Len(t, asked, 1)
		require.True(t, asked[0].Nudge)
		require.Equal(t, []any{sent, []string{"ann@example.com"}, false},
			[]any{asked[0].Message.ProviderID, asked[0].Recipients, asked[0].Asked})
		d := w.oneDraft()
		require.Len(t, d.To, 1)
		require.Equal(t, "ann@example.com", d.To[0].Email)
		require.Empty(t, d.Cc)
		require.Equal(t, "you@example.com", d.From[0].Email)
		require.Contains(t, d.Text, "> Where?", "it quotes the person's own message")
		require.Equal(t, []replies.State{replies.Pending, replies.Drafted}, w.states(m.ThreadID))
		require.Len(t, w.hosts(), 1, "back in the inbox, by an action that can be undone")
		for _, event := range w.heard {
			w.tx(event)
		}
		w.sync()
		w.oneDraft()

		_, word := w.reply(m.ThreadID), drafting.Word{AccountID: w.account, ThreadID: m.ThreadID, By: "ada"}
		_, err := w.discard(word)
		require.NoError(t, err)
		w.sync()
		require.Equal(t, []string{"INBOX"}, w.labels(sent))
		w.archive(sent)
		w.label(waiting, sent)
		w.sync()
		w.timePasses()
		require.Empty(t, w.draftsAt(""), "a message is reminded of once")
		require.Equal(t, []string{"INBOX", actionRequired}, w.labels(sent))
	})
}

// Their answer ends a reminder, whatever has become of it until then; a machine's does not, and a changed one stays.
func TestAnAnswerEndsAReminder(t *testing.T) {
	for name, tt := range map[string]struct {
		before func(w *world)
		header string
		drafts int
		state  replies.State
	}{
		"a draft":            {state: replies.Skipped},
		"a changed draft":    {before: func(w *world) { w.edit(w.oneDraft(), func(string) string { return "Mine." }) }, drafts: 1, state: replies.Skipped},
		"a program's answer": {header: "Auto-Submitted: auto-replied\r\n", drafts: 1, state: replies.Drafted},
		"a rework": {before: func(w *world) {
			w.write = func(drafting.Request) (string, error) { return "Again.", nil }
			w.label(rework, w.requests()[0].Message.ProviderID)
		}, state: replies.Skipped},
	} {
		t.Run(name, func(t *testing.T) {
			eachWorld(t, func(t *testing.T, w *world) {
				w.reminds(20)
				m, sent := w.waitsFor(1)
				w.timePasses()
				w.oneDraft()
				if tt.before != nil {
					tt.before(w)
					w.sync()
				}
				w.theyAnswer(1, tt.header)
				w.sync()
				require.Equal(t, tt.state, w.reply(m.ThreadID).State)
				require.Len(t, w.draftsAt(""), tt.drafts)
				if tt.state == replies.Skipped {
					require.Contains(t, w.reply(m.ThreadID).Reason, "they have answered")
					require.Equal(t, []string{"INBOX"}, w.labels(sent))
				}
			})
		})
	}
}

// An answer that needs one itself gets its own draft, also if the reminder was not looked at yet.
func TestAnAnswerToAReminderIsAnswered(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.reminds(20)
		m, _ := w.waitsFor(1)
		w.timePasses()
		answer := w.theyAnswer(1, "")
		w.learn() // the check of the reminder waits
		id, err := w.store.MessageID(t.Context(), w.account, answer.ID)
		require.NoError(t, err)
		msg, err := w.store.Message(t.Context(), w.account, id)
		require.NoError(t, err)
		w.tx(func(ctx context.Context, tx queue.Tx) error { return w.service.Needed(ctx, tx, msg) })
		w.run()
		require.Contains(t, w.oneDraft().Text, "> At mine.")
		require.Equal(t, []replies.State{replies.Pending, replies.Drafted, replies.Skipped, replies.Pending, replies.Drafted},
			w.states(m.ThreadID))
		require.Equal(t, []string{"INBOX", outboxLabel}, w.labels(answer.ID))
	})
}

// A reminder that is not written yet is none if they answer meanwhile, or if the person writes.
func TestAReminderIsNotWrittenInVain(t *testing.T) {
	for name, write := range map[string]func(w *world){
		"they answer":       func(w *world) { w.theyAnswer(1, "") },
		"the person writes": func(w *world) { w.writesAgain(1) },
	} {
		t.Run(name, func(t *testing.T) {
			eachWorld(t, func(t *testing.T, w *world) {
				w.reminds(20)
				m, _ := w.waitsFor(1)
				require.NoError(t, w.queue.Pause(t.Context(), queue.ForType(replies.JobDraft)))
				for _, job := range w.followUps() {
					require.NoError(t, w.queue.Hasten(t.Context(), job.ID))
				}
				jobs := w.followUps()
				require.NoError(t, w.queue.Resume(t.Context(), queue.ForType(drafting.JobFollowUp)))
				w.worksOff(jobs)
				require.NoError(t, w.queue.Pause(t.Context(), queue.ForType(drafting.JobFollowUp)))
				require.Equal(t, replies.Pending, w.reply(m.ThreadID).State)
				write(w)
				w.learn()
				require.NoError(t, w.queue.Resume(t.Context(), queue.ForType(replies.JobDraft)))
				w.run()
				require.Equal(t, replies.Skipped, w.reply(m.ThreadID).State)
				require.Empty(t, w.draftsAt(""))
				require.Empty(t, w.requests())
			})
		})
	}
}

// The person sends the reminder, or writes without it: the draft goes.
func TestAPersonReminds(t *testing.T) {
	for name, reminds := range map[string]func(w *world){
		"by the draft": func(w *world) { w.send(w.oneDraft()) },
		"by hand":      func(w *world) { w.writesAgain(1) },
	} {
		t.Run(name, func(t *testing.T) {
			eachWorld(t, func(t *testing.T, w *world) {
				w.reminds(20)
				m, sent := w.waitsFor(1)
				w.timePasses()
				reminds(w)
				w.sync()
				w.run(drafting.NewCheckJob(""))
				require.Equal(t, replies.Sent, w.reply(m.ThreadID).State)
				require.Empty(t, w.draftsAt(""))
				require.Equal(t, []string{"INBOX"}, w.labels(sent))
			})
		})
	}
}

// Reminders count among the drafts of a day, and are left to the person where they are of no use.
func TestWhereNoReminderIsWritten(t *testing.T) {
	for name, tt := range map[string]struct {
		perDay int
		before func(w *world) (id string)
	}{
		"no more drafts on a day": {perDay: 1, before: func(w *world) string {
			w.waitsFor(2)
			w.timePasses()
			_, sent := w.waitsFor(1)
			return sent
		}},
		"their message is the last": {perDay: 20, before: func(w *world) string {
			m := w.asks(1)
			w.label(waiting, m.ID)
			return m.ID
		}},
		"a no-reply address": {perDay: 20, before: func(w *world) string {
			return w.waits(w.asks(1), 1, "To: no-reply@example.com")
		}},
		"it went to nobody else": {perDay: 20, before: func(w *world) string {
			return w.waits(w.asks(1), 1, "To: you@example.com")
		}},
		"a draft is open": {perDay: 20, before: func(w *world) string {
			m := w.asks(1)
			w.label(needsResponse, m.ID)
			w.sync()
			return w.waits(m, 1, toZoe)
		}},
		"the writer leaves it": {perDay: 20, before: func(w *world) string {
			w.write = func(drafting.Request) (string, error) { return "", nil }
			_, sent := w.waitsFor(1)
			return sent
		}},
	} {
		t.Run(name, func(t *testing.T) {
			eachWorld(t, func(t *testing.T, w *world) {
				w.reminds(tt.perDay)
				id := tt.before(w)
				w.sync()
				before := len(w.draftsAt(""))
				w.timePasses()
				require.Contains(t, w.labels(id), actionRequired)
				require.Contains(t, w.labels(id), "INBOX")
				require.Len(t, w.draftsAt(""), before)
			})
		})
	}
	_, err := drafting.New(drafting.Config{FollowUpDraft: true})
	require.ErrorContains(t, err, "FollowUpDraft is set, and FollowUp is 0")
}
