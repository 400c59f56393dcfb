package postgres

import "github.com/postroom-go/postroom/queue/internal/jobsql"

const (
	// Where the job runs, that it was canceled is on record.
	cancelJob = `
WITH found AS (
  SELECT id AS job_id, attempt AS nth, COALESCE(worker_id, '') AS worker, COALESCE(started_at, $1) AS began, state = 'running' AS runs
  FROM jobs
  WHERE id = $2
    AND state IN ('queued', 'running')
  FOR NO KEY UPDATE),
recorded AS (
  INSERT INTO job_attempts (job_id, attempt, worker_id, kind, error, stack, started_at, finished_at)
  SELECT job_id, nth, worker, 'canceled', 'job was canceled', '', began, $1
  FROM found
  WHERE runs
  ON CONFLICT DO NOTHING)
UPDATE jobs
SET state = 'canceled',
  hold = ` + jobsql.None + `,
  updated_at = $1,
  finished_at = $1
FROM found
WHERE jobs.id = found.job_id` + returningEnded

	insertLogs = `
INSERT INTO job_logs (job_id, attempt, line, at, level, message, attrs_json)
SELECT job_id, attempt, line, at, level, message, attrs::json
FROM unnest($1::text[], $2::int[], $3::int[], $4::timestamptz[], $5::text[], $6::text[], $7::text[])
  AS l (job_id, attempt, line, at, level, message, attrs)`
)
