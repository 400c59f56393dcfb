package gmail

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/queue"
)

func TestHistoryBringsEverythingUpToDate(t *testing.T) {
	w := newWorld(t)
	_, changed := w.known("INBOX", "UNREAD")
	_, deleted := w.known("INBOX")
	w.synced()
	cursor := w.state().HistoryID
	w.seen = nil

	w.modify(changed, remove("UNREAD"))
	w.modify(changed, add("STARRED"))
	require.NoError(t, w.google.Users.Messages.Delete("me", deleted).Do())
	added := w.arrive(plainMail, "INBOX")
	vanished := w.arrive(plainMail, "INBOX")
	require.NoError(t, w.google.Users.Messages.Delete("me", vanished).Do())

	job := w.job(w.run(NewHistorySyncJob(w.account, w.latest())))
	require.Equal(t, queue.StateCompleted, job.State, job.LastError)
	require.Equal(t, 2, job.Priority)
	require.Equal(t, []string{added}, w.seen)
	atGmail, here := w.labels(changed)
	require.Equal(t, []string{"INBOX", "STARRED"}, here)
	require.Equal(t, atGmail, here)
	n, err := w.store.CountMessages(t.Context(), w.account)
	require.NoError(t, err)
	require.Equal(t, 2, n, "the changed one and the new one")

	require.Equal(t, w.latest(), w.state().HistoryID)
	require.Contains(t, w.listings()[0], fmt.Sprintf("startHistoryId=%d", cursor), "never from the push's id")
}

// listings are the queries of the history calls so far.
func (w *world) listings() (queries []string) {
	for _, call := range w.server.Calls() {
		if call.Method == gmailtest.HistoryList {
			queries = append(queries, call.Query)
		}
	}
	return queries
}

func TestPushThatIsLateOrDoubled(t *testing.T) {
	w := newWorld(t)
	w.arrive(plainMail, "INBOX")
	w.synced()
	w.run(NewHistorySyncJob(w.account, w.latest()))
	w.run(NewHistorySyncJob(w.account, 1))
	require.Empty(t, w.listings(), "what a push tells is known already")
	w.run(NewHistorySyncJob(w.account, 0))
	require.Len(t, w.listings(), 1, "a poll asks")
}

func TestHistoryGapLosesNothing(t *testing.T) {
	tests := []struct {
		name  string
		since time.Duration // since the last sync
		query string
	}{
		{"hours", 3 * time.Hour, "newer_than:1d"},
		{"a day and a half", 36 * time.Hour, "newer_than:2d"},
		{"months", 90 * 24 * time.Hour, "newer_than:30d"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			known := w.arrive(recent(), "INBOX")
			w.run(NewIngestJob(w.account, known))
			w.synced()
			w.exec(`UPDATE accounts SET last_sync_at = $1`,
				time.Now().Add(-tt.since).UTC().Format("2006-01-02T15:04:05.000000Z"))
			missed := w.arrive(recent(), "INBOX")
			w.modify(known, add("STARRED"))
			require.NoError(t, w.server.ForgetHistory(t.Context()))
			w.arrive(plainMail, "TRASH") // history goes on

			// A message that arrives after the profile was read is history again.
			var late string
			var once sync.Once
			w.wire.Before = func(r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "/messages") {
					once.Do(func() { late = w.arrive(recent(), "INBOX") })
				}
			}
			latest := w.latest()
			job := w.job(w.run(NewHistorySyncJob(w.account, latest)))
			require.Equal(t, queue.StateCompleted, job.State, job.LastError)
			require.Equal(t, latest, w.state().HistoryID)
			w.run(NewHistorySyncJob(w.account, 0))
			require.ElementsMatch(t, []string{known, missed, late}, w.seen, "each once")
			_, here := w.labels(known)
			require.Equal(t, []string{"INBOX", "STARRED"}, here, "what changed in the gap")
			require.Equal(t, tt.query, w.recentQuery())
			require.Equal(t, mailstore.BackfillNone, w.state().Backfill.State, "it is none that a host has asked for")
		})
	}
}

