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

// Who has written in a thread when, as of an instant: no draft, no spam, no answer of a program, and no deleted mail.
func TestHistoryOfAThread(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		w := newWorld(t, db, gmailapi.Limits{})
		noon := time.Date(2026, 3, 7, 12, 0, 0, 0, time.UTC)
		at := func(hours int) time.Time { return noon.Add(time.Duration(hours) * time.Hour) }
		automatic := []postroom.Header{{Name: "Auto-Submitted", Value: "Auto-Replied; x"}}
		save := func(hours int, thread, label string, headers ...postroom.Header) *postroom.Message {
			m := &postroom.Message{AccountID: w.account, ProviderID: rand.Text(), ProviderThreadID: thread,
				From: postroom.Address{Email: "amy@example.org"}, ReceivedAt: at(hours), LabelIDs: []string{label},
				Headers: headers}
			if label == postroom.LabelSent {
				m.To = []postroom.Address{m.From}
			}
			require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
				_, err := w.store.SaveMessage(ctx, tx, m, 1)
				return err
			}))
			return m
		}
		first := save(0, "t", postroom.LabelInbox)
		save(1, "t", postroom.LabelSent)
		save(2, "t", postroom.LabelSent, automatic...)
		last := save(3, "t", postroom.LabelInbox, automatic...)
		save(4, "t", postroom.LabelDraft)
		save(5, "t", postroom.LabelSpam)
		save(6, "another", postroom.LabelSent)
		known := History{w.store}
		for _, test := range []struct {
			msg          *postroom.Message
			until        time.Time
			mine, theirs time.Time
		}{
			{first, at(0), time.Time{}, at(0)},
			{first, at(-9), time.Time{}, at(0)},
			{first, at(9), at(1), at(0)},
			{last, at(9), at(1), at(3)},
			{&postroom.Message{AccountID: w.account, ThreadID: "none"}, at(9), time.Time{}, time.Time{}},
		} {
			mine, theirs, err := known.Thread(t.Context(), test.msg, test.until)
			require.NoError(t, err)
			require.True(t, mine.Equal(test.mine), "mine: %s", mine)
			require.True(t, theirs.Equal(test.theirs), "theirs: %s", theirs)
		}
		for msg, want := range map[*postroom.Message]bool{first: false, last: true} {
			written, err := known.WrittenTo(t.Context(), msg)
			require.NoError(t, err)
			require.Equal(t, want, written, "as of %s", msg.ReceivedAt)
		}
	})
}
