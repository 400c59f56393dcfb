package gmail

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/gmailtest"
)

// A server without getProfile is one that a mailbox is read from, and followed.
func TestServerWithoutProfile(t *testing.T) {
	for _, status := range []int{http.StatusNotFound, http.StatusNotImplemented} {
		w := newWorld(t)
		w.server.Fault(gmailtest.Fault{Method: gmailtest.GetProfile, Status: status, Times: 1000})
		w.run(NewBackfillJob(w.account, "", ""))
		require.Equal(t, BackfillDone, w.state().Backfill.State, "also while it is empty")
		require.Zero(t, w.state().HistoryID)

		first := w.arriveMany(3)
		w.run(NewHistorySyncJob(w.account, 0))
		require.NotZero(t, w.state().HistoryID)
		w.run(NewBackfillJob(w.account, "", ""))
		require.ElementsMatch(t, first, w.seen)

		next := w.arrive(plainMail, "INBOX")
		w.run(NewHistorySyncJob(w.account, 0))
		require.ElementsMatch(t, append(first, next), w.seen)
	}
}

// What else goes wrong with the profile is not worked around.
func TestProfileThatIsRefused(t *testing.T) {
	w := newWorld(t)
	w.arriveMany(1)
	w.server.Fault(gmailtest.Fault{Method: gmailtest.GetProfile, Status: http.StatusForbidden})
	w.run(NewBackfillJob(w.account, "", ""))
	require.Equal(t, BackfillFailed, w.state().Backfill.State)
	require.Zero(t, w.state().HistoryID)
}
