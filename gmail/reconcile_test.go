package gmail

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	api "google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
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
		mailbox[m.ID] = strings.Join(postroom.NewImage(image.LabelIds).LabelIDs, " ")
	}
	return mailbox
}

// stored is atGmail for what the store has.
func (w *world) stored() map[string]string {
	w.t.Helper()
	var rows []struct {
		ID     string   `db:"provider_message_id"`
		Labels jsonText `db:"labels_json"`
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
		report, err := w.store.Reconciliation(t.Context(), w.account)
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
		report, err := w.store.Reconciliation(t.Context(), w.account)
		require.NoError(t, err)
		require.True(t, report.FinishedAt.IsZero(), "it has stopped at the list of all")
		w.exec(`UPDATE reconciliations SET page = 'expired', listed = 2`)

		w.run(NewReconcileJob(w.account))
		report, err = w.store.Reconciliation(t.Context(), w.account)
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
			w.wire.before = func(r *http.Request) {
				if query := r.URL.Query(); query.Has("pageToken") && query.Get("labelIds") == label {
					once.Do(func() {
						query.Set("pageToken", "of another year")
						r.URL.RawQuery = query.Encode()
					})
				}
			}
			w.run(NewReconcileJob(w.account))
			require.Empty(t, w.jobs("reconcile.gmail")[queue.StateFailed])
			report, err := w.store.Reconciliation(t.Context(), w.account)
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
	w.wire.before = func(r *http.Request) {
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

// Only Gmail's word for an id that no message has is one: whatever else is refused says nothing of the message.
func TestRefusalOfAMessageThatIsThere(t *testing.T) {
	w := newWorld(t)
	w.cfg.Logger = slog.New(slog.DiscardHandler)
	ids := w.backfilled(3)
	w.modify(ids[0], add("STARRED"))
	w.forget()
	w.server.Fault(gmailtest.Fault{Method: gmailtest.MessagesGet, Path: ids[0], Times: -1, Status: http.StatusBadRequest, Body: "<title>Bad Request</title>"})
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
	w.server.Fault(gmailtest.Fault{Method: gmailtest.MessagesGet, Path: first, Times: -1, Status: http.StatusInternalServerError})
	w.run(NewHistorySyncJob(w.account, 0))
	run, err := w.store.Reconciliation(t.Context(), w.account)
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

func TestCheckOfAStoreThatEqualsTheMailbox(t *testing.T) {
	w := newWorld(t)
	var logged logs
	w.cfg.Logger = logged.logger()
	w.backfilled(30)
	w.arrive(plainMail, "TRASH") // backfills leave it out, and so does a check
	gets := w.server.Counts()[gmailtest.MessagesGet]
	job := w.job(w.run(NewReconcileJob(w.account)))
	require.Equal(t, queue.StateCompleted, job.State, job.LastError)
	report, err := w.store.Reconciliation(t.Context(), w.account)
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
		report, err := w.store.Reconciliation(t.Context(), w.account)
		require.NoError(t, err)
		require.Equal(t, []int{1, 1, 2, 3}, []int{report.Relabelled, report.Restored, report.Deleted, report.Added})
	})
}

func TestReconciliationOfNoAccount(t *testing.T) {
	w := newWorld(t)
	_, err := w.store.Reconciliation(t.Context(), w.account)
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
	stopped, err := w.store.run(t.Context(), w.db.Reader(), w.account)
	require.NoError(t, err)
	require.Equal(t, phaseList, stopped.Phase)

	for range 2 { // the second one has nothing to go on with, and checks
		w.run(NewReconcileJob(w.account))
		require.Equal(t, w.atGmail(), w.stored())
	}
	done, err := w.store.run(t.Context(), w.db.Reader(), w.account)
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
	w.wire.before = func(r *http.Request) {
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
	run, err := w.store.run(t.Context(), w.db.Reader(), w.account)
	require.NoError(t, err)
	require.EqualValues(t, 2, run.Run)
	require.Equal(t, cursor, run.Since)
	require.Equal(t, map[queue.State]int{queue.StateCompleted: w.jobs("reconcile.gmail")[queue.StateCompleted]}, w.jobs("reconcile.gmail"))
}

// What a history sync stores while a message is verified is not overwritten with what was read before.
func TestVerifiedMessageThatChangesMeanwhile(t *testing.T) {
	w := newWorld(t)
	w.cfg.Logger = slog.New(slog.DiscardHandler)
	id := w.backfilled(1)[0]
	w.modify(id, add("STARRED"))
	w.forget()
	var once sync.Once
	w.wire.next = &after{w.wire.next, func(r *http.Request) {
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

// Whatever is done in a gap and while it is closed, with faults and processes that stop at any call: in the end the store is the
// mailbox.
func TestStoreEqualsTheMailboxWhateverHappens(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		w := newWorldOn(t, db)
		w.cfg.Logger = slog.New(slog.DiscardHandler)
		seed := uint64(time.Now().UnixNano())
		t.Logf("seed %d", seed)
		c := &chaos{world: w, Rand: rand.New(rand.NewPCG(seed, 1)), ids: w.backfilled(30), label: w.userLabel("Bills")}
		for round := range 4 {
			for range 25 {
				c.change()
			}
			w.forget()
			c.closeGap()
			require.Equal(t, w.atGmail(), w.stored(), "seed %d, round %d", seed, round)
		}
	})
}

type chaos struct {
	*world
	*rand.Rand
	mu    sync.Mutex
	ids   []string
	label string
}

// change is one thing that a person does.
func (c *chaos) change() {
	labels := []string{"INBOX", "UNREAD", "STARRED", "IMPORTANT", "SPAM", c.label}
	i := c.IntN(len(c.ids))
	one := c.ids[i]
	messages := c.google.Users.Messages
	var err error
	switch c.IntN(8) {
	case 0:
		c.ids = append(c.ids, c.arrive(recent(), "INBOX"))
	case 1:
		c.ids = append(c.ids, c.arriveOld("INBOX", "UNREAD"))
	case 2:
		err = messages.Delete("me", one).Do()
		c.ids = slices.Delete(c.ids, i, i+1)
	case 3:
		_, err = messages.Trash("me", one).Do()
	case 4:
		_, err = messages.Untrash("me", one).Do()
	case 5:
		c.modify(one, remove(labels[c.IntN(len(labels))]))
	default:
		c.modify(one, add(labels[c.IntN(len(labels))]))
	}
	require.NoError(c.t, err)
}

// closeGap runs everything, with faults, changes and stops in between.
func (c *chaos) closeGap() {
	c.server.Fault(
		gmailtest.Fault{Method: gmailtest.MessagesList, Nth: 1 + c.IntN(6), Times: 2, Status: 503},
		gmailtest.Fault{Method: gmailtest.MessagesGet, Nth: 1 + c.IntN(10), Cut: gmailtest.CutAfter},
		gmailtest.Fault{Method: gmailtest.LabelsList, Status: 500},
		gmailtest.Fault{Method: gmailtest.MessagesGet, Nth: 2 + c.IntN(10), Truncate: true},
	)
	_, err := c.queue.Enqueue(c.t.Context(), NewHistorySyncJob(c.account, 0))
	require.NoError(c.t, err)
	for range 5 {
		c.runUntilStopped()
	}
	c.server.ClearFaults()
	c.wire.before = nil
	queuetest.PromoteScheduled(c.t, c.queue)
	c.run(NewHistorySyncJob(c.account, 0)) // the changes while the gap was closed
}

// runUntilStopped runs a dispatcher that is stopped at one of its calls.
func (c *chaos) runUntilStopped() {
	ctx, stop := context.WithCancel(c.t.Context())
	defer stop()
	left := 3 + c.IntN(12)
	c.wire.before = func(*http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if left--; left == 0 {
			stop()
		} else if left%3 == 0 {
			c.change()
		}
	}
	d, err := queue.NewDispatcher(c.queue, &queue.DispatcherConfig{PollInterval: time.Millisecond, Workers: 4})
	require.NoError(c.t, err)
	require.NoError(c.t, Register(d, c.cfg))
	_ = d.RunUntilIdle(ctx)
	queuetest.PromoteScheduled(c.t, c.queue)
}
