package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/queue"
)

// oldReplay is the age at which a replay that has not ended has lost its process: no run takes that long.
const oldReplay = 2 * time.Hour

// Settle ends the runs whose jobs have ended without them, because their process has crashed too often, or because the
// job was canceled, and replays whose process is gone. It returns how many they are. Call it now and then.
func (a *Agent) Settle(ctx context.Context, q *queue.Queue) (settled int, err error) {
	var rows []runRow
	if err := dbquery.Select(ctx, a.cfg.DB.Reader(), &rows, sqlRunning); err != nil {
		return 0, fmt.Errorf("llm/agent: read the runs that have not ended: %w", err)
	}
	for i := range rows {
		end, err := a.lostEnd(ctx, q, &rows[i])
		if err == nil && end != nil {
			settled++
			err = a.cfg.DB.Write(ctx, end)
		}
		if err != nil {
			return settled, fmt.Errorf("llm/agent: settle run %s: %w", rows[i].ID, err)
		}
	}
	return settled, nil
}

// lostEnd returns what ends a run that nobody works on; nil if somebody does.
func (a *Agent) lostEnd(ctx context.Context, q *queue.Queue, r *runRow) (func(context.Context, queue.Tx) error, error) {
	if r.JobID == "" {
		if time.Since(r.StartedAt.Time) < oldReplay {
			return nil, nil
		}
		return func(ctx context.Context, tx queue.Tx) error {
			return failReplay(ctx, tx, r.ID, errors.New("its process has ended"))
		}, nil
	}
	job, err := q.Job(ctx, r.JobID)
	switch {
	case errors.Is(err, queue.ErrJobNotFound):
		return a.failing(r.JobID, "its job is gone"), nil
	case err != nil:
		return nil, err
	case job.State == queue.StateCanceled:
		return func(ctx context.Context, tx queue.Tx) error {
			return a.Cancel(ctx, tx, q, r.ID, "its job was canceled")
		}, nil
	case job.State == queue.StateFailed:
		return a.failing(r.JobID, job.LastError), nil
	}
	return nil, nil
}

func (a *Agent) failing(jobID, cause string) func(context.Context, queue.Tx) error {
	return func(ctx context.Context, tx queue.Tx) error { return a.fail(ctx, tx, jobID, cause) }
}
