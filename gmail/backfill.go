package gmail

import (
	"context"

	"github.com/postroom-go/postroom/queue"
)

// backfill lists one page and commits in one transaction: the ingest jobs of its messages, the job of the next page, the
// progress of the account, and its own completion.
func (j *jobs) backfill(ctx context.Context, w *queue.Work[BackfillPayload]) error {
	account, client, err := j.open(ctx, w.Payload.AccountID)
	if err != nil {
		return Verdict(err)
	}
	// The cursor is read before the first listing, so that changes during the listing lie after it and a history sync sees
	// them.
	var profile Profile
	if account.HistoryID == 0 {
		if profile, err = client.Profile(ctx); err != nil {
			return Verdict(err)
		}
	}
	page, err := client.ListMessages(ctx, MessageList{
		Query: w.Payload.Query, IncludeSpamTrash: j.SpamAndTrash, PageToken: w.Payload.PageToken, Max: j.PageSize,
	})
	if err != nil {
		return Verdict(err)
	}
	return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
		if err := j.recordPage(ctx, tx, w.Payload, page, profile); err != nil {
			return err
		}
		_, err := w.Queue().EnqueueManyTx(ctx, tx, pageJobs(w.Payload, page))
		return err
	})
}

func pageJobs(payload BackfillPayload, page MessagePage) []queue.NewJob {
	jobs := make([]queue.NewJob, 0, len(page.IDs)+1)
	for _, id := range page.IDs {
		jobs = append(jobs, IngestPayload{AccountID: payload.AccountID, MessageID: id, Gap: payload.Gap}.job())
	}
	if page.NextPageToken != "" {
		payload.PageToken = page.NextPageToken
		jobs = append(jobs, payload.job())
	}
	return jobs
}

// recordPage records the progress of the backfill. It sets the cursor only if there is none: the history after another cursor
// is yet to be read by a sync.
func (j *jobs) recordPage(ctx context.Context, tx queue.Tx, payload BackfillPayload, page MessagePage, profile Profile) error {
	cursor, err := j.Store.lockCursor(ctx, tx, payload.AccountID)
	if err != nil {
		return err
	}
	if cursor == 0 && profile.HistoryID != 0 {
		if err := j.Store.moveCursor(ctx, tx, payload.AccountID, profile.HistoryID, true); err != nil {
			return err
		}
	}
	if payload.PageToken == "" {
		if err := j.Store.startBackfill(ctx, tx, payload.AccountID, payload.Query); err != nil {
			return err
		}
	}
	return j.Store.moveBackfill(ctx, tx, payload.AccountID, payload.Query, page.NextPageToken)
}
