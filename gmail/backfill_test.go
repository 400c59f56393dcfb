package gmail

import (
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/queue"
)

func (w *world) arriveMany(n int) []string {
	var ids []string
	for range n {
		ids = append(ids, w.arrive(plainMail, "INBOX"))
	}
	slices.Sort(ids)
	return ids
}

func TestBackfillPageByPage(t *testing.T) {
	w := newWorld(t)
	w.cfg.PageSize = 10
	ids := w.arriveMany(25)
	latest := w.latest()
	first := w.run(NewBackfillJob(w.account, "", ""))
	require.Equal(t, -10, w.job(first).Priority)
	require.Equal(t, map[queue.State]int{queue.StateCompleted: 3}, w.jobs("backfill.gmail"))
	require.Equal(t, map[queue.State]int{queue.StateCompleted: 25}, w.jobs("ingest.gmail"))
	slices.Sort(w.seen)
	require.Equal(t, ids, w.seen)

	account := w.state()
	require.Equal(t, mailstore.Backfill{State: mailstore.BackfillDone, Pages: 3, Messages: 25, Estimate: 25},
		account.Backfill)
	require.Equal(t, latest, account.HistoryID)
	require.WithinDuration(t, time.Now(), account.LastSyncAt, time.Minute)

	// Once more: everything is listed, nothing is fetched, and the cursor stays where it is.
	fetched := w.server.Counts()[gmailtest.MessagesGet]
	w.arrive(plainMail, "SENT") // moves Gmail's history, and is new
	w.run(NewBackfillJob(w.account, "", ""))
	require.Equal(t, fetched+1, w.server.Counts()[gmailtest.MessagesGet])
	require.Equal(t, latest, w.state().HistoryID)
}

// What arrives while the pages are listed is after the cursor, whether the listing has shown it or not.
func TestMailThatArrivesDuringABackfill(t *testing.T) {
	w := newWorld(t)
	w.cfg.PageSize = 2
	w.arriveMany(5)
	before := w.latest()
	var once sync.Once
	w.wire.Before = func(r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/messages") {
			once.Do(func() { w.arrive(plainMail, "INBOX") })
		}
	}
	w.run(NewBackfillJob(w.account, "", ""))
	require.Equal(t, before, w.state().HistoryID)
	w.run(NewHistorySyncJob(w.account, 0))
	require.Len(t, w.seen, 6)
	require.Equal(t, w.latest(), w.state().HistoryID)
}

func TestBackfillGoesOnAfterFailures(t *testing.T) {
	w := newWorld(t)
	w.cfg.PageSize = 2
	w.arriveMany(6)
	w.server.Fault(
		gmailtest.Fault{Method: gmailtest.GetProfile, Status: 503},
		gmailtest.Fault{Method: gmailtest.MessagesList, Nth: 2, Cut: gmailtest.CutAfter},
		gmailtest.Fault{Method: gmailtest.MessagesGet, Nth: 3, Times: 2, Status: 500},
	)
	w.run(NewBackfillJob(w.account, "", ""))
	require.Len(t, w.seen, 6)
	require.Equal(t, mailstore.BackfillDone, w.state().Backfill.State)
}

func TestBackfillThatStoppedIsResumed(t *testing.T) {
	w := newWorld(t)
	w.cfg.PageSize = 2
	w.arriveMany(6)
	w.server.Fault(gmailtest.Fault{Method: gmailtest.MessagesList, Nth: 2, Status: 403})
	w.run(NewBackfillJob(w.account, "", ""))
	require.Equal(t, map[queue.State]int{queue.StateCompleted: 1, queue.StateFailed: 1}, w.jobs("backfill.gmail"))
	backfill := w.state().Backfill
	require.Equal(t, mailstore.BackfillFailed, backfill.State)
	require.Contains(t, backfill.Error, "list messages: forbidden (403")
	require.NotEmpty(t, backfill.Page)
	require.Equal(t, []int{1, 2, 6}, []int{backfill.Pages, backfill.Messages, backfill.Estimate})

	w.run(NewBackfillJob(w.account, backfill.Query, backfill.Page))
	require.Len(t, w.seen, 6)
	require.Equal(t, mailstore.Backfill{State: mailstore.BackfillDone, Pages: 3, Messages: 6, Estimate: 6},
		w.state().Backfill)
}

