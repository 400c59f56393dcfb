package gmail

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	api "google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/queue"
)

// arriveOld is arrive for a message whose internalDate is that of its Date header, long ago.
func (w *world) arriveOld(labels ...string) string {
	w.t.Helper()
	m, err := w.google.Users.Messages.Insert("me", &api.Message{
		Raw: base64.URLEncoding.EncodeToString([]byte(strings.Replace(plainMail, "2026", "2011", 1))), LabelIds: labels,
	}).InternalDateSource("dateHeader").Do()
	require.NoError(w.t, err)
	return m.Id
}

// atGmail returns the labels of all messages by Gmail's id.
func (w *world) atGmail() map[string]string {
	w.t.Helper()
	snapshot, err := w.server.Snapshot(w.t.Context())
	require.NoError(w.t, err)
	mailbox := make(map[string]string)
	for _, m := range snapshot {
		image, err := w.google.Users.Messages.Get("me", m.ID).Format("minimal").Do()
		require.NoError(w.t, err)
		mailbox[m.ID] = strings.Join(postroom.NewSnapshot(image.LabelIds).LabelIDs, " ")
	}
	return mailbox
}

// stored is atGmail for what the store has.
func (w *world) stored() map[string]string {
	w.t.Helper()
	var rows []struct {
		ID     string          `db:"provider_message_id"`
		Labels maildb.JSONText `db:"labels_json"`
	}
	require.NoError(w.t, dbquery.Select(w.t.Context(), w.db.Reader(), &rows,
		`SELECT provider_message_id, labels_json FROM messages WHERE account_id = $1 AND deleted_at IS NULL`, w.account))
	stored := make(map[string]string)
	for _, row := range rows {
		var labels []string
		require.NoError(w.t, json.Unmarshal(row.Labels, &labels))
		stored[row.ID] = strings.Join(labels, " ")
	}
	return stored
}

// forget makes the account's cursor too old.
func (w *world) forget() {
	w.t.Helper()
	require.NoError(w.t, w.server.ForgetHistory(w.t.Context()))
	w.arrive(plainMail, "SENT") // history goes on
}

func (w *world) backfilled(n int) []string {
	w.t.Helper()
	ids := w.arriveMany(n)
	w.run(NewBackfillJob(w.account, "", ""))
	require.Len(w.t, w.stored(), n)
	w.seen = nil
	return ids
}

// heard are the events of a host, as text.
type heard struct {
	mu    sync.Mutex
	lines []string
}

func (h *heard) listen(cfg *Config) {
	note := func(format string, args ...any) error {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.lines = append(h.lines, fmt.Sprintf(format, args...))
		return nil
	}
	cfg.OnLabelsChanged = func(_ context.Context, _ queue.Tx, e LabelsEvent) error {
		return note("%s: %s +%v -%v =%v", e.Source, e.ProviderID, e.Change.Add, e.Change.Remove, e.Labels.LabelIDs)
	}
	cfg.OnDeleted = func(_ context.Context, _ queue.Tx, e DeletedEvent) error {
		return note("%s: %s deleted", e.Source, e.ProviderID)
	}
}

func (h *heard) take() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	lines := h.lines
	h.lines = nil
	return lines
}

func TestStoreEqualsTheMailboxAfterAGap(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		var events heard
		events.listen(&w.cfg)
		var found []Reconciliation
		w.cfg.OnReconciled = func(_ context.Context, _ queue.Tx, r Reconciliation) error {
			found = append(found, r)
			return nil
		}
		w.cfg.Logger = slog.New(slog.DiscardHandler)
		ids := w.backfilled(40)
		bills := w.userLabel("Bills")
		var want, fresh []string
		for i := range 10 {
			w.modify(ids[i], postroom.LabelChange{Add: []string{bills, "STARRED"}, Remove: []string{"INBOX"}})
			want = append(want, fmt.Sprintf("reconcile: %s +[%s STARRED] -[INBOX] =[%s STARRED]", ids[i], bills, bills))
			require.NoError(t, w.google.Users.Messages.Delete("me", ids[10+i]).Do())
			want = append(want, fmt.Sprintf("reconcile: %s deleted", ids[10+i]))
		}
		for range 5 {
			fresh = append(fresh, w.arrive(recent(), "INBOX"), w.arriveOld("INBOX", "UNREAD"))
		}
		w.arrive(plainMail, "SPAM")
		w.forget()
		w.run(NewHistorySyncJob(w.account, 0))

		require.Equal(t, w.atGmail(), w.stored())
		require.ElementsMatch(t, want, events.take(), "each once")
		require.ElementsMatch(t, fresh, w.seen, "each once; spam and sent mail are stored and not passed on")
		report, err := LastReconciliation(t.Context(), w.store, w.account)
		require.NoError(t, err)
		require.Equal(t, []Reconciliation{report}, found)
		require.Equal(t, ReconcileGap, report.Cause)
		require.Equal(t, 10, report.Relabelled)
		require.Equal(t, 10, report.Deleted)
		require.Equal(t, 42, report.Listed)
		require.False(t, report.FinishedAt.IsZero())
		n, err := w.store.CountMessages(t.Context(), w.account)
		require.NoError(t, err)
		require.Equal(t, 42, n)
		for _, table := range []string{"reconciled_messages", "reconcile_suspects"} {
			var rows int
			require.NoError(t, dbquery.Get(t.Context(), w.db.Reader(), &rows, "SELECT COUNT(*) FROM "+table))
			require.Zero(t, rows, table)
		}
	})
}

