package gmail

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// cursorOf moves the cursor to the history id of a message, as if another change of the same id had put it there.
func (w *world) cursorOf(providerID string) {
	w.t.Helper()
	m, err := w.google.Users.Messages.Get("me", providerID).Format("minimal").Do()
	require.NoError(w.t, err)
	w.cursorAt(m.HistoryId)
}

// A message whose last change has the id of the cursor before a gap may be one that no sync has seen: it is taken in,
// and once.
func TestGapTakesInWhatChangedAtTheCursor(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		before := w.arriveOld("INBOX")
		w.known("INBOX")
		w.synced()
		w.seen = nil
		missed := w.arriveOld("INBOX")
		w.cursorOf(missed)
		w.arrive(plainMail, "SENT") // with which the history after the cursor is forgotten
		w.forget()
		w.run(NewHistorySyncJob(w.account, 0))
		w.run(NewHistorySyncJob(w.account, 0), NewReconcileJob(w.account))
		require.Contains(t, w.stored(), missed)
		require.NotContains(t, w.stored(), before, "what was older stays out of an account that was never backfilled")
		require.Equal(t, []string{missed}, w.seen)
	})
}

// A sync that moves the cursor to the very id of what an ingest has read may have passed another change of that id:
// the ingest reads again.
func TestIngestThatASyncOvertakesAtItsOwnID(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.synced()
		id := w.arrive(plainMail, "INBOX")
		var once sync.Once
		w.wire.After = func(r *http.Request, _ *http.Response) {
			if strings.HasSuffix(r.URL.Path, "/messages/"+id) {
				once.Do(func() {
					w.cursorOf(id)
					w.modify(id, add("STARRED"))
				})
			}
		}
		w.run(NewIngestJob(w.account, id))
		require.Equal(t, map[string]string{id: "INBOX STARRED"}, w.stored())
		require.Equal(t, []string{id}, w.seen)
	})
}
