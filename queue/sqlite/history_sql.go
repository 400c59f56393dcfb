package sqlite

const (
	recordCanceled = `
INSERT INTO job_attempts (job_id, attempt, worker_id, kind, error, stack, started_at, finished_at)
SELECT id, attempt, worker_id, 'canceled', 'job was canceled', '', started_at, $1
FROM jobs
WHERE id = $2
  AND state = 'running'`

	saveCursor = `
INSERT INTO job_steps (job_id, name, attempt, started_at, result_json)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (job_id, name) DO UPDATE
SET attempt = excluded.attempt,
  result_json = excluded.result_json
WHERE job_steps.finished_at IS NULL
RETURNING name`

	insertLogs = `
INSERT INTO job_logs (job_id, attempt, line, at, level, message, attrs_json)
SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, COALESCE(value ->> 5, ''), value ->> 6
FROM json_each($1)`
)
