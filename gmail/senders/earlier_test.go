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

// Earlier mail is that of this correspondence: of the verified sender and of the person's own to the sender, with words
// of the message, and none if the text goes to somebody else as well.
func TestEarlierMailIsOfThisCorrespondence(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		w := newWorld(t, db, gmailapi.Limits{})
		noon := time.Date(2026, 3, 7, 12, 0, 0, 0, time.UTC)
		passed := []postroom.Header{{Name: "Received", Value: "from a.example by mx.google.com with ESMTPS id x"},
			{Name: "Authentication-Results", Value: "mx.google.com; dmarc=pass header.from=example.org"}}
		save := func(subject, thread, from, to, body, label string, hours int, h ...postroom.Header) *postroom.Message {
			m := &postroom.Message{AccountID: w.account, ProviderID: rand.Text(), ProviderThreadID: thread, Subject: subject,
				From: postroom.Address{Email: from}, To: []postroom.Address{{Email: to}}, BodyPlain: body,
				LabelIDs: []string{label}, ReceivedAt: noon.Add(time.Duration(hours) * time.Hour), Headers: h}
			require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
				_, err := w.store.SaveMessage(ctx, tx, m, 1)
				return err
			}))
			return m
		}
		const amy, me, in, sent = "amy@example.org", "desk@example.org", postroom.LabelInbox, postroom.LabelSent
		save("Invoice", "a", amy, me, "The boiler costs 1200.", in, -9, passed...)
		save("Repairs", "b", me, amy, "I pay half of the boiler invoice.", sent, -8)
		save("Repairs", "c", amy, me, "> the boiler invoice\n", in, -8, passed...)
		save("Boiler, of another", "d", "bob@example.org", me, "boiler invoice", in, -7, passed...)
		save("Boiler, to another", "e", me, "bob@example.org", "boiler invoice", sent, -7)
		save("Boiler, not verified", "f", amy, me, "boiler invoice", in, -7)
		save("Boiler, a program's", "g", me, amy, "boiler invoice", sent, -7,
			postroom.Header{Name: "Auto-Submitted", Value: "auto-replied"})
		save("Boiler, spam", "h", amy, me, "boiler invoice", postroom.LabelSpam, -7, passed...)
		save("Boiler, later", "i", amy, me, "boiler invoice", in, 1, passed...)
		save("Boiler, in the thread", "t", amy, me, "boiler invoice", in, -1, passed...)
		save("Tea", "j", amy, me, "At five.", in, -1, passed...)
		msg := save("The boiler", "t", amy, me, "Where is the invoice?", in, 0, passed...)
		earlier := func(msg *postroom.Message, to ...string) (threads []string) {
			list, err := Correspondents{Store: w.store}.Earlier(t.Context(), msg, to)
			require.NoError(t, err)
			for _, m := range list {
				threads = append(threads, m.ProviderThreadID)
			}
			return threads
		}
		require.Equal(t, []string{"b", "a"}, earlier(msg, amy), "those with more of the words first")
		require.Empty(t, earlier(msg, amy, "bob@example.org"), "what she wrote is not for bob")
		require.Empty(t, earlier(msg), "nobody knows to whom it goes")
		stranger := *msg
		stranger.Headers = nil
		require.Empty(t, earlier(&stranger, amy), "anybody can write her address")
		for i := range 9 {
			save("boiler", "many"+string(rune('a'+i)), amy, me, "", in, -20, passed...)
		}
		require.Len(t, earlier(msg, amy), mostEarlier)
		wordless := *msg
		wordless.Subject, wordless.BodyPlain = "Re: ok", "it is"
		require.Empty(t, earlier(&wordless, amy), "short words say nothing")
		odd := *msg
		odd.From.Email = `"a" OR amy@example.org`
		require.Empty(t, earlier(&odd, odd.From.Email))
	})
}
