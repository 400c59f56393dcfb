package queueui

import (
	"context"
	"errors"
	"slices"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

// stateMoving is a state in addition to the queue's: a move to or from another database holds the job.
const stateMoving = "moving"

// maxMoving bounds the known jobs that are being moved. A move holds far fewer at a time.
const maxMoving = 10_000

// moving returns the ids of the jobs that are being moved, oldest first.
func (h *Handler) moving(ctx context.Context) ([]string, error) {
	return queueadmin.MovingJobs(ctx, h.q, maxMoving)
}

// movingJobs lists, newest first, the jobs with the ids that are older than before: one more than fits a page.
func (h *Handler) movingJobs(
	ctx context.Context, ids []string, chosen jobsFilter, before string,
) (jobs []queue.Job, err error) {
	for _, id := range slices.Backward(ids) {
		if before != "" && id >= before {
			continue
		}
		job, err := h.q.Job(ctx, id)
		if errors.Is(err, queue.ErrJobNotFound) {
			continue // it was just deleted
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

// fits reports whether the job matches the filter, apart from its state.
func (f jobsFilter) fits(job *queue.Job) bool {
	return (f.Type == "" || job.Type == f.Type) && (f.User == "" || job.UserID == f.User) &&
		(f.Tag == "" || slices.Contains(job.Tags, f.Tag))
}
