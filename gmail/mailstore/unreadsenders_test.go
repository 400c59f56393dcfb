package mailstore

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

func TestUnreadSenders(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, accountID string) {
		from := func(email string, n int, at time.Time, labels ...string) {
			for i := range n {
				m := fullMessage(accountID)
				m.ProviderID, m.From.Email, m.LabelIDs = rand.Text(), email, labels
				m.ReceivedAt = at.Add(time.Duration(i) * time.Minute)
				save(t, s, m)
			}
		}
		from("News@shop.example", 9, day, "INBOX", "UNREAD")
		from("news@shop.example", 2, day, "INBOX")
		from("few@shop.example", 4, day, "UNREAD")
		from("read@shop.example", 5, day)
		from("fifth@shop.example", 4, day, "UNREAD")
		from("fifth@shop.example", 1, day)
		from("quiet@shop.example", 5, day, "UNREAD")
		from("spam@shop.example", 9, day, "SPAM", "UNREAD")
		from("trash@shop.example", 9, day, "TRASH", "UNREAD")
		from("old@shop.example", 9, day.Add(-time.Hour), "UNREAD")
		f := UnreadFilter{Since: day, AtLeast: 5, ReadBelow: 0.2, Limit: 10}
		list, err := s.UnreadSenders(t.Context(), accountID, f)
		require.NoError(t, err)
		require.Len(t, list, 2, "a fifth is not below a fifth: %v", list)
		require.Equal(t, "news@shop.example", list[0].Sender)
		require.Equal(t, []int{11, 9, 5}, []int{list[0].Messages, list[0].Unread, list[1].Messages})
		require.Equal(t, day.Add(time.Minute), list[0].LastReadAt.UTC())
		require.Zero(t, list[1].LastReadAt)
		f.Limit = 0
		_, err = s.UnreadSenders(t.Context(), accountID, f)
		require.ErrorContains(t, err, "must be positive")

		ids, err := s.NewestFrom(t.Context(), accountID, "NEWS@shop.example", day.Add(8*time.Minute), 3)
		require.NoError(t, err)
		require.Len(t, ids, 1)
		ids, err = s.NewestFrom(t.Context(), accountID, "NEWS@shop.example", time.Time{}, 3)
		require.NoError(t, err)
		require.Len(t, ids, 3)
		m, err := s.Message(t.Context(), accountID, ids[0])
		require.NoError(t, err)
		require.Equal(t, day.Add(8*time.Minute), m.ReceivedAt.UTC())
		ids, err = s.NewestFrom(t.Context(), accountID, "spam@shop.example", day, 3)
		require.NoError(t, err)
		require.Empty(t, ids)
	})
}

// The newest mail is that of others.
func TestTheNewestReceivedIsMailOfOthers(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, accountID string) {
		none, err := s.NewestReceived(t.Context(), accountID)
		require.NoError(t, err)
		require.Zero(t, none)
		for i, label := range []string{"INBOX", "DRAFT", "SENT", "SPAM", "TRASH"} {
			m := fullMessage(accountID)
			m.ProviderID, m.LabelIDs, m.ReceivedAt = rand.Text(), []string{label}, day.Add(time.Duration(i)*time.Hour)
			save(t, s, m)
		}
		newest, err := s.NewestReceived(t.Context(), accountID)
		require.NoError(t, err)
		require.Equal(t, day, newest.UTC())
	})
}

// The plans go by an index: the window for the senders, and one sender for the messages.
func TestThePlansOfUnreadSenders(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, accountID string) {
		save(t, s, fullMessage(accountID))
		recorded := newRecordingDB(t, s.db)
		s.db = recorded
		_, err := s.UnreadSenders(t.Context(), accountID, UnreadFilter{Since: day, AtLeast: 5, ReadBelow: 0.2, Limit: 10})
		require.NoError(t, err)
		_, err = s.NewestFrom(t.Context(), accountID, "ada@example.org", day, 1)
		require.NoError(t, err)
		taken := recorded.take()
		for i, index := range []string{"messages_received", "messages_sender"} {
			steps := strings.Join(plan(t, recorded, taken[i]), "\n")
			if recorded.Dialect() == driver.SQLite { // PostgreSQL reads few rows as they stand
				require.Contains(t, steps, "SEARCH messages USING INDEX "+index)
				require.NotContains(t, steps, "USE TEMP B-TREE FOR ORDER BY\nCO-ROUTINE")
			}
		}
	})
}

// It reads a mailbox of as many messages as POSTROOM_BENCH_MESSAGES says, all within the window.
func TestUnreadSendersOfALargeMailbox(t *testing.T) {
	size := os.Getenv("POSTROOM_BENCH_MESSAGES")
	if size == "" {
		t.Skip("measured by hand: set POSTROOM_BENCH_MESSAGES=1000000")
	}
	var n int
	_, err := fmt.Sscan(size, &n)
	require.NoError(t, err)
	eachStore(t, func(t *testing.T, s *Store, accountID string) {
		save(t, s, fullMessage(accountID))
		require.NoError(t, s.db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			return copies(ctx, tx, n, s.db.Dialect())
		}))
		recorded := newRecordingDB(t, s.db)
		s.db = recorded
		begun := time.Now()
		list, err := s.UnreadSenders(t.Context(), accountID, UnreadFilter{Since: day.AddDate(0, 0, -90), AtLeast: 5,
			ReadBelow: 0.2, Limit: 50})
		require.NoError(t, err)
		t.Logf("%d messages: %d senders in %v", n, len(list), time.Since(begun))
		t.Log(strings.Join(plan(t, recorded, recorded.take()[0]), "\n"))
	})
}

// copies inserts n copies of the one message, of 1,000 senders, a tenth of which is read.
func copies(ctx context.Context, tx queue.Tx, n int, on driver.Dialect) error {
	labels := map[bool]string{true: "JSON", false: "TEXT"}[on == driver.Postgres]
	_, err := tx.ExecContext(ctx, strings.ReplaceAll(`
WITH RECURSIVE counted (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM counted WHERE i < $1)
INSERT INTO messages (id, account_id, thread_id, provider_message_id, history_id, labels_json, rfc_message_id, in_reply_to,
  references_json, from_name, from_email, recipients_json, subject, snippet, headers_json, body_plain, body_html,
  attachments_json, size, received_at, created_at, updated_at)
SELECT 'copy' || i, account_id, thread_id, 'copy' || i, history_id,
  CAST(CASE WHEN i % 10 = 0 THEN '["INBOX"]' ELSE '["INBOX","UNREAD"]' END AS LABELS), rfc_message_id, in_reply_to, references_json, from_name,
  'news' || (i % 1000) || '@shop.example', recipients_json, subject, snippet, headers_json, body_plain, body_html,
  attachments_json, size, $2, created_at, updated_at
FROM messages, counted`, "AS LABELS", "AS "+labels), n, dbtime.Of(day))
	return err
}
