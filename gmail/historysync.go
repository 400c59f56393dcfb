package gmail

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postroom-go/postroom/queue"
)

// syncHistory reads what happened since the cursor. Each page is one transaction: its ingest jobs, its changes to what is
// stored, and the cursor's move past it; the last one completes the job as well. All of it can be repeated.
func (j *jobs) syncHistory(ctx context.Context, w *queue.Work[HistorySyncPayload]) error {
	account, client, err := j.open(ctx, w.Payload.AccountID)
	if err != nil {
		return Verdict(err)
	}
	if account.HistoryID == 0 {
		return j.resync(ctx, w, client, account)
	}
	if w.Payload.HistoryID != 0 && w.Payload.HistoryID <= account.HistoryID {
		return nil // a push that comes late, or twice
	}
	for token := ""; ; {
		page, err := client.ListHistory(ctx, account.HistoryID, token)
		switch {
		case ClassOf(err) == ClassHistoryExpired:
			return j.resync(ctx, w, client, account)
		case err != nil:
			return Verdict(err)
		case page.NextPageToken == "":
			return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
				return j.applyPage(ctx, tx, w, page)
			})
		}
		err = w.Write(ctx, func(ctx context.Context, tx queue.Tx) error { return j.applyPage(ctx, tx, w, page) })
		if err != nil {
			return err
		}
		token = page.NextPageToken
	}
}

func (j *jobs) applyPage(ctx context.Context, tx queue.Tx, w *queue.Work[HistorySyncPayload], page HistoryPage) error {
	accountID := w.Payload.AccountID
	cursor, err := j.Store.lockCursor(ctx, tx, accountID)
	if err != nil {
		return err
	}
	var ingests []queue.NewJob
	for _, event := range page.Events {
		if event.Kind == MessageAdded {
			ingests = append(ingests, NewIngestJob(accountID, event.MessageID))
			continue
		}
		if err := j.applyEvent(ctx, tx, accountID, event); err != nil {
			return err
		}
	}
	if len(ingests) > 0 {
		if _, err := w.Queue().EnqueueManyTx(ctx, tx, ingests); err != nil {
			return err
		}
	}
	// Another sync may have come further meanwhile.
	return j.Store.moveCursor(ctx, tx, accountID, max(cursor, page.cursor()), page.NextPageToken == "")
}

func (j *jobs) applyEvent(ctx context.Context, tx queue.Tx, accountID string, event HistoryEvent) error {
	if event.Kind == MessageDeleted {
		return j.Store.markDeleted(ctx, tx, accountID, event.MessageID)
	}
	return j.Store.changeLabels(ctx, tx, accountID, event.MessageID, event.HistoryID, event.change())
}

// cursor returns the cursor after the page. After the last page that is the mailbox's history id. After others it is one
// less than the id of the last record, so that the next page, which may begin with the same id, is not missed.
func (p HistoryPage) cursor() uint64 {
	switch {
	case p.NextPageToken == "":
		return p.HistoryID
	case len(p.Events) == 0:
		return 0 // QUIRK: Gmail sends pages without records and with a next page
	}
	return max(p.Events[len(p.Events)-1].HistoryID, 1) - 1
}

var errCursorMoved = errors.New("gmail: another job has moved the account's cursor")

// resync goes on where the history is lost. The profile is read first, so that what changes afterwards is history again;
// what changed before is found by listing recent messages. Cursor, listing job and completion are one transaction.
func (j *jobs) resync(ctx context.Context, w *queue.Work[HistorySyncPayload], client *Client, account Account) error {
	profile, err := client.Profile(ctx)
	if err != nil {
		return Verdict(err)
	}
	days := gapDays(account.LastSyncAt, time.Now())
	query := fmt.Sprintf("newer_than:%dd", days)
	j.Logger.WarnContext(ctx, "Gmail has no history from the cursor on; listing recent messages instead",
		"account", account.Email, "cursor", account.HistoryID, "last_sync", account.LastSyncAt, "query", query)
	if days == maxGapDays {
		j.Logger.WarnContext(ctx, "the gap may be longer than what is listed; a full backfill closes it", "account", account.Email)
	}
	err = w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
		cursor, err := j.Store.lockCursor(ctx, tx, account.ID)
		if err != nil {
			return err
		}
		if cursor != account.HistoryID {
			return errCursorMoved
		}
		if err := j.Store.moveCursor(ctx, tx, account.ID, profile.HistoryID, true); err != nil {
			return err
		}
		fallback := BackfillPayload{AccountID: account.ID, Query: query, Gap: profile.HistoryID}
		_, err = w.Queue().EnqueueTx(ctx, tx, fallback.job())
		return err
	})
	if errors.Is(err, errCursorMoved) {
		return queue.Defer(err, time.Second)
	}
	return err
}

// maxGapDays bounds what a gap in the history makes us list.
const maxGapDays = 30

// gapDays returns the number of days of mail that close a gap since the last sync, rounded up; 7 if there was no sync.
func gapDays(lastSync, now time.Time) int {
	if lastSync.IsZero() {
		return 7
	}
	return min(max(int(now.Sub(lastSync)/(24*time.Hour))+1, 1), maxGapDays)
}
