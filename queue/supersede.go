package queue

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"
)

// A job that coalesces, and was to run again, is canceled by [Finisher].Finish when another waits under its key already. What
// is told of it is that, and not what its handler's error asked for.

const selectSuperseded = `
SELECT id, last_error
FROM jobs
WHERE state = 'canceled'
  AND id IN (?)`

// coalescing names the job if it may have been superseded.
func coalescing(job *Job, out *Outcome, answer error) (ids []string) {
	if answer == nil && out.State == StateQueued && job.KeyScope == KeyCoalesce {
		ids = append(ids, job.ID)
	}
	return ids
}

// superseded tells by whom, in words, those of the jobs were that the transaction has ended and that will not run again.
func (q *Queue) superseded(ctx context.Context, tx *Tx, ids []string) (map[string]string, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	query, args, err := inQuery(tx.Dialect(), selectSuperseded, ids)
	if err != nil {
		return nil, err
	}
	var rows []struct {
		ID  string `db:"id"`
		Why string `db:"last_error"`
	}
	if err := sqlx.SelectContext(ctx, tx, &rows, query, args...); err != nil {
		return nil, err
	}
	why := make(map[string]string, len(rows))
	for _, r := range rows {
		why[r.ID] = r.Why
	}
	return why, nil
}

// unless makes of the end of an attempt that of its job, if that was superseded.
func (e Event) unless(superseded string) Event {
	if superseded == "" {
		return e
	}
	e.Kind, e.Error, e.NotBefore = EventCanceled, superseded, time.Time{}
	if e.Ended == KindReleased {
		e.Ended = ""
	}
	return e
}
