package senders

import (
	"context"
	"crypto/rand"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// The person's own answers to the one who is answered: none to others, of programs, of this thread, of later, and no
// letter that answers nothing.
func TestAnswersToTheSamePerson(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		w := newWorld(t, db, gmailapi.Limits{})
		noon := time.Date(2026, 3, 7, 12, 0, 0, 0, time.UTC)
		save := func(subject, thread, to, answers, label string, hours int, headers ...postroom.Header) *postroom.Message {
			m := &postroom.Message{AccountID: w.account, ProviderID: rand.Text(), ProviderThreadID: thread, Subject: subject,
				From: postroom.Address{Email: "desk@example.org"}, To: []postroom.Address{{Email: to}}, InReplyTo: answers,
				LabelIDs: []string{label}, ReceivedAt: noon.Add(time.Duration(hours) * time.Hour), Headers: headers}
			require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
				_, err := w.store.SaveMessage(ctx, tx, m, 1)
				return err
			}))
			return m
		}
		const sent = postroom.LabelSent
		save("older", "a", "Amy@example.org", "q", sent, -9)
		save("newer", "b", "amy@example.org", "q", sent, -8)
		save("to another", "c", "bob@example.org", "q", sent, -7)
		save("to her address as a name", "d", "amy@example.org.evil.example", "q", sent, -7)
		save("answers nothing", "e", "amy@example.org", "", sent, -7)
		save("later", "f", "amy@example.org", "q", sent, 1)
		save("received", "g", "amy@example.org", "q", postroom.LabelInbox, -7)
		save("a program's", "h", "amy@example.org", "q", sent, -7,
			postroom.Header{Name: "Auto-Submitted", Value: "auto-replied"})
		save("in the thread", "t", "amy@example.org", "q", sent, -7)
		msg := save("question", "t", w.server.Email(), "", postroom.LabelInbox, 0)
		msg.ReplyTo = []postroom.Address{{Email: "amy@example.org"}}
		list, err := Correspondents{Store: w.store}.Answers(t.Context(), msg)
		require.NoError(t, err)
		var subjects []string
		for _, m := range list {
			subjects = append(subjects, m.Subject)
		}
		require.Equal(t, []string{"newer", "older"}, subjects)
		msg.ReplyTo, msg.To = nil, []postroom.Address{{Email: "amy@example.org"}}
		msg.LabelIDs = []string{sent}
		list, err = Correspondents{Store: w.store}.Answers(t.Context(), msg)
		require.NoError(t, err)
		require.Len(t, list, 2, "a reminder goes to whom the person's message went")
		msg.LabelIDs = nil
		msg.ReplyTo = []postroom.Address{{Email: `"a" OR amy@example.org`}}
		list, err = Correspondents{Store: w.store}.Answers(t.Context(), msg)
		require.NoError(t, err)
		require.Empty(t, list)
	})
}
