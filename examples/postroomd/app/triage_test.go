package app

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// The model is not asked about the answers to one's own mail, to old mail, and to a sender who has sent ten mails and
// was never written to.
func TestWhoseMailMayNeedAnAnswer(t *testing.T) {
	db := dbtest.SQLite(t)
	require.NoError(t, queue.Migrate(t.Context(), db))
	require.NoError(t, mailstore.Migrate(t.Context(), db))
	store, err := mailstore.New(mailstore.Config{DB: db})
	require.NoError(t, err)
	now := time.Now()
	var account string
	require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) (err error) {
		account, err = store.EnsureAccount(ctx, tx, "me@example.com", now)
		return err
	}))
	n := 0
	save := func(m *postroom.Message) {
		n++
		m.AccountID, m.ProviderID, m.ProviderThreadID = account, "m"+strconv.Itoa(n), "t"+strconv.Itoa(n)
		require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			_, err := store.SaveMessage(ctx, tx, m, uint64(n))
			return err
		}))
	}
	m := &Models{mail: store}
	asks := func(email string, at time.Time) bool {
		t.Helper()
		asks, err := m.asksReply(t.Context(), &postroom.Message{ID: "x", AccountID: account, ReceivedAt: at,
			From: postroom.Address{Email: email}})
		require.NoError(t, err)
		return asks
	}
	later := now.Add(time.Hour)
	require.True(t, asks("ann@example.com", later))
	require.False(t, asks("ann@example.com", now.Add(-time.Hour)), "it came before the mailbox was added")
	require.False(t, asks("Me@example.com", later), "it is the person's own")
	for i := range 10 {
		require.True(t, asks("ann@example.com", later), i)
		save(&postroom.Message{From: postroom.Address{Email: "ann@example.com"}, ReceivedAt: now})
	}
	require.False(t, asks("ann@example.com", later), "ten mails and no answer")
	save(&postroom.Message{From: postroom.Address{Email: "me@example.com"}, ReceivedAt: now,
		To: []postroom.Address{{Email: "ann@example.com"}}, LabelIDs: []string{postroom.LabelSent}})
	require.True(t, asks("ann@example.com", later), "the person has written to ann")
	other, err := m.asksReply(t.Context(), &postroom.Message{AccountID: "gone"})
	require.NoError(t, err)
	require.False(t, other)
}
