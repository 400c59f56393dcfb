package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/queue"
)

// A message is listed once, and its ingest job has its key for ever: if the job fails, nothing but the reconciliation of a later day
// fetches the message. So a start retries these jobs.

// missed lists the failed ingest jobs of an account, newest first, without those of broken messages, which a person retries after a
// repair.
func (b *Backlog) missed(ctx context.Context, accountID string) ([]queue.Job, error) {
	broken, err := b.mail.Broken(ctx, accountID)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for i := range broken {
		known[broken[i].JobID] = true
	}
	filter := queue.Filter{Types: []string{string(gmail.JobIngest)}, LimitKey: mailstore.LimitKey(accountID), States: []queue.State{queue.StateFailed}}
	return b.jobsOf(ctx, filter, func(j *queue.Job) bool { return !known[j.ID] })
}

// endedByCrashes reports whether a failed job may be what kills its workers: a program that retries it at each start may never run.
func endedByCrashes(j *queue.Job) bool { return j.Crashes > 0 && j.Failures == 0 }

// TakeInMissed retries the ingest jobs of the account that have failed.
func (p *Pipeline) TakeInMissed(ctx context.Context) error {
	jobs, err := p.App.Backlog.missed(ctx, p.AccountID)
	if err != nil {
		return err
	}
	for i := range jobs {
		if endedByCrashes(&jobs[i]) {
			continue
		}
		err := p.App.Queue.Retry(ctx, jobs[i].ID)
		if err != nil && !errors.Is(err, queue.ErrNotFinished) && !errors.Is(err, queue.ErrJobNotFound) { // another process was faster
			return err
		}
	}
	return nil
}

// MissedBy says how many messages of an account are not taken in, and why; nil if none.
func (b *Backlog) MissedBy(ctx context.Context, accountID string) (fault, err error) {
	jobs, err := b.missed(ctx, accountID)
	if err != nil || len(jobs) == 0 {
		return nil, err
	}
	last := &jobs[0] // the newest
	again := "by 'postroomd run' or the next run"
	if endedByCrashes(last) {
		again = fmt.Sprintf("by 'postroomd jobs retry %s'", last.ID)
	}
	return fmt.Errorf("%s again %s; the last error, of job %s (%s): %s",
		printer.Count(len(jobs), "message is not taken in, and is tried", "messages are not taken in, and are tried"), again, last.ID, last.Type, last.LastError), nil
}
