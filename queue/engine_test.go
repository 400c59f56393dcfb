package queue_test

import (
	"context"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// An engine gives jobs the ids that a model gives them.
type engine struct {
	clocked
	ids int
}

func (e *engine) Insert(
	ctx context.Context, tx *driver.WriteTx, jobs []driver.InsertJob,
) ([]driver.InsertResult, error) {
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
	v.Steps = rowsOf(ctx, t, q, func(row jobsql.Scanner) (queue.StepRecord, error) {
		s, err := jobsql.ScanStep(row)
		return queue.StepRecord(s), err
	}, `
SELECT job_id, name, attempt, started_at, finished_at, result_json
FROM job_steps
ORDER BY job_id, name`)
	v.Attempts = rowsOf(ctx, t, q, func(row jobsql.Scanner) (queue.AttemptRecord, error) {
		a, err := jobsql.ScanAttempt(row)
		return queue.AttemptRecord(a), err
	}, `
SELECT job_id, attempt, worker_id, kind, error, stack, started_at, finished_at
FROM job_attempts
ORDER BY job_id, attempt`)
	v.Workers, err = q.DB().Driver().Workers(ctx)
	require.NoError(t, err)
	v.Limits, err = q.Limits(ctx)
	require.NoError(t, err)
	return v
}

func rowsOf[T any](
	ctx context.Context, t require.TestingT, q *queue.Queue, scan func(jobsql.Scanner) (T, error), query string,
) []T {
	rows, err := q.DB().Reader().QueryContext(ctx, query)
	list, err := jobsql.Collect(rows, err, scan)
	require.NoError(t, err)
	return list
}

func scanKey(row jobsql.Scanner) (k modelKey, err error) {
	var expires dbtime.Time
	err = row.Scan(&k.Key, &k.JobID, &k.Scope, &expires)
	k.Expires = expires.Time
	return k, err
}

// auditorOf is for drivers that wrap another one and have not all that it has.
func auditorOf(d driver.Driver) driver.Auditor {
	a, _ := driver.As[driver.Auditor](d)
	return a
}
