package gmail

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/queue"
)

// A server without getProfile is one that a mailbox is read from, and followed.
func TestServerWithoutProfile(t *testing.T) {
	for _, status := range []int{http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented} {
		w := newWorld(t)
		w.server.Fault(gmailtest.Fault{Method: gmailtest.GetProfile, Status: status, Times: 1000})
		w.run(NewBackfillJob(w.account, "", ""))
		require.Equal(t, mailstore.BackfillDone, w.state().Backfill.State, "also while it is empty")
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
	require.Equal(t, mailstore.BackfillFailed, w.state().Backfill.State)
	require.Zero(t, w.state().HistoryID)
}

// The access that is configured for an account leads to another mailbox: nothing of that is read, and no label made
// in it. An account that was synced before may have got another address since.
func TestAccessToAnotherMailbox(t *testing.T) {
	w := newWorld(t)
	w.arriveMany(1)
	w.account = ensureAccount(t, w.store, "bob@example.com")
	for _, job := range []queue.NewJob{NewLabelsSyncJob(w.account, "Bills"), NewBackfillJob(w.account, "", ""),
		NewHistorySyncJob(w.account, 0)} {
		ended := w.job(w.run(job))
		require.Equal(t, queue.StateFailed, ended.State)
		require.Equal(t, 1, ended.Attempt)
		require.Contains(t, ended.LastError,
			"open mailbox bob@example.com: forbidden: the access that is configured for it leads to the mailbox you@example.com")
	}
	require.Empty(t, w.stored())
	for _, method := range []gmailtest.Method{gmailtest.LabelsCreate, gmailtest.MessagesList, gmailtest.MessagesGet} {
		require.Zero(t, w.server.Counts()[method])
	}

	write(t, w.store, func(ctx context.Context, tx queue.Tx) error {
		return w.store.Progress().MoveCursor(ctx, tx, w.account, 1, true)
	})
	require.Equal(t, queue.StateCompleted, w.job(w.run(NewLabelsSyncJob(w.account))).State)
	w.run(NewBackfillJob(w.account, "", ""))
	require.Len(t, w.stored(), 1)
}