// A token of a page does not last for ever. The backfill begins again, fetches nothing twice, and ends.
func TestBackfillWhosePageIsRefused(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.cfg.PageSize, w.cfg.Logger = 2, slog.New(slog.DiscardHandler)
		w.arriveMany(6)
		w.server.Fault(gmailtest.Fault{Method: gmailtest.MessagesList, Nth: 3, Status: http.StatusBadRequest,
			Message: "Invalid pageToken"})
		w.run(NewBackfillJob(w.account, "", ""))
		require.Equal(t, map[queue.State]int{queue.StateCompleted: 5}, w.jobs("backfill.gmail"),
			"the third one lists the first page")
		require.Equal(t, mailstore.Backfill{State: mailstore.BackfillDone, Pages: 3, Messages: 6, Estimate: 6},
			w.state().Backfill)
		require.Len(t, w.seen, 6)
		require.Equal(t, 6, w.server.Counts()[gmailtest.MessagesGet])

		w.run(NewBackfillJob(w.account, "", "of another year"))
		require.Equal(t, mailstore.BackfillDone, w.state().Backfill.State)
	})
}

// A server that refuses each page but the first is not asked for ever.
func TestBackfillWhosePagesAreAllRefused(t *testing.T) {
	w := newWorld(t)
	w.cfg.PageSize, w.cfg.Logger = 2, slog.New(slog.DiscardHandler)
	w.arriveMany(6)
	w.wire.Before = func(r *http.Request) {
		if query := r.URL.Query(); query.Has("pageToken") {
			query.Set("pageToken", "refused")
			r.URL.RawQuery = query.Encode()
		}
	}
	w.run(NewBackfillJob(w.account, "", ""))
	require.Equal(t, map[queue.State]int{queue.StateCompleted: 1 + maxRestarts, queue.StateFailed: 1},
		w.jobs("backfill.gmail"))
	require.Len(t, w.seen, 2)
	require.Equal(t, mailstore.BackfillFailed, w.state().Backfill.State)
	require.Contains(t, w.state().Backfill.Error, "400")

	w.run(NewBackfillJob(w.account, "label:inbox", ""))
	require.Equal(t, "label:inbox", w.state().Backfill.Query, "another one takes the place of one that has failed")
}

// A backfill whose first page cannot be listed has failed as well, and one that is tried again has not.
func TestBackfillThatNeverBegins(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.arriveMany(1)
		w.server.Fault(gmailtest.Fault{Method: gmailtest.MessagesList, Status: 503})
		w.server.Fault(gmailtest.Fault{Method: gmailtest.MessagesList, Nth: 2, Status: 403})
		job := w.run(NewBackfillJob(w.account, "in:inbox", ""))
		require.Equal(t, 2, w.job(job).Attempt)
		failed := w.state().Backfill
		require.Equal(t, mailstore.BackfillFailed, failed.State)
		require.Equal(t, "in:inbox", failed.Query)
		w.run(NewBackfillJob(w.account, failed.Query, failed.Page))
		require.Equal(t, mailstore.BackfillDone, w.state().Backfill.State)
		require.Empty(t, w.state().Backfill.Error)
	})
}

// What a host does for a new account, in whatever order the jobs run: each message is fetched once.
func TestFirstBackfillAndFirstSyncFetchNothingTwice(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.cfg.PageSize = 20
		for range 25 {
			w.arrive(recent(), "INBOX")
			w.arrive(plainMail, "INBOX")
		}
		w.run(NewHistorySyncJob(w.account, 0), NewLabelsSyncJob(w.account), NewBackfillJob(w.account, "", ""))
		w.run(NewHistorySyncJob(w.account, 0), NewHistorySyncJob(w.account, w.latest()))
		require.Len(t, w.seen, 50)
		require.Equal(t, 50, w.server.Counts()[gmailtest.MessagesGet])
		require.Equal(t, map[queue.State]int{queue.StateCompleted: 50}, w.jobs("ingest.gmail"))
		require.Empty(t, w.jobs("reconcile.gmail"))
	})
}

