package queue

import (
	"context"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
)

// A job that coalesces, and was to run again, is canceled by [driver.Finisher].Finish if another already waits under its key. The
// reported outcome is the cancellation, not the retry that its handler's error requested.

// coalescing names the job if it may have been superseded.
func coalescing(job *Job, out *driver.Outcome, answer error) (ids []string) {
	if answer == nil && out.State == StateQueued && job.Key.Scope == driver.KeyCoalesce {
		ids = append(ids, job.ID)
	}
	return ids
}

// superseded returns, for jobs that the transaction has ended and that will not run again, the text that names the jobs that
// superseded them.
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

// unless turns the event of an attempt's end into that of its job, if the job was superseded.
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