// recent is a mail whose date a search for new mail finds.
func recent() string {
	return "From: zoe@example.org\r\nSubject: Now\r\nDate: " + time.Now().Format(time.RFC1123Z) + "\r\n\r\nNow.\r\n"
}

func (w *world) exec(statement string, args ...any) {
	w.t.Helper()
	write(w.t, w.store, func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, statement, args...)
		return err
	})
}

func TestGapDays(t *testing.T) {
	now := time.Date(2026, 3, 7, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		name string
		last time.Time
		want int
	}{
		{"never", time.Time{}, 7},
		{"just now", now, 1},
		{"a clock that was ahead", now.Add(48 * time.Hour), 1},
		{"a day that has begun counts whole", now.Add(-25 * time.Hour), 2},
		{"long ago", now.AddDate(-1, 0, 0), 30},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, gapDays(tt.last, now)) })
	}
}

func TestSyncThatWasNeverBegun(t *testing.T) {
	w := newWorld(t)
	id := w.arrive(recent(), "INBOX")
	w.run(NewHistorySyncJob(w.account, 0))
	require.Equal(t, []string{id}, w.seen)
	require.Equal(t, "newer_than:7d", w.recentQuery())
	require.Equal(t, w.latest(), w.state().HistoryID)

	older := w.arriveOld("INBOX")
	w.seen = nil
	require.Equal(t, mailstore.BackfillNone, w.state().Backfill.State, "older mail is yet to be asked for")
	w.run(NewBackfillJob(w.account, "", ""))
	require.Equal(t, []string{older}, w.seen)
	require.Equal(t, mailstore.BackfillDone, w.state().Backfill.State)
}

// recentQuery is the search of the one job that has listed recent messages for a sync.
func (w *world) recentQuery() string {
	w.t.Helper()
	jobs, err := w.queue.Jobs(w.t.Context(), queue.Filter{Types: []string{string(JobBackfill)}})
	require.NoError(w.t, err)
	require.Len(w.t, jobs, 1)
	var p BackfillPayload
	require.NoError(w.t, json.Unmarshal(jobs[0].Payload, &p))
	require.True(w.t, p.Recent)
	return p.Query
}

// pages answers history.list by page token; a page that is not there is an error of the server.
func (w *world) pages(pages map[string]string) (asked *[]string) {
	asked = new([]string)
	w.answering(func(r *http.Request) string {
		token := r.URL.Query().Get("pageToken")
		*asked = append(*asked, r.URL.Query().Get("startHistoryId")+" "+token)
		return pages[token]
	})
	return asked
}

func (w *world) cursorAt(historyID uint64) {
	w.t.Helper()
	write(w.t, w.store, func(ctx context.Context, tx queue.Tx) error {
		return w.store.Progress().MoveCursor(ctx, tx, w.account, historyID, true)
	})
}

func addedRecord(historyID int, messageID string) string {
	return fmt.Sprintf(`{"id":"%d","messages":[{"id":%q}],"messagesAdded":[{"message":{"id":%q}}]}`, historyID,
		messageID, messageID)
}

func TestHistoryOfSeveralPages(t *testing.T) {
	w := newWorld(t)
	w.cursorAt(10)
	asked := w.pages(map[string]string{
		"":   `{"history":[` + addedRecord(12, "m1") + `,` + addedRecord(15, "m2") + `],"nextPageToken":"p2","historyId":"30"}`,
		"p2": `{"nextPageToken":"p3","historyId":"30"}`,
		"p3": `{"history":[` + addedRecord(20, "m3") + `],"historyId":"30"}`,
	})
	w.syncOnly()
	require.Equal(t, []string{"10 ", "10 p2", "10 p3"}, *asked)
	require.Equal(t, map[queue.State]int{queue.StateQueued: 3}, w.jobs("ingest.gmail"))
	require.EqualValues(t, 30, w.state().HistoryID)
}

