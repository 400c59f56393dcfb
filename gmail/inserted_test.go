package gmail

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/queue"
)

const digestID = "digest.5yzq@postroom.invalid"

const digestMail = "From: Postroom <digest@postroom.invalid>\r\nTo: me@example.com\r\nSubject: Digest\r\n" +
	"Message-ID: <" + digestID + ">\r\nX-Postroom-Digest: 1\r\n\r\nNothing is asked.\r\n"

func (w *world) record(id string) {
	w.t.Helper()
	require.NoError(w.t, w.db.Write(w.t.Context(), func(ctx context.Context, tx queue.Tx) error {
		return w.store.Inserted().Record(ctx, tx, w.account, id)
	}))
}

// What the host has put into the mailbox is stored, and nothing is decided about it: neither when it comes nor when
// rules are applied to old mail. Whoever imitates it gains nothing.
func TestNothingIsDecidedAboutWhatTheHostInserts(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.record(digestID)
		ref, err := w.client.Insert(t.Context(), []byte(digestMail), postroom.LabelInbox, postroom.LabelUnread)
		require.NoError(t, err)
		began := time.Now().Add(-time.Hour)
		w.run(NewIngestJob(w.account, ref.ID))
		require.Empty(t, w.seen)
		stored, err := w.store.Message(t.Context(), w.account, w.ours(ref.ID))
		require.NoError(t, err)
		require.Equal(t, "Digest", stored.Subject)
		require.True(t, stored.HasLabel(postroom.LabelInbox))

		copied := w.arrive(digestMail, "INBOX")
		unknown := w.arrive(strings.ReplaceAll(digestMail, "5yzq", "other"), "INBOX")
		bare := w.arrive(strings.ReplaceAll(digestMail, "X-Postroom-Digest", "X-Other"), "INBOX")
		w.run(NewIngestJob(w.account, copied), NewIngestJob(w.account, unknown), NewIngestJob(w.account, bare))
		require.ElementsMatch(t, []string{copied, unknown, bare}, w.seen)

		var all []string
		for m, err := range w.store.AllMessages(t.Context(), w.account, mailstore.MessageRange{}) {
			require.NoError(t, err)
			all = append(all, m.ProviderID)
		}
		require.ElementsMatch(t, []string{copied, unknown, bare}, all)
		n, err := w.store.CountReceived(t.Context(), w.account, []time.Time{began, time.Now().Add(time.Hour)})
		require.NoError(t, err)
		require.Equal(t, []int{3}, n)
		seen, err := w.store.SenderSeen(t.Context(), &postroom.Message{AccountID: w.account, From: stored.From})
		require.NoError(t, err)
		require.False(t, seen, "a forged sender is not known by our own digests")
		in := mailstore.Arrived{From: began, Until: time.Now().Add(time.Hour)}
		arrived, err := w.store.CountArrived(t.Context(), w.account, in)
		require.NoError(t, err)
		require.Equal(t, 3, arrived)
		list, err := w.store.NewSenders(t.Context(), w.account, in)
		require.NoError(t, err)
		require.Empty(t, list)
	})
}

func TestWhatWasInsertedIsFound(t *testing.T) {
	w := newWorld(t)
	before, err := w.client.Profile(t.Context())
	require.NoError(t, err)
	_, found, err := w.client.FindInserted(t.Context(), digestID, before.HistoryID)
	require.NoError(t, err)
	require.False(t, found)

	w.server.Fault(gmailtest.Fault{Method: gmailtest.MessagesInsert, Cut: gmailtest.CutAfter})
	_, err = w.client.Insert(t.Context(), []byte(digestMail), postroom.LabelInbox)
	require.True(t, gmailapi.IsUnclear(err, len(digestMail)), "%v", err)
	ref, found, err := w.client.FindInserted(t.Context(), digestID, before.HistoryID)
	require.NoError(t, err)
	require.True(t, found)
	require.NotEmpty(t, ref.ID)
}