func TestBackfillOfARange(t *testing.T) {
	w := newWorld(t)
	w.arriveOld("INBOX")
	starred := w.arrive(recent(), "INBOX", "STARRED")
	plain := w.arrive(recent(), "INBOX")
	day := 24 * time.Hour
	w.run(NewBackfillJob(w.account, BackfillQuery("is:starred OR is:important", time.Now().Add(-day),
		time.Now().Add(day)), ""))
	require.Equal(t, []string{starred}, w.seen)
	w.run(NewBackfillJob(w.account, BackfillQuery("", time.Now().Add(-day), time.Time{}), ""))
	require.Equal(t, []string{starred, plain}, w.seen)

	at := time.Unix(1774868400, 5)
	for want, query := range map[string]string{
		"":                                   BackfillQuery("", time.Time{}, time.Time{}),
		"is:starred":                         BackfillQuery("is:starred", time.Time{}, time.Time{}),
		"after:1774868400":                   BackfillQuery("", at, time.Time{}),
		"before:1774868401 (a OR b)":         BackfillQuery("a OR b", time.Time{}, at), // what came just before it is in the same second
		"after:1774868400 before:1774868402": BackfillQuery("", at, at.Add(time.Second)),
		"before:1774868400":                  BackfillQuery("", time.Time{}, at.Truncate(time.Second)),
	} {
		require.Equal(t, want, query)
	}
}

func TestBackfillOfSpamAndTrash(t *testing.T) {
	w := newWorld(t)
	w.arrive(plainMail, "SPAM")
	w.arrive(plainMail, "TRASH")
	w.run(NewBackfillJob(w.account, "", ""))
	require.Empty(t, w.jobs("ingest.gmail"))
	w.cfg.SpamAndTrash = true
	w.run(NewBackfillJob(w.account, "", ""))
	require.Equal(t, map[queue.State]int{queue.StateCompleted: 2}, w.jobs("ingest.gmail"))
	require.Empty(t, w.seen, "they are stored and not handed on")
}

func TestBackfillOfASearch(t *testing.T) {
	w := newWorld(t)
	w.arrive(plainMail, "INBOX")
	starred := w.arrive(plainMail, "STARRED")
	w.run(NewBackfillJob(w.account, "is:starred", ""))
	require.Equal(t, []string{starred}, w.seen)
}

func TestEmptyMailbox(t *testing.T) {
	w := newWorld(t)
	w.run(NewBackfillJob(w.account, "", ""))
	require.Equal(t, mailstore.BackfillDone, w.state().Backfill.State)
}

func TestKeys(t *testing.T) {
	tests := []struct {
		name string
		job  queue.NewJob
		want queue.Key
	}{
		{"first page", NewBackfillJob("a", "", ""), queue.WhileUnfinished("backfill.gmail:a:first")},
		{"page", NewBackfillJob("a", "", "p2"), queue.WhileUnfinished("backfill.gmail:a:p2")},
		{"page of a search", NewBackfillJob("a", "is:starred", "p2"), queue.WhileUnfinished("backfill.gmail:a:is:starred:p2")},
		{"page of a backfill that has begun again", BackfillPayload{AccountID: "a", PageToken: "p2", Restarts: 1}.job(), queue.WhileUnfinished("backfill.gmail:a:p2:again:1")},
		{"fallback", BackfillPayload{AccountID: "a", Query: "newer_than:7d", Gap: 9}.job(), queue.WhileUnfinished("backfill.gmail:a:fallback:9:first")},
		{"push", NewHistorySyncJob("a", 9), queue.WhileUnfinished("history.sync.gmail:a:9")},
		{"poll", NewHistorySyncJob("a", 0), queue.WhileUnfinished("history.sync.gmail:a")},
		{"labels", NewLabelsSyncJob("a"), queue.WhileUnfinished("labels.sync.gmail:a")},
		{"ingest", NewIngestJob("a", "m"), queue.Forever("ingest.gmail:a:m")},
		{"ingest after a gap", IngestPayload{AccountID: "a", MessageID: "m", Gap: 9}.job(priorityNew), queue.Forever("ingest.gmail:a:m:9")},
		{"action", NewActionJob("a", "x"), queue.WhileUnfinished("action.gmail:a:x")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, tt.job.Key) })
	}
	require.Equal(t, NewLabelsSyncJob("a", "x", "y", "x"), NewLabelsSyncJob("a", "y", "x"))
	require.NotEqual(t, NewLabelsSyncJob("a", "x").Key, NewLabelsSyncJob("a", "y").Key)
}
