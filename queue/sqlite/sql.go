package sqlite

import "github.com/postroom-go/postroom/internal/jobrow"

const (
	insertJob = `
INSERT INTO jobs (id, type, payload_json, priority, state, scheduled, not_before, max_attempts, idempotency_key, key_scope, created_at, updated_at)
VALUES ($1, $2, $3, $4, 'queued', $5, $6, $7, $8, $9, $10, $10)`

	insertKey = `
INSERT INTO job_keys (key, job_id, scope, fingerprint)
VALUES ($1, $2, $3, $4)
ON CONFLICT (key) DO NOTHING`

	selectKey = `
SELECT job_id, fingerprint
FROM job_keys
WHERE key = $1`

	deleteKey = `
DELETE FROM job_keys
WHERE key = $1
  AND job_id = $2
  AND scope = 'unfinished'`

	// Uses the partial index jobs_scheduled; the limit keeps the writer free for others.
	promoteJobs = `
UPDATE jobs
SET scheduled = 0
WHERE rowid IN (
  SELECT rowid
  FROM jobs
  WHERE state = 'queued'
    AND scheduled = 1
    AND not_before <= $1
  ORDER BY not_before
  LIMIT 1000)`

	// Uses the partial index jobs_ready. RETURNING answers in no promised order.
	claimJobs = `
UPDATE jobs
SET state = 'running',
  attempt = attempt + 1,
  worker_id = $1,
  started_at = $2,
  updated_at = $2
WHERE rowid IN (
  SELECT rowid
  FROM jobs
  WHERE state = 'queued'
    AND scheduled = 0
    AND type IN (SELECT value FROM json_each($3))
  ORDER BY priority DESC, not_before, id
  LIMIT $4)
RETURNING ` + jobrow.Columns

	selectNextDue = `
SELECT not_before
FROM jobs
WHERE state = 'queued'
  AND scheduled = 1
  AND type IN (SELECT value FROM json_each($1))
ORDER BY not_before
LIMIT 1`

	ensureWorker = `
INSERT INTO job_workers (id, beat, beat_at)
VALUES ($1, 0, $2)
ON CONFLICT (id) DO NOTHING`

	beatWorker = `
UPDATE job_workers
SET beat = beat + 1,
  beat_at = $1
WHERE id = $2`

	selectWorkers = `
SELECT id, beat, beat_at
FROM job_workers
UNION ALL
SELECT DISTINCT worker_id, -1, NULL
FROM jobs
WHERE state = 'running'
  AND worker_id NOT IN (SELECT id FROM job_workers)`

	deleteWorkerAt = `
DELETE FROM job_workers
WHERE id = $1
  AND beat = $2`

	deleteWorker = `
DELETE FROM job_workers
WHERE id = $1`

	selectWorker = `
SELECT COUNT(*)
FROM job_workers
WHERE id = $1`

	selectHeld = `
SELECT ` + jobrow.Columns + `
FROM jobs
WHERE state = 'running'
  AND worker_id = $1
ORDER BY id`

	finishJob = `
UPDATE jobs
SET state = $1,
  scheduled = $2,
  not_before = COALESCE($3, not_before),
  failures = failures + $4,
  interruptions = interruptions + $5,
  crashes = crashes + $6,
  result_json = $7,
  last_error = COALESCE($8, last_error),
  updated_at = $9,
  finished_at = $10
WHERE id = $11
  AND attempt = $12
  AND state = 'running'
RETURNING worker_id, started_at, idempotency_key, key_scope`

	insertAttempt = `
INSERT INTO job_attempts (job_id, attempt, worker_id, kind, error, stack, started_at, finished_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`

	selectLease = `
SELECT state, attempt
FROM jobs
WHERE id = $1`

	cancelJob = `
UPDATE jobs
SET state = 'canceled',
  scheduled = 0,
  updated_at = $1,
  finished_at = $1
WHERE id = $2
  AND state IN ('queued', 'running')
RETURNING idempotency_key, key_scope`

	retryJob = `
UPDATE jobs
SET state = 'queued',
  scheduled = 0,
  not_before = $1,
  failures = 0,
  interruptions = 0,
  crashes = 0,
  updated_at = $1,
  finished_at = NULL
WHERE id = $2`

	selectForRetry = `
SELECT state, type, payload_json, idempotency_key, key_scope
FROM jobs
WHERE id = $1`

	startStep = `
INSERT INTO job_steps (job_id, name, attempt, started_at)
VALUES ($1, $2, $3, $4)
ON CONFLICT (job_id, name) DO UPDATE
SET attempt = excluded.attempt,
  started_at = excluded.started_at
WHERE job_steps.finished_at IS NULL`

	finishStep = `
INSERT INTO job_steps (job_id, name, attempt, started_at, finished_at, result_json)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (job_id, name) DO UPDATE
SET attempt = excluded.attempt,
  finished_at = excluded.finished_at,
  result_json = excluded.result_json`

	selectSteps = `
SELECT job_id, name, attempt, started_at, finished_at, result_json
FROM job_steps
WHERE job_id = $1
ORDER BY started_at, name`

	selectJob = `
SELECT ` + jobrow.Columns + `
FROM jobs
WHERE id = $1`

	selectAttempts = `
SELECT job_id, attempt, worker_id, kind, error, stack, started_at, finished_at
FROM job_attempts
WHERE job_id = $1
ORDER BY attempt`

	// An empty list of states or types does not restrict.
	filterJobs = `
FROM jobs
WHERE ($1 = '[]' OR state IN (SELECT value FROM json_each($1)))
  AND ($2 = '[]' OR type IN (SELECT value FROM json_each($2)))
  AND ($3 = '' OR id < $3)`

	listJobs = `
SELECT ` + jobrow.Columns + filterJobs + `
ORDER BY id DESC
LIMIT $4`

	countJobs = `
SELECT state, COUNT(*)` + filterJobs + `
GROUP BY state`
)
