package gmail

import (
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/queue"
)

// Only Gmail's word for an id that no message has is one: whatever else is refused says nothing of the message.
func TestRefusalOfAMessageThatIsThere(t *testing.T) {
	w := newWorld(t)
	w.cfg.Logger = slog.New(slog.DiscardHandler)
	ids := w.backfilled(3)
	w.modify(ids[0], add("STARRED"))
	w.forget()
	w.server.Fault(gmailtest.Fault{Method: gmailtest.MessagesGet, Path: ids[0], Times: -1, Status: http.StatusBadRequest,
		Body: "<title>Bad Request</title>"})
	w.run(NewHistorySyncJob(w.account, 0))
	require.Zero(t, w.jobs("reconcile.gmail")[queue.StateFailed])
	require.Contains(t, w.stored(), ids[0], "it is not taken for gone")
	w.server.ClearFaults()
	require.NotEqual(t, w.atGmail(), w.stored())
	w.run(NewReconcileJob(w.account))
	require.Equal(t, w.atGmail(), w.stored())
}

func TestAMessageThatCannotBeReadKeepsNoOtherFromBeingCorrected(t *testing.T) {
	w := newWorld(t)
	ids := w.backfilled(5)
	for _, id := range ids {
		w.modify(id, add("STARRED"))
	}
	w.forget()
	first := slices.Min(ids)
	w.server.Fault(gmailtest.Fault{Method: gmailtest.MessagesGet, Path: first, Times: -1,
		Status: http.StatusInternalServerError})
	w.run(NewHistorySyncJob(w.account, 0))
	run, err := LastReconciliation(t.Context(), w.store, w.account)
	require.NoError(t, err)
	require.Equal(t, 4, run.Relabelled)
	require.False(t, run.FinishedAt.IsZero(), "it ends, with a warning")
	w.server.ClearFaults()
	want, got := w.atGmail(), w.stored()
	require.NotEqual(t, want[first], got[first])
	got[first] = want[first]
	require.Equal(t, want, got)

	w.run(NewReconcileJob(w.account))
	require.Equal(t, w.atGmail(), w.stored())
}

// What a history sync stores while a message is verified is not overwritten with what was read before.
func TestVerifiedMessageThatChangesMeanwhile(t *testing.T) {
	w := newWorld(t)
	w.cfg.Logger = slog.New(slog.DiscardHandler)
	id := w.backfilled(1)[0]
	w.modify(id, add("STARRED"))
	w.forget()
	var once sync.Once
	w.wire.Next = &after{w.wire.Next, func(r *http.Request) {
		if r.URL.Query().Get("format") == "minimal" {
			once.Do(func() {
				w.modify(id, add("IMPORTANT"))
				w.syncOnly()
			})
		}
	}}
	w.run(NewHistorySyncJob(w.account, 0))
	require.Equal(t, "IMPORTANT INBOX STARRED", w.stored()[id])
	require.Equal(t, w.atGmail(), w.stored())
}
