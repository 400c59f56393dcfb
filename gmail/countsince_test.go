package gmail

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What is stored is counted once, also when it is deleted or stored again; what another account has is not.
func TestCountStoredSince(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		before := time.Now()
		count := func(since time.Time) int {
			n, err := w.store.CountStoredSince(t.Context(), w.account, since)
			require.NoError(t, err)
			return n
		}
		require.Zero(t, count(before))
		w.known("INBOX")
		_, gone := w.known("INBOX")
		require.NoError(t, w.google.Users.Messages.Delete("me", gone).Do())
		w.run(NewHistorySyncJob(w.account, 0))
		require.Equal(t, 2, count(before))
		require.Zero(t, count(time.Now().Add(time.Second)))
		require.Equal(t, 2, count(time.Time{}))
		n, err := w.store.CountStoredSince(t.Context(), "another", before)
		require.NoError(t, err)
		require.Zero(t, n)
	})
}
