package queue_test

import (
	"context"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/jobrow"
	"github.com/postroom-go/postroom/queue"
)

// An engine gives jobs the ids that a model gives them.
type engine struct {
	clocked
	ids int
}

func (e *engine) Insert(ctx context.Context, tx *queue.Tx, jobs []queue.InsertJob) ([]queue.InsertResult, error) {
	for i := range jobs {
		e.ids++
		jobs[i].ID = modelID(e.ids)
	}
	return e.Driver.Insert(ctx, tx, jobs)
}

// seen reads all that can be seen of a queue.
func seen(ctx context.Context, t require.TestingT, q *queue.Queue) (v visible) {
	var err error
	v.Jobs, err = q.Jobs(ctx, queue.Filter{Limit: 1000})
	require.NoError(t, err)
	v.Keys = rowsOf(ctx, t, q, scanKey, "SELECT key, job_id, scope, expires_at FROM job_keys ORDER BY key")
	v.Steps = rowsOf(ctx, t, q, jobrow.Step, `
SELECT job_id, name, attempt, started_at, finished_at, result_json
FROM job_steps
ORDER BY job_id, name`)
	v.Attempts = rowsOf(ctx, t, q, jobrow.Attempt, `
SELECT job_id, attempt, worker_id, kind, error, stack, started_at, finished_at
FROM job_attempts
ORDER BY job_id, attempt`)
	v.Workers, err = driverOf(q).Workers(ctx)
	require.NoError(t, err)
	v.Limits, err = q.Limits(ctx)
	require.NoError(t, err)
	return v
}

func rowsOf[T any](ctx context.Context, t require.TestingT, q *queue.Queue, scan func(jobrow.Scanner) (T, error), query string) []T {
	rows, err := q.DB().Reader().QueryxContext(ctx, query)
	list, err := jobrow.Collect(rows, err, scan)
	require.NoError(t, err)
	return list
}

func scanKey(row jobrow.Scanner) (k modelKey, err error) {
	var expires dbtime.Time
	err = row.Scan(&k.Key, &k.JobID, &k.Scope, &expires)
	k.Expires = expires.Time
	return k, err
}
