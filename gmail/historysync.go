package gmail

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/queue"
)

// syncHistory reads the history since the cursor. Each page is one transaction: its ingest jobs, its changes to
// stored messages, and the cursor's move past it; the last one completes the job as well. All of it can be repeated.
func (j *jobs) syncHistory(ctx context.Context, w *queue.Work[HistorySyncPayload]) error {
	account, client, err := j.open(ctx, w.Payload.AccountID)
	if err != nil {
		return gmailapi.Verdict(err)
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
		case gmailapi.ClassOf(err) == gmailapi.ClassHistoryExpired:
			return j.resync(ctx, w, client, account)
		case err != nil:
			return gmailapi.Verdict(err)
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

func (j *jobs) applyPage(ctx context.Context, tx queue.Tx, w *queue.Work[HistorySyncPayload],
	page gmailapi.HistoryPage) error {
	accountID := w.Payload.AccountID
	cursor, err := j.Store.Progress().LockCursor(ctx, tx, accountID)
	if err != nil {
		return err
	}
	ingests, err := j.applyEvents(ctx, tx, accountID, page.Events)
	if err != nil {
		return err
	}
	if len(ingests) > 0 {
		if _, err := w.Queue().EnqueueManyTx(ctx, tx, ingests); err != nil {
			return err
		}
	}
	if page.NextPageToken == "" {
		if err := j.enqueueIndex(ctx, tx, w.Queue(), accountID); err != nil {
			return err
		}
	}
	// Another sync may have come further meanwhile.
	return j.Store.Progress().MoveCursor(ctx, tx, accountID, max(cursor, cursorAfter(page)), page.NextPageToken == "")
}

// applyEvents stores the changes of a page and reports them to the host. It returns the ingest jobs of the messages
// that came.
func (j *jobs) applyEvents(ctx context.Context, tx queue.Tx, accountID string,
	events []gmailapi.HistoryEvent) (ingests []queue.NewJob, err error) {
	changes := labelChanges{jobs: j, accountID: accountID}
	for _, event := range events {
		switch event.Kind {
		case gmailapi.MessageAdded:
			ingests = append(ingests, NewIngestJob(accountID, event.MessageID))
		case gmailapi.MessageDeleted:
			if err = changes.report(ctx, tx, event.MessageID); err == nil {
				_, err = j.deleted(ctx, tx, DeletedEvent{AccountID: accountID, ProviderID: event.MessageID,
					Source: SourceHistory, HistoryID: event.HistoryID})
			}
		case gmailapi.LabelsAdded, gmailapi.LabelsRemoved:
			err = changes.apply(ctx, tx, event)
		}
		if err != nil {
			return nil, err
		}
	}
	return ingests, changes.report(ctx, tx, changes.order...)
}

// labelChanges are the changes of labels that a page of the history holds. Those of one message are reported as one:
// an action of ours and its undo, stored when they were made, are replayed by the history, and are no change
// together.
type labelChanges struct {
	*jobs
	accountID string
	order     []string // Gmail's ids
	steps     map[string]*mailstore.LabelStep
}

func (c *labelChanges) apply(ctx context.Context, tx queue.Tx, event gmailapi.HistoryEvent) error {
	step, err := c.Store.Copies().ChangeLabels(ctx, tx, c.accountID, event)
	if err != nil || step == nil {
		return err
	}
	if first := c.steps[event.MessageID]; first != nil {
		first.After, first.HistoryID = step.After, step.HistoryID
		return nil
	}
	if c.steps == nil {
		c.steps = make(map[string]*mailstore.LabelStep)
	}
	c.steps[event.MessageID] = step
	c.order = append(c.order, event.MessageID)
	return nil
}

// report reports the changes of the messages that were not reported before.
func (c *labelChanges) report(ctx context.Context, tx queue.Tx, providerIDs ...string) error {
	for _, id := range providerIDs {
		step := c.steps[id]
		if step == nil {
			continue
		}
		delete(c.steps, id)
		err := c.labelsChanged(ctx, tx, LabelsEvent{
			AccountID: c.accountID, MessageID: step.MessageID, ProviderID: id, Source: SourceHistory,
			HistoryID: step.HistoryID, Change: step.After.ChangeFrom(step.Before), Labels: step.After,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// cursorAfter returns the cursor after the page. After the last page that is the mailbox's history id. After others
// it is one less than the id of the last record, so that the next page, which may begin with the same id, is not
// missed.
func cursorAfter(p gmailapi.HistoryPage) uint64 {
	switch {
	case p.NextPageToken == "":
		return p.HistoryID
	case len(p.Events) == 0:
		return 0 // QUIRK: Gmail sends pages without records and with a next page
	}
	return max(p.Events[len(p.Events)-1].HistoryID, 1) - 1
}

var errCursorMoved = errors.New("gmail: another job has moved the account's cursor")

// resync continues if the history is lost, or was never read. The profile is read first, so that later changes are
// history again. Earlier mail is found by listing: recent messages first, and after a gap a run that compares
// everything. The cursor, the jobs that list and the completion are one transaction.
func (j *jobs) resync(ctx context.Context, w *queue.Work[HistorySyncPayload], client *gmailapi.Client,
	account mailstore.Account) error {
	profile, err := j.profile(ctx, client, account)
	if err != nil {
		return gmailapi.Verdict(err)
	}
	days := gapDays(account.LastSyncAt, time.Now())
	query := fmt.Sprintf("newer_than:%dd", days)
	gap := account.HistoryID != 0
	if gap {
		j.Logger.WarnContext(ctx, "Gmail has no history from the cursor on; comparing all messages instead",
			"account", account.Email, "cursor", account.HistoryID, "last_sync", account.LastSyncAt, "first", query)
	}
	err = w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
		cursor, err := j.Store.Progress().LockCursor(ctx, tx, account.ID)
		if err != nil {
			return err
		}
		if cursor != account.HistoryID {
			return errCursorMoved
		}
		if gap {
			err = j.Store.Progress().MoveCursor(ctx, tx, account.ID, profile.HistoryID, true)
		} else {
			err = j.Store.Progress().StartCursor(ctx, tx, account.ID, profile.HistoryID, profile.At)
		}
		if err != nil {
			return err
		}
		recent := BackfillPayload{AccountID: account.ID, Query: query, Recent: true}
		if gap {
			recent.Gap = profile.HistoryID
			missed := newRun{cause: ReconcileGap, historyID: profile.HistoryID, since: account.HistoryID}
			if err := j.startRun(ctx, tx, w.Queue(), account.ID, missed); err != nil {
				return err
			}
		}
		_, err = w.Queue().EnqueueTx(ctx, tx, recent.job())
		return err
	})
	if errors.Is(err, errCursorMoved) {
		return queue.Defer(err, time.Second)
	}
	return err
}

// maxGapDays bounds the recent messages that are listed first.
const maxGapDays = 30

// gapDays returns the number of days of recent mail to list first after a gap since the last sync, rounded up; 7 if
// there was no sync.
func gapDays(lastSync, now time.Time) int {
	if lastSync.IsZero() {
		return 7
	}
	return min(max(int(now.Sub(lastSync)/(24*time.Hour))+1, 1), maxGapDays)
}