// syncOnly runs a history sync and leaves what it queues.
func (w *world) syncOnly() {
	w.t.Helper()
	_, err := w.queue.Enqueue(w.t.Context(), NewHistorySyncJob(w.account, 0))
	require.NoError(w.t, err)
	d, err := queue.NewDispatcher(w.queue, &queue.DispatcherConfig{PollInterval: 20 * time.Millisecond})
	require.NoError(w.t, err)
	cfg, err := w.cfg.withDefaults()
	require.NoError(w.t, err)
	queue.Handle(d, JobHistorySync, (&jobs{Config: cfg}).syncHistory)
	require.NoError(w.t, d.RunUntilIdle(w.t.Context()))
}

// A sync that breaks off has kept what it read, and goes on from there, with the last record once more.
func TestHistoryGoesOnWhereItStopped(t *testing.T) {
	w := newWorld(t)
	w.cursorAt(10)
	pages := map[string]string{
		"":   `{"history":[` + addedRecord(12, "m1") + `,` + addedRecord(15, "m2") + `],"nextPageToken":"p2","historyId":"30"}`,
		"p2": `<html>out of order</html>`,
	}
	asked := w.pages(pages)
	w.syncOnly()
	require.EqualValues(t, 14, w.state().HistoryID)
	require.Equal(t, map[queue.State]int{queue.StateQueued: 2}, w.jobs("ingest.gmail"))

	pages[""] = `{"history":[` + addedRecord(15, "m2") + `,` + addedRecord(15, "m3") + `],"historyId":"30"}`
	*asked = nil
	w.syncOnly()
	require.Equal(t, []string{"14 "}, *asked)
	require.EqualValues(t, 30, w.state().HistoryID)
	require.Equal(t, map[queue.State]int{queue.StateQueued: 3}, w.jobs("ingest.gmail"), "the one seen twice is one job")
}

func TestCursorOfAPage(t *testing.T) {
	events := func(ids ...uint64) (events []gmailapi.HistoryEvent) {
		for _, id := range ids {
			events = append(events, gmailapi.HistoryEvent{HistoryID: id, Kind: gmailapi.MessageAdded})
		}
		return events
	}
	tests := []struct {
		name string
		page gmailapi.HistoryPage
		want uint64
	}{
		{"last page", gmailapi.HistoryPage{Events: events(3, 5), HistoryID: 9}, 9},
		{"more to come", gmailapi.HistoryPage{Events: events(3, 5), HistoryID: 9, NextPageToken: "p"}, 4},
		{"more to come, and nothing here", gmailapi.HistoryPage{HistoryID: 9, NextPageToken: "p"}, 0},
		{"a record without an id", gmailapi.HistoryPage{Events: events(0), NextPageToken: "p"}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, cursorAfter(tt.page)) })
	}
}

func TestCursorOnlyMovesForward(t *testing.T) {
	w := newWorld(t)
	w.cursorAt(10)
	w.answering(func(*http.Request) string {
		w.cursorAt(50) // another sync is faster
		return `{"history":[` + addedRecord(12, "m1") + `],"historyId":"30"}`
	})
	w.syncOnly()
	require.EqualValues(t, 50, w.state().HistoryID)
	require.Equal(t, map[queue.State]int{queue.StateQueued: 1}, w.jobs("ingest.gmail"))
}

// Two syncs find the same gap: one closes it, the other goes on from there.
func TestGapFoundTwice(t *testing.T) {
	w := newWorld(t)
	w.arrive(plainMail, "INBOX")
	w.synced()
	w.arrive(plainMail, "INBOX")
	require.NoError(t, w.server.ForgetHistory(t.Context()))
	w.arrive(plainMail, "TRASH")
	other := w.latest()
	moved := false
	w.wire.Before = func(r *http.Request) {
		if !moved && strings.HasSuffix(r.URL.Path, "/profile") {
			moved = true
			w.cursorAt(other)
		}
	}
	job := w.job(w.run(NewHistorySyncJob(w.account, 0)))
	require.Equal(t, queue.StateCompleted, job.State, job.LastError)
	require.Equal(t, 1, job.Interruptions)
	require.Zero(t, job.Failures)
	require.Empty(t, w.jobs("backfill.gmail"), "the other one has queued it")
}
