package sqlite

const (
	// Nothing is lost when a key is marked for nothing.
	markKey = `
INSERT INTO job_admissions (due_at, limit_key)
VALUES ($1, $2)`

	// The limit bounds how long one claim holds the writer.
	takeMarks = `
DELETE FROM job_admissions
WHERE id IN (
  SELECT id
  FROM job_admissions
  WHERE due_at <= $1
  ORDER BY due_at, limit_key
  LIMIT 100)
RETURNING limit_key`

	selectNextMark = `
SELECT MIN(due_at)
FROM job_admissions`

	// The limit of the key itself, else that of the longest beginning of it.
	selectKeyLimit = `
SELECT paused, max_running, rate, period_us, burst
FROM job_limits
WHERE (kind = 'key' AND name = $1)
  OR (kind = 'prefix' AND name = substr($1, 1, LENGTH(name)))
ORDER BY kind, LENGTH(name) DESC
LIMIT 1`

	selectTypeLimits = `
SELECT name, paused, max_running, rate, period_us, burst
FROM job_limits
WHERE kind = 'type'`

	countAdmitted = `
SELECT COUNT(*), COALESCE(SUM(state = 'queued'), 0)
FROM jobs
WHERE limit_key = $1
  AND state IN ('queued', 'running')
  AND hold = 0`

	countRunning = `
SELECT type, COUNT(*)
FROM jobs
WHERE state = 'running'
GROUP BY type`

	admitJobs = `
UPDATE jobs
SET hold = 0
WHERE id IN (
  SELECT id
  FROM jobs
  WHERE limit_key = $1
    AND state = 'queued'
    AND hold = 2
  ORDER BY priority DESC, not_before, id
  LIMIT $2)`

	selectArrival = `
SELECT arrival
FROM job_rates
WHERE kind = $1
  AND name = $2`

	setArrival = `
INSERT INTO job_rates (kind, name, arrival)
VALUES ($1, $2, $3)
ON CONFLICT (kind, name) DO UPDATE
SET arrival = excluded.arrival`
)
