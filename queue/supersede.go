package queue

import (
	"context"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
)

// A job that coalesces, and was to run again, is canceled by [driver.Finisher].Finish when another waits under its key already. What
// is reported for it is that, and not what its handler's error asked for.

// coalescing names the job if it may have been superseded.
func coalescing(job *Job, out *driver.Outcome, answer error) (ids []string) {
	if answer == nil && out.State == StateQueued && job.Key.Scope == driver.KeyCoalesce {
		ids = append(ids, job.ID)
	}
	return ids
}

// superseded returns by which job, in words, those of the jobs were superseded that the transaction has ended and that will not
// run again.
func (q *Queue) superseded(ctx context.Context, tx *driver.WriteTx, ids []string) (map[string]string, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	jobs, err := q.driver.ReadJobs(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	why := make(map[string]string, len(jobs))
	for _, job := range jobs {
		if job.State == StateCanceled {
			why[job.ID] = job.LastError
		}
	}
	return why, nil
}

// unless makes of the end of an attempt that of its job, if that was superseded.
func (e Event) unless(superseded string) Event {
	if superseded == "" {
		return e
	}
	e.Kind, e.Error, e.NotBefore = EventCanceled, superseded, time.Time{}
	if e.Ended == driver.KindReleased {
		e.Ended = ""
	}
	return e
}