// An account that was never backfilled has only what came since: that stays so.
func TestGapOfAnAccountThatWasNotBackfilled(t *testing.T) {
	w := newWorld(t)
	w.arriveOld("INBOX")
	trashed := w.arriveOld("TRASH")
	_, known := w.known("INBOX")
	w.synced()
	w.seen = nil
	w.modify(known, remove("INBOX"))
	missed := w.arriveOld("INBOX")
	w.modify(trashed, add("STARRED")) // changed, so it is of the gap
	w.forget()
	w.run(NewHistorySyncJob(w.account, 0))
	require.Equal(t, map[string]string{known: "", missed: "INBOX", trashed: "STARRED TRASH"}, without(w.stored(), "SENT"))
	require.Equal(t, []string{missed}, w.seen)
}

// without leaves out the messages with exactly these labels.
func without(messages map[string]string, labels string) map[string]string {
	for id, has := range messages {
		if has == labels {
			delete(messages, id)
		}
	}
	return messages
}

// A token of a page does not last for ever: a run that stopped at one goes on all the same.
func TestRunGoesOnWithoutItsPage(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.backfilled(3)
		missed := w.arriveOld("INBOX")
		w.server.Fault(gmailtest.Fault{Method: gmailtest.MessagesList, Nth: 3, Status: http.StatusForbidden})
		w.run(NewReconcileJob(w.account))
		report, err := LastReconciliation(t.Context(), w.store, w.account)
		require.NoError(t, err)
		require.True(t, report.FinishedAt.IsZero(), "it has stopped at the list of all")
		w.exec(`UPDATE reconciliations SET page = 'expired', listed = 2`)

		w.run(NewReconcileJob(w.account))
		report, err = LastReconciliation(t.Context(), w.store, w.account)
		require.NoError(t, err)
		require.False(t, report.FinishedAt.IsZero())
		require.Equal(t, 4, report.Listed)
		require.Contains(t, w.stored(), missed)
	})
}

// A token that is refused while the run lists begins that list again: nothing seems to differ for it, and no run stops.
func TestListBeginsAgainWhenItsPageIsRefused(t *testing.T) {
	w := newWorld(t)
	w.cfg.Logger = slog.New(slog.DiscardHandler)
	w.backfilled(listPage + 10)
	gets := w.server.Counts()[gmailtest.MessagesGet]
	for name, label := range map[string]string{"the list of all": "", "the list of a label": "INBOX"} {
		t.Run(name, func(t *testing.T) {
			var once sync.Once
			w.wire.Before = func(r *http.Request) {
				if query := r.URL.Query(); query.Has("pageToken") && query.Get("labelIds") == label {
					once.Do(func() {
						query.Set("pageToken", "of another year")
						r.URL.RawQuery = query.Encode()
					})
				}
			}
			w.run(NewReconcileJob(w.account))
			require.Empty(t, w.jobs("reconcile.gmail")[queue.StateFailed])
			report, err := LastReconciliation(t.Context(), w.store, w.account)
			require.NoError(t, err)
			require.False(t, report.FinishedAt.IsZero())
			require.Equal(t, listPage+10, report.Listed)
			require.Zero(t, report.Differences())
			require.Equal(t, gets, w.server.Counts()[gmailtest.MessagesGet], "nothing seemed to differ")
		})
	}
}

func TestListWhosePagesAreAllRefused(t *testing.T) {
	w := newWorld(t)
	w.cfg.Logger = slog.New(slog.DiscardHandler)
	w.arriveMany(listPage + 1)
	refused := 0
	w.wire.Before = func(r *http.Request) {
		if query := r.URL.Query(); query.Has("pageToken") {
			refused++
			query.Set("pageToken", "refused")
			r.URL.RawQuery = query.Encode()
		}
	}
	w.run(NewReconcileJob(w.account))
	require.Equal(t, 1+maxRestarts, refused)
	require.Equal(t, 1, w.jobs("reconcile.gmail")[queue.StateFailed])
}

