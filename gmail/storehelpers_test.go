package gmail

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// eachStore runs fn on a store with one account on every database.
func eachStore(t *testing.T, fn func(t *testing.T, s *mailstore.Store, accountID string)) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, mailstore.Migrate(t.Context(), db))
		s, err := mailstore.New(mailstore.Config{DB: db})
		require.NoError(t, err)
		fn(t, s, ensureAccount(t, s, "me@example.com"))
	})
}

func write(t testing.TB, s *mailstore.Store, fn func(ctx context.Context, tx queue.Tx) error) {
	t.Helper()
	require.NoError(t, s.DB().Write(t.Context(), fn))
}

func ensureAccount(t testing.TB, s *mailstore.Store, email string) (id string) {
	t.Helper()
	write(t, s, func(ctx context.Context, tx queue.Tx) (err error) {
		id, err = s.EnsureAccount(ctx, tx, email, time.Time{})
		return err
	})
	return id
}

func save(t *testing.T, s *mailstore.Store, m *postroom.Message) {
	t.Helper()
	known, err := s.MessageID(t.Context(), m.AccountID, m.ProviderID)
	write(t, s, func(ctx context.Context, tx queue.Tx) error {
		isNew, saved := s.SaveMessage(ctx, tx, m, 10)
		require.Equal(t, err != nil, isNew)
		return saved
	})
	if err == nil {
		require.Equal(t, known, m.ID)
	}
}

var day = time.Date(2026, 3, 7, 12, 0, 0, 0, time.UTC)

func fullMessage(accountID string) *postroom.Message {
	return &postroom.Message{
		AccountID: accountID, ProviderID: "m1", ProviderThreadID: "t1",
		MessageID: "1@example.org", InReplyTo: "0@example.org", References: []string{"00@example.org", "0@example.org"},
		From:    postroom.Address{Name: "Zoë", Email: "zoe@example.org"},
		ReplyTo: []postroom.Address{{Email: "list@example.org"}},
		To:      []postroom.Address{{Name: "Me", Email: "me@example.com"}, {Email: "you@example.com"}},
		Cc:      []postroom.Address{{Email: "cc@example.com"}},
		Bcc:     []postroom.Address{{Email: "bcc@example.com"}},
		Subject: "Grüße", Snippet: "Guten Tag …",
		Headers: []postroom.Header{{Name: "Received", Value: "a"}, {Name: "received", Value: "b"},
			{Name: "List-Id", Value: "<l>"}},
		LabelIDs:  []string{"INBOX", "Label_1", "UNREAD"},
		BodyPlain: "Guten Tag", BodyHTML: "<p>Guten Tag</p>",
		Attachments: []postroom.Attachment{{Filename: "a.pdf", ContentType: "application/pdf", Size: 7, Inline: true,
			ContentID: "c"}},
		ReceivedAt: day, Date: day.Add(-time.Minute), Size: 1234,
	}
}

func count(t *testing.T, s *mailstore.Store, table string) (n int) {
	t.Helper()
	require.NoError(t, dbquery.Get(t.Context(), s.DB().Reader(), &n, "SELECT COUNT(*) FROM "+table))
	return n
}

// eachQueue is eachStore with a queue beside the store.
func eachQueue(t *testing.T, fn func(t *testing.T, s *mailstore.Store, q *queue.Queue, accountID string)) {
	eachStore(t, func(t *testing.T, s *mailstore.Store, accountID string) {
		require.NoError(t, queue.Migrate(t.Context(), s.DB()))
		q, err := queue.New(s.DB(), nil)
		require.NoError(t, err)
		fn(t, s, q, accountID)
	})
}

func getAccount(t *testing.T, s *mailstore.Store, id string) mailstore.Account {
	t.Helper()
	account, err := s.Account(t.Context(), id)
	require.NoError(t, err)
	return account
}

func pause(t *testing.T, s *mailstore.Store, q *queue.Queue, id, reason string) {
	t.Helper()
	write(t, s, func(ctx context.Context, tx queue.Tx) error { return s.Pause(ctx, tx, q, id, reason) })
}

func resume(t *testing.T, s *mailstore.Store, q *queue.Queue, id string) {
	t.Helper()
	write(t, s, func(ctx context.Context, tx queue.Tx) error { return s.Resume(ctx, tx, q, id) })
}

// isPaused reports whether the queue holds the account's jobs back.
func isPaused(t *testing.T, q *queue.Queue, id string) bool {
	t.Helper()
	limits, err := q.Limits(t.Context())
	require.NoError(t, err)
	for _, l := range limits {
		if l.Target == queue.ForKey(mailstore.LimitKey(id)) {
			return l.Paused
		}
	}
	return false
}
