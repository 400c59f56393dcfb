package sqlite

import "github.com/postroom-go/postroom/internal/jobrow"

const (
	// The instant comes first, so that it is one parameter however many rows follow.
	insertJobs = `
INSERT INTO jobs (created_at, updated_at, id, type, payload_json, priority, state, hold, not_before, max_attempts,
  idempotency_key, key_scope, limit_key, user_id, tags_json, expires_at, trace)
VALUES `

	// Takes over what is free again: a key whose time is over, and one of scope coalesce whose job waits no more.
	insertKey = `
INSERT INTO job_keys (key, job_id, scope, fingerprint, expires_at)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (key) DO UPDATE
SET job_id = excluded.job_id,
  scope = excluded.scope,
  fingerprint = excluded.fingerprint,
  expires_at = excluded.expires_at
WHERE job_keys.expires_at <= $6
  OR (job_keys.scope = 'coalesce' AND EXISTS (SELECT 1 FROM jobs WHERE id = job_keys.job_id AND state <> 'queued'))`

	selectKey = `
SELECT job_id, fingerprint
FROM job_keys
WHERE key = $1`

	selectHolder = `
SELECT type, payload_json
FROM jobs
WHERE id = $1`

	deleteKey = `
DELETE FROM job_keys
WHERE key = $1
  AND job_id = $2
  AND scope IN ('unfinished', 'coalesce')`

	// A job that is queued again while another waits under its key.
	supersedeJob = `
UPDATE jobs
SET state = 'canceled',
  hold = 0,
  last_error = 'superseded by ' || k.job_id,
  updated_at = $1,
  finished_at = $1
FROM job_keys AS k
WHERE jobs.id = $2
  AND k.key = $3
  AND k.job_id <> jobs.id
  AND k.scope = 'coalesce'`

	// What a claim has to see to before it claims.
	selectChores = `
SELECT
  EXISTS (SELECT 1 FROM jobs WHERE state = 'queued' AND expires_at IS NOT NULL AND expires_at <= $1),
  EXISTS (SELECT 1 FROM jobs WHERE state = 'queued' AND hold = 1 AND not_before <= $1),
  EXISTS (SELECT 1 FROM job_admissions WHERE due_at <= $1),
  EXISTS (SELECT 1 FROM job_limits WHERE kind = 'type'),
  ` + keysLimited

	expireJobs = `
UPDATE jobs
SET state = 'canceled',
  hold = 0,
  last_error = 'expired at ' || expires_at || ' before it could run',
  updated_at = $1,
  finished_at = $1
WHERE id IN (
  SELECT id
  FROM jobs
  WHERE state = 'queued'
    AND expires_at IS NOT NULL
    AND expires_at <= $1
  ORDER BY expires_at
  LIMIT 1000)
RETURNING id, idempotency_key, key_scope, limit_key`

	// Uses the partial index jobs_scheduled; the limit keeps the writer free for others.
	promoteJobs = `
UPDATE jobs
SET hold = ` + holdOfDue + `
WHERE id IN (
  SELECT id
  FROM jobs
  WHERE state = 'queued'
    AND hold = 1
    AND not_before <= $1
  ORDER BY not_before
  LIMIT 1000)
RETURNING limit_key`

	// The first job of each type, those that come first of them: what does not, and what stands behind it, cannot be among
	// so many. MATERIALIZED, or each head would be looked for once for each of its parts.
	headsOf = `
WITH heads AS MATERIALIZED (
  SELECT (
    SELECT json_array(type, priority, not_before, id, `
	ofEachType = `)
    FROM jobs
    WHERE state = 'queued'
      AND hold = 0
      AND type = types.value
    ORDER BY priority DESC, not_before, id
    LIMIT 1) AS head
  FROM json_each($1) AS types)
SELECT head ->> 0, head ->> 1, head ->> 2, head ->> 3, head ->> 4
FROM heads
WHERE head IS NOT NULL
ORDER BY head ->> 1 DESC, head ->> 2, head ->> 3
LIMIT $2`

	selectHeads        = headsOf + `NULL` + ofEachType
	selectLimitedHeads = headsOf + `limit_key` + ofEachType

	ready = `
FROM jobs
WHERE state = 'queued'
  AND hold = 0
  AND type = $1
ORDER BY priority DESC, not_before, id
LIMIT $2 OFFSET $3`

	selectReady        = `SELECT priority, not_before, id, NULL` + ready
	selectLimitedReady = `SELECT priority, not_before, id, limit_key` + ready

	claimSet = `
UPDATE jobs
SET state = 'running',
  attempt = attempt + 1,
  worker_id = $1,
  started_at = $2,
  updated_at = $2
WHERE id IN (`

	// RETURNING answers in no promised order.
	claimReturning = `)
  AND (expires_at IS NULL OR expires_at > $2)
RETURNING ` + jobrow.Columns

	claimOfType = claimSet + `
  SELECT id
  FROM jobs
  WHERE state = 'queued'
    AND hold = 0
    AND type = $3
  ORDER BY priority DESC, not_before, id
  LIMIT $4` + claimReturning

	claimByID = claimSet + `SELECT value FROM json_each($3)` + claimReturning

	selectNextDue = `
SELECT not_before
FROM jobs
WHERE state = 'queued'
  AND hold = 1
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
  beat_at = $1,
  types_json = COALESCE($2, types_json)
WHERE id = $3`

	selectWorkers = `
SELECT id, beat, beat_at, types_json
FROM job_workers
UNION ALL
SELECT DISTINCT worker_id, -1, NULL, NULL
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

	// The end of nearly every job, by rows of id, attempt, result and instant.
	completeJobs = `
UPDATE jobs
SET state = 'completed',
  hold = 0,
  result_json = o.column3,
  updated_at = o.column4,
  finished_at = o.column4
FROM (VALUES `

	completeReturning = `) AS o
WHERE jobs.id = o.column1
  AND jobs.attempt = o.column2
  AND jobs.state = 'running'
RETURNING jobs.id, attempt, NULL, NULL, idempotency_key, key_scope, limit_key`

	// One row of the array for each outcome; its fields are those that finishRows writes.
	finishJobs = `
UPDATE jobs
SET state = o.state,
  hold = CASE WHEN o.hold = 0 AND o.state = 'queued' THEN ` + holdOfDue + ` ELSE o.hold END,
  not_before = COALESCE(o.not_before, jobs.not_before),
  failures = failures + o.failed,
  interruptions = interruptions + o.interrupted,
  crashes = crashes + o.crashed,
  result_json = o.result,
  last_error = COALESCE(o.error, last_error),
  updated_at = o.at,
  finished_at = o.finished_at
FROM (
  SELECT value ->> 0 AS id, value ->> 1 AS attempt, value ->> 2 AS state, value ->> 3 AS hold, value ->> 4 AS not_before,
    value ->> 5 AS failed, value ->> 6 AS interrupted, value ->> 7 AS crashed, value ->> 8 AS result, value ->> 9 AS error,
    value ->> 10 AS at, value ->> 11 AS finished_at
  FROM json_each($1)) AS o
WHERE jobs.id = o.id
  AND jobs.attempt = o.attempt
  AND jobs.state = 'running'
RETURNING jobs.id, attempt, worker_id, started_at, idempotency_key, key_scope, limit_key`

	selectTypesLimited = `
SELECT EXISTS (SELECT 1 FROM job_limits WHERE kind = 'type')`

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
  hold = 0,
  updated_at = $1,
  finished_at = $1
WHERE id = $2
  AND state IN ('queued', 'running')
RETURNING idempotency_key, key_scope, limit_key`

	retryJob = `
UPDATE jobs
SET state = 'queued',
  hold = ` + holdOfDue + `,
  not_before = $1,
  failures = 0,
  interruptions = 0,
  crashes = 0,
  updated_at = $1,
  finished_at = NULL
WHERE id = $2`

	selectForRetry = `
SELECT state, type, payload_json, idempotency_key, key_scope, limit_key
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
)