func TestCheckOfAStoreThatEqualsTheMailbox(t *testing.T) {
	w := newWorld(t)
	var logged logs
	w.cfg.Logger = logged.logger()
	w.backfilled(30)
	w.arrive(plainMail, "TRASH") // backfills leave it out, and so does a check
	gets := w.server.Counts()[gmailtest.MessagesGet]
	job := w.job(w.run(NewReconcileJob(w.account)))
	require.Equal(t, queue.StateCompleted, job.State, job.LastError)
	report, err := LastReconciliation(t.Context(), w.store, w.account)
	require.NoError(t, err)
	require.Zero(t, report.Differences(), "%+v", report)
	require.Equal(t, ReconcileCheck, report.Cause)
	require.Equal(t, 31, report.Listed)
	require.Equal(t, gets, w.server.Counts()[gmailtest.MessagesGet], "nothing is fetched where nothing differs")
	require.Equal(t, []string{"compared the stored messages with Gmail"}, logged.lines)
}

func TestCheckMendsWhatIsStoredWrongly(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.cfg.Logger = slog.New(slog.DiscardHandler)
		ids := w.backfilled(5)
		w.exec(`UPDATE messages SET labels_json = '["STARRED"]' WHERE provider_message_id = $1`, ids[0])
		w.exec(`UPDATE messages SET deleted_at = created_at WHERE provider_message_id = $1`, ids[1])
		w.exec(`DELETE FROM messages WHERE provider_message_id = $1`, ids[2])
		w.exec(`UPDATE messages SET provider_message_id = '0123456789abcdef' WHERE provider_message_id = $1`, ids[3])
		w.exec(`UPDATE messages SET provider_message_id = 'no id of Gmail' WHERE provider_message_id = $1`, ids[4])
		w.run(NewReconcileJob(w.account))
		require.Equal(t, w.atGmail(), w.stored())
		report, err := LastReconciliation(t.Context(), w.store, w.account)
		require.NoError(t, err)
		require.Equal(t, []int{1, 1, 2, 3}, []int{report.Relabelled, report.Restored, report.Deleted, report.Added})
	})
}

func TestReconciliationOfNoAccount(t *testing.T) {
	w := newWorld(t)
	_, err := LastReconciliation(t.Context(), w.store, w.account)
	require.ErrorIs(t, err, postroom.ErrNotFound)
	job := w.job(w.run(NewReconcileJob("nobody")))
	require.Equal(t, queue.StateCanceled, job.State)
	require.Equal(t, 1, job.Attempt)
}

// A run that has stopped for good is taken up by the next check, at the page where it was.
func TestCheckGoesOnWithARunThatHasStopped(t *testing.T) {
	w := newWorld(t)
	w.cfg.Logger = slog.New(slog.DiscardHandler)
	ids := w.backfilled(5)
	w.modify(ids[0], add("STARRED"))
	w.server.Fault(gmailtest.Fault{Method: gmailtest.MessagesList, Nth: 3, Status: 403})
	w.run(NewReconcileJob(w.account))
	stopped, err := reconciliations{w.db}.run(t.Context(), w.db.Reader(), w.account)
	require.NoError(t, err)
	require.Equal(t, phaseList, stopped.Phase)

	for range 2 { // the second one has nothing to go on with, and checks
		w.run(NewReconcileJob(w.account))
		require.Equal(t, w.atGmail(), w.stored())
	}
	done, err := reconciliations{w.db}.run(t.Context(), w.db.Reader(), w.account)
	require.NoError(t, err)
	require.Equal(t, phaseDone, done.Phase)
	require.Equal(t, []any{stopped.Run + 1, ReconcileCheck}, []any{done.Run, done.Cause})
}

// A gap that opens while another is closed begins anew, from before the first one; jobs of the first change nothing.
func TestGapWithinAGap(t *testing.T) {
	w := newWorld(t)
	w.cfg.Logger = slog.New(slog.DiscardHandler)
	ids := w.backfilled(12)
	cursor := w.state().HistoryID
	w.modify(ids[0], add("STARRED"))
	w.forget()
	var once sync.Once
	w.wire.Before = func(r *http.Request) {
		if r.URL.Query().Get("labelIds") == "UNREAD" { // the list of starred messages is behind it
			once.Do(func() {
				w.modify(ids[1], add("STARRED"))
				w.forget()
				w.syncOnly()
			})
		}
	}
	w.run(NewHistorySyncJob(w.account, 0))
	require.Equal(t, w.atGmail(), w.stored())
	run, err := reconciliations{w.db}.run(t.Context(), w.db.Reader(), w.account)
	require.NoError(t, err)
	require.EqualValues(t, 2, run.Run)
	require.Equal(t, cursor, run.Since)
	require.Equal(t, map[queue.State]int{queue.StateCompleted: w.jobs("reconcile.gmail")[queue.StateCompleted]},
		w.jobs("reconcile.gmail"))
}
