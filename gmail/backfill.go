package gmail

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/queue"
)

// maxRestarts is how often a list begins again when the token of a page is refused. A server may refuse each.
const maxRestarts = 3

// BackfillQuery returns a search for the mail that Gmail received in a time range and that query finds, for
// [NewBackfillJob]. It begins at from and ends before to, in whole seconds that omit nothing of the range. A zero
// time leaves that end open, and an empty query finds all mail. Gmail reads a date as midnight in California, so the
// range is in seconds of the Unix epoch.
func BackfillQuery(query string, from, to time.Time) string {
	var terms []string
	if !from.IsZero() {
		terms = append(terms, fmt.Sprintf("after:%d", from.Unix()))
	}
	if !to.IsZero() {
		terms = append(terms, fmt.Sprintf("before:%d", to.Add(time.Second-1).Unix()))
	}
	switch {
	case query != "" && len(terms) > 0:
		terms = append(terms, "("+query+")")
	case query != "":
		return query
	}
	return strings.Join(terms, " ")
}

// backfill lists one page. It marks the account's backfill as failed if no further attempt follows.
func (j *jobs) backfill(ctx context.Context, w *queue.Work[BackfillPayload]) error {
	cause := j.backfillPage(ctx, w)
	if cause == nil || w.Payload.Recent || ctx.Err() != nil || !w.Ends(cause) {
		return cause
	}
	err := w.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		return j.Store.Progress().FailBackfill(ctx, tx, w.Payload.AccountID, w.Payload.Query, cause)
	})
	if err != nil {
		return errors.Join(cause, err)
	}
	return cause
}

// backfillPage lists one page and commits in one transaction: the ingest jobs of its messages, the job of the next
// page, the progress of the account, and its own completion.
func (j *jobs) backfillPage(ctx context.Context, w *queue.Work[BackfillPayload]) error {
	account, client, err := j.open(ctx, w.Payload.AccountID)
	if err != nil {
		return gmailapi.Verdict(err)
	}
	payload := w.Payload
	page, profile, err := j.listPage(ctx, client, account, payload)
	if gmailapi.IsPageRefused(payload.PageToken, err) && payload.Restarts < maxRestarts {
		j.Logger.WarnContext(ctx, "Gmail refuses the token of a page; the backfill begins again", "account", account.Email,
			"query", payload.Query)
		payload.PageToken, payload.Restarts = "", payload.Restarts+1
		page, profile, err = j.listPage(ctx, client, account, payload)
	}
	if err != nil {
		return gmailapi.Verdict(err)
	}
	return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
		if err := j.recordPage(ctx, tx, payload, page, profile); err != nil {
			return err
		}
		if page.IDs, err = j.Store.Copies().NotStored(ctx, tx, payload.AccountID, page.IDs); err != nil {
			return err
		}
		if _, err := w.Queue().EnqueueManyTx(ctx, tx, pageJobs(payload, page)); err != nil {
			return err
		}
		return j.enqueueIndex(ctx, tx, w.Queue(), payload.AccountID)
	})
}

// listPage lists the page, and reads the profile if necessary. The cursor is read before the first listing, so that a
// history sync sees changes during the listing. The number of messages is for the progress.
func (j *jobs) listPage(ctx context.Context, client *gmailapi.Client, account mailstore.Account,
	p BackfillPayload) (page gmailapi.MessagePage, profile gmailapi.Profile, err error) {
	if account.HistoryID == 0 || p.PageToken == "" && p.Query == "" {
		if profile, err = j.profile(ctx, client, account); err != nil {
			return page, profile, err
		}
	}
	page, err = client.ListMessages(ctx, gmailapi.MessageList{
		Query: p.Query, IncludeSpamTrash: j.SpamAndTrash, PageToken: p.PageToken, Max: j.PageSize,
	})
	return page, profile, err
}

func pageJobs(payload BackfillPayload, page gmailapi.MessagePage) []queue.NewJob {
	priority := priorityBackfill
	if payload.Recent || payload.Gap != 0 {
		priority = priorityMissed
	}
	jobs := make([]queue.NewJob, 0, len(page.IDs)+1)
	for _, id := range page.IDs {
		jobs = append(jobs, IngestPayload{AccountID: payload.AccountID, MessageID: id, Gap: payload.Gap}.job(priority))
	}
	if page.NextPageToken != "" {
		payload.PageToken = page.NextPageToken
		jobs = append(jobs, payload.job())
	}
	return jobs
}

// recordPage records the progress of the backfill. It sets the cursor only if there is none: a sync has yet to read
// the history after an existing cursor.
func (j *jobs) recordPage(ctx context.Context, tx queue.Tx, payload BackfillPayload, page gmailapi.MessagePage,
	profile gmailapi.Profile) error {
	cursor, err := j.Store.Progress().LockCursor(ctx, tx, payload.AccountID)
	if err != nil {
		return err
	}
	if cursor == 0 && profile.HistoryID != 0 {
		if err := j.Store.Progress().StartCursor(ctx, tx, payload.AccountID, profile.HistoryID, profile.At); err != nil {
			return err
		}
	}
	if payload.Recent {
		return nil
	}
	if payload.PageToken == "" {
		estimate := page.Estimate
		if payload.Query == "" {
			estimate = profile.Messages
		}
		if err := j.Store.Progress().StartBackfill(ctx, tx, payload.AccountID, payload.Query, estimate); err != nil {
			return err
		}
	}
	return j.Store.Progress().MoveBackfill(ctx, tx, payload.AccountID, payload.Query, page)
}
