package mailstore

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// A daemon of the version before stores a message and no terms. Searches find the message at once, and the index takes it in.
func TestMailOfADaemonWithoutIndexIsFound(t *testing.T) {
	db := dbtest.Postgres(t)
	require.NoError(t, Migrate(t.Context(), db))
	s, err := New(Config{DB: db})
	require.NoError(t, err)
	account := ensureAccount(t, s, "me@example.com")
	save := func(id, subject string) {
		m := fullMessage(account)
		m.Subject = subject
		write(t, s, func(ctx context.Context, tx queue.Tx) error {
			if err := s.saveThread(ctx, tx, m); err != nil {
				return err
			}
			args, err := messageArgs(tx, id, m, 10)
			if err != nil {
				return err
			}
			return maildb.Get(ctx, tx, new(struct {
				ID string `db:"id"`
				At any    `db:"at"`
			}), "message", sqlUpsertMessage, args...)
		})
	}
	finds := func(query string, want int) {
		t.Helper()
		page, err := s.Search(t.Context(), account, Search{Query: query})
		require.NoError(t, err)
		require.Len(t, page.Messages, want, query)
	}
	indexed := func() {
		t.Helper()
		n, err := s.IndexMessages(t.Context(), account)
		require.NoError(t, err)
		require.Equal(t, 1, n)
	}
	save("one", "needle")
	finds("subject:needle", 1)
	indexed()
	finds("subject:needle", 1)

	save("one", "thimble") // it comes again, with other words
	finds("subject:thimble", 1)
	indexed()
	finds("subject:thimble", 1)
	finds("subject:needle", 0)

	write(t, s, func(ctx context.Context, tx queue.Tx) error {
		_, err := s.SaveMessage(ctx, tx, fullMessage(account), 11)
		return err
	})
	var terms []byte
	require.NoError(t, db.Reader().Get(&terms, "SELECT terms FROM unindexed_messages"), "this version reads no message twice")
	require.NotEmpty(t, terms)
}
