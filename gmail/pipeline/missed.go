package pipeline

import (
	"context"
	"errors"

	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/queue"
)

// A message is listed once, and its ingest job has its key for ever: if the job fails, nothing but the reconciliation
// of a later day fetches the message. So a start retries these jobs.

// Missed lists the failed ingest jobs of an account, newest first, without those of broken messages, which a person
// retries after a repair.
func (b *Backlog) Missed(ctx context.Context, accountID string) ([]queue.Job, error) {
	broken, err := b.mail.Broken(ctx, accountID)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for i := range broken {
		known[broken[i].JobID] = true
	}
	filter := queue.Filter{Types: []string{string(gmail.JobIngest)}, LimitKey: mailstore.LimitKey(accountID),
		States: []queue.State{queue.StateFailed}}
	return b.jobsOf(ctx, filter, func(j *queue.Job) bool { return !known[j.ID] })
}

// EndedByCrashes reports whether a failed job may be what kills its workers: a program that retries it at each start
// may never run.
func EndedByCrashes(j *queue.Job) bool { return j.Crashes > 0 && j.Failures == 0 }

// RetryMissed retries the ingest jobs of the account that have failed, but for those that may kill their workers. Run
// and RunUntilIdle do so for each account at their start.
func (p *Pipeline) RetryMissed(ctx context.Context, accountID string) error {
	jobs, err := p.Backlog.Missed(ctx, accountID)
	if err != nil {
		return err
	}
	for i := range jobs {
		if EndedByCrashes(&jobs[i]) {
			continue
		}
		err := p.Queue.Retry(ctx, jobs[i].ID)
		if err != nil && !errors.Is(err, queue.ErrNotFinished) && !errors.Is(err, queue.ErrJobNotFound) {
			return err
		}
	}
	return nil
}
