package mailstore

import (
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/driver"
)

func TestTopSenders(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, accountID string) {
		from := func(account, email string, at time.Time, labels ...string) {
			m := fullMessage(account)
			m.ProviderID, m.From.Email, m.ReceivedAt, m.LabelIDs = rand.Text(), email, at, labels
			save(t, s, m)
		}
		from(accountID, "News@shop.example", day, "INBOX", "UNREAD")
		from(accountID, "news@SHOP.example", day.Add(time.Hour), "INBOX")
		from(accountID, "news@shop.example", day.Add(2*time.Hour), "UNREAD")
		from(accountID, "zoe@example.org", day.Add(time.Minute), "INBOX", "UNREAD_BY_ZOE")
		from(accountID, "bob@example.org", day.Add(time.Minute), "UNREAD")
		from(accountID, "old@example.org", day.Add(-time.Second), "INBOX")
		from(accountID, "me@example.com", day.Add(time.Hour), "SENT")
		from(accountID, "me@example.com", day.Add(time.Hour), "DRAFT")
		from(accountID, "", day.Add(time.Hour), "INBOX")
		from(ensureAccount(t, s, "other@example.com"), "other@example.org", day.Add(time.Hour), "INBOX")

		top, err := s.TopSenders(t.Context(), accountID, day, 10)
		require.NoError(t, err)
		for i := range top {
			top[i].LastAt, top[i].LastReadAt = top[i].LastAt.UTC(), top[i].LastReadAt.UTC()
		}
		require.Equal(t, []SenderVolume{
			{Sender: "news@shop.example", Messages: 3, Unread: 2, LastAt: day.Add(2 * time.Hour), LastReadAt: day.Add(time.Hour)},
			{Sender: "bob@example.org", Messages: 1, Unread: 1, LastAt: day.Add(time.Minute)},
			{Sender: "zoe@example.org", Messages: 1, LastAt: day.Add(time.Minute), LastReadAt: day.Add(time.Minute)},
		}, top)
		require.InDelta(t, 1.0/3, top[0].ReadShare(), 1e-9)
		require.Zero(t, SenderVolume{}.ReadShare())
		first, err := s.TopSenders(t.Context(), accountID, day, 1)
		require.NoError(t, err)
		require.Len(t, first, 1)
		_, err = s.TopSenders(t.Context(), accountID, day, 0)
		require.ErrorContains(t, err, "must be positive")
	})
}

// Only the messages of the window are read, however many are older.
func TestTopSendersReadsItsWindow(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, accountID string) {
		save(t, s, fullMessage(accountID))
		recorded := newRecordingDB(t, s.db)
		s.db = recorded
		_, err := s.TopSenders(t.Context(), accountID, day, 10)
		require.NoError(t, err)
		steps := strings.Join(plan(t, recorded, recorded.take()[0]), "\n")
		if recorded.Dialect() == driver.SQLite { // PostgreSQL reads few rows as they stand
			require.Contains(t, steps, "SEARCH messages USING INDEX messages_received (account_id=? AND <expr>>?)")
		}
	})
}
