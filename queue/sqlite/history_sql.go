package sqlite

const (
	recordCanceled = `
INSERT INTO job_attempts (job_id, attempt, worker_id, kind, error, stack, started_at, finished_at)
SELECT id, attempt, COALESCE(worker_id, ''), 'canceled', 'job was canceled', '', COALESCE(started_at, $1), $1
FROM jobs
WHERE id = $2
  AND state = 'running'
ON CONFLICT DO NOTHING`

	insertLogs = `
INSERT INTO job_logs (job_id, attempt, line, at, level, message, attrs_json)
SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, COALESCE(value ->> 5, ''), value ->> 6
FROM json_each($1)`
)
