package queueui

import (
	"context"
	"errors"
	"slices"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

// stateMoving stands beside the states: a move to or from another database holds the job.
const stateMoving = "moving"

// maxMoving bounds how many jobs that are being moved are known: a move holds far fewer at a time.
const maxMoving = 10_000

// moving are the ids of the jobs that are being moved, oldest first.
func (h *Handler) moving(ctx context.Context) ([]string, error) {
	return queueadmin.MovingJobs(ctx, h.q, maxMoving)
}

// movingJobs lists one job more than fits a page, newest first, of those with the ids that are older than before.
func (h *Handler) movingJobs(ctx context.Context, ids []string, chosen jobsFilter, before string) (jobs []queue.Job, err error) {
	for _, id := range slices.Backward(ids) {
		if before != "" && id >= before {
			continue
		}
		job, err := h.q.Job(ctx, id)
		if errors.Is(err, queue.ErrJobNotFound) {
			continue // it has gone this moment
		}
		if err != nil {
			return nil, err
		}
		if chosen.fits(job) {
			jobs = append(jobs, *job)
		}
		if len(jobs) > pageSize {
			break
		}
	}
	return jobs, nil
}

// fits reports whether the job is one of those that were chosen, apart from its state.
func (f jobsFilter) fits(job *queue.Job) bool {
	return (f.Type == "" || job.Type == f.Type) && (f.User == "" || job.UserID == f.User) &&
		(f.Tag == "" || slices.Contains(job.Tags, f.Tag))
}
