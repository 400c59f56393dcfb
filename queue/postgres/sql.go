package postgres

import "github.com/postroom-go/postroom/queue/internal/jobsql"

const (
	// These statements are written for indexes. A plan that was made while a table was small would read all of it when
	// it is large. A bitmap scan would always read the rows that were claimed and ended since the last vacuum: only an
	// index scan marks them as dead. The settings last until the end of the transaction, or the user's next statement.
	planOurs = `
SELECT set_config('plan_cache_mode', 'force_generic_plan', TRUE), set_config('enable_seqscan', 'off', TRUE),
  set_config('enable_bitmapscan', 'off', TRUE), set_config('jit', 'off', TRUE)`

	// The settings that planOurs has changed, as the server, the database, the role or the DSN sets them.
	planTheirs = `
SELECT set_config('plan_cache_mode', $1, TRUE), set_config('enable_seqscan', $2, TRUE),
  set_config('enable_bitmapscan', $3, TRUE), set_config('jit', $4, TRUE)`

	// A server that is a copy of another has the tables with the same numbers, but a different start time.
	selectLocation = `
SELECT extract(epoch FROM pg_postmaster_start_time())::text || ' ' || (SELECT oid FROM pg_database WHERE datname = current_database()),
  coalesce(to_regclass(/*q.*/'jobs')::oid::text, ''),
  current_setting('transaction_read_only')::boolean`

	selectSettings = `
SELECT s.reset_val
FROM (VALUES (1, 'plan_cache_mode'), (2, 'enable_seqscan'), (3, 'enable_bitmapscan'), (4, 'jit')) AS wanted (place, name)
JOIN pg_settings AS s ON s.name = wanted.name
ORDER BY wanted.place`

	// Less than it takes the server to find a deadlock (1 s), so that this transaction is the one that yields. One that
	// is idle for seconds is that of a machine that is gone, or stands still.
	setLockTimeout = `
SELECT set_config('lock_timeout', '500ms', TRUE), set_config('idle_in_transaction_session_timeout', '5s', TRUE)`

	// The order keeps two transactions that take the same keys from waiting for each other.
	insertKeys = `
INSERT INTO /*q.*/job_keys (key, job_id, scope, fingerprint, expires_at, type)
SELECT key, job_id, scope, fingerprint, expires_at, type
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::text[])
  AS k (key, job_id, scope, fingerprint, expires_at, type)
ORDER BY key COLLATE "C"
ON CONFLICT (key) DO NOTHING`

	selectKeys = `
SELECT key, job_id, scope, fingerprint, expires_at, COALESCE(type, '')
FROM /*q.*/job_keys
WHERE key = ANY($1)`

	deleteKeys = `
DELETE FROM /*q.*/job_keys
USING unnest($1::text[], $2::text[]) AS k (key, job_id)
WHERE job_keys.key = k.key
  AND job_keys.job_id = k.job_id
  AND job_keys.scope IN ('unfinished', 'coalesce')`

	beatWorker = `
UPDATE /*q.*/job_workers
SET beat = beat + 1,
  beat_at = $1,
  types_json = COALESCE($2::json, types_json),
  version = COALESCE($4::text, version)
WHERE id = $3
RETURNING id`

	selectWorkers = `
SELECT id, beat, beat_at, types_json::text, version
FROM /*q.*/job_workers
UNION ALL
SELECT DISTINCT worker_id COLLATE "C", -1, NULL::timestamptz, NULL, NULL
FROM /*q.*/jobs
WHERE state = 'running'
  AND worker_id IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM /*q.*/job_workers WHERE job_workers.id = jobs.worker_id)
ORDER BY id`

	// What a handler's transaction holds is left out: nothing waits for that.
	markBegun = `
UPDATE /*q.*/jobs
SET updated_at = $1
FROM (
  SELECT jobs.id
  FROM unnest($2::text[], $3::int[]) AS held (id, attempt)
  JOIN /*q.*/jobs ON jobs.id = held.id AND jobs.attempt = held.attempt
  WHERE jobs.state IS NOT DISTINCT FROM 'running'
    AND jobs.updated_at = jobs.started_at
  FOR NO KEY UPDATE OF jobs SKIP LOCKED) AS free
WHERE jobs.id = free.id`

	// IS NOT DISTINCT FROM keeps the planner from reading the index jobs_running, once for each outcome.
	finishJobs = `
UPDATE /*q.*/jobs
SET state = o.state,
  hold = CASE WHEN o.hold = ` + jobsql.None + ` AND o.state = 'queued' AND limit_key IS NOT NULL THEN ` + jobsql.Limited + ` ELSE o.hold END,
  not_before = COALESCE(o.not_before, jobs.not_before),
  failures = LEAST(failures, ` + jobsql.BeforeLast + `) + (o.kind = 'failed')::int,
  interruptions = LEAST(interruptions, ` + jobsql.BeforeLast + `) + (o.kind = 'interrupted')::int,
  crashes = LEAST(crashes, ` + jobsql.BeforeLast + `) + (o.kind = 'crashed')::int,
  result_json = o.result::json,
  last_error = CASE WHEN o.kind IN ('completed', 'waiting') THEN NULL ELSE COALESCE(NULLIF(o.error, ''), last_error) END,
  updated_at = o.at,
  finished_at = o.finished_at
FROM unnest($1::text[], $2::int[], $3::text[], $4::text[], $5::int[], $6::timestamptz[], $7::text[], $8::text[], $9::timestamptz[], $10::timestamptz[])
  AS o (id, attempt, state, kind, hold, not_before, result, error, at, finished_at)
WHERE jobs.id = o.id
  AND jobs.attempt = o.attempt
  AND jobs.state IS NOT DISTINCT FROM 'running'` + returningEnded

	// Of jobs that hold nothing that is to be freed, and of others.
	completePlain = completeJobs + `
RETURNING jobs.id, jobs.attempt, NULL, NULL, NULL, NULL, NULL,
  EXISTS (SELECT 1 FROM /*q.*/job_limits WHERE kind = 'type'), node IS NOT NULL`
	completeHolding = completeJobs + returningEnded
	completeJobs    = `
UPDATE /*q.*/jobs
SET state = 'completed',
  hold = ` + jobsql.None + `,
  result_json = o.result::json,
  last_error = NULL,
  updated_at = o.at,
  finished_at = o.at
FROM unnest($1::text[], $2::int[], $3::text[], $4::timestamptz[]) AS o (id, attempt, result, at)
WHERE jobs.id = o.id
  AND jobs.attempt = o.attempt
  AND jobs.state IS NOT DISTINCT FROM 'running'`

	// Fails where the lease is not held, so that what is sent with it is not done: a transaction of one job that
	// commits unless it is refused.
	completeLease = `
WITH held AS (
  UPDATE /*q.*/jobs
  SET state = 'completed',
    hold = ` + jobsql.None + `,
    result_json = $3::json,
    last_error = NULL,
    updated_at = $4,
    finished_at = $4
  WHERE id = $1
    AND attempt = $2
    AND state IS NOT DISTINCT FROM 'running'
  RETURNING node IS NOT NULL AS of_node)
SELECT EXISTS (SELECT 1 FROM /*q.*/job_limits WHERE kind = 'type'), of_node, ` + failUnheld

	// Keeps others from writing about the job until the transaction ends, and fails as completeLease does.
	lockLeaseHeld = `
WITH held AS (
  SELECT FALSE AS of_node
  FROM /*q.*/jobs
  WHERE id = $1
    AND attempt = $2
    AND state IS NOT DISTINCT FROM 'running'
  FOR NO KEY UPDATE)
SELECT FALSE, of_node, ` + failUnheld

	// The server logs the invalid number. It depends on the row, so that the planner does not compute it.
	failUnheld = `CASE WHEN n = 1 THEN 1 ELSE ('the job is not running under this lease; running: ' || n)::int END
FROM (SELECT COUNT(*) AS n, BOOL_OR(of_node) AS of_node FROM held) AS found`

	returningEnded = `
RETURNING jobs.id, jobs.attempt, worker_id, started_at, idempotency_key, key_scope, limit_key,
  ` + opens + `, node IS NOT NULL`

	// Whether another job may begin because this one has ended: types are limited, or it was of a sequence.
	opens = `sequence IS NOT NULL OR EXISTS (SELECT 1 FROM /*q.*/job_limits WHERE kind = 'type')`

	insertAttempts = `
INSERT INTO /*q.*/job_attempts (job_id, attempt, worker_id, kind, error, stack, started_at, finished_at)
SELECT job_id, attempt, worker_id, kind, error, stack, started_at, finished_at
FROM unnest($1::text[], $2::int[], $3::text[], $4::text[], $5::text[], $6::text[], $7::timestamptz[], $8::timestamptz[])
  AS a (job_id, attempt, worker_id, kind, error, stack, started_at, finished_at)
ON CONFLICT DO NOTHING`

	selectLeases = `
SELECT id, state, attempt
FROM /*q.*/jobs
WHERE id = ANY($1)`

	lockLease = `
SELECT id, state, attempt
FROM /*q.*/jobs
WHERE id = $1
FOR NO KEY UPDATE`

	selectForRetry = `
SELECT id, state, type, payload_json, idempotency_key, key_scope, limit_key, node
FROM /*q.*/jobs
WHERE id = $1
FOR NO KEY UPDATE`

	// Its nodes neither open nor end before the transaction has ended.
	lockFlowOf = `
SELECT id
FROM /*q.*/job_flows
WHERE id = (SELECT flow_id FROM /*q.*/job_nodes WHERE job_nodes.id = $1)
FOR NO KEY UPDATE`

	retryJob = `
UPDATE /*q.*/jobs
SET state = 'queued',
  hold = CASE WHEN ` + jobsql.Waits + ` THEN ` + jobsql.Waiting + ` WHEN limit_key IS NULL THEN ` + jobsql.None + ` ELSE ` + jobsql.Limited + ` END,
  not_before = $1,
  failures = 0,
  interruptions = 0,
  crashes = 0,
  updated_at = $1,
  finished_at = NULL
WHERE id = $2`

	// So that the planner takes no index of scheduled jobs for that of the ids.
	hastenJob = `
UPDATE /*q.*/jobs
SET hold = CASE WHEN limit_key IS NULL THEN ` + jobsql.None + ` ELSE ` + jobsql.Limited + ` END,
  not_before = $1,
  updated_at = $1
WHERE id = $2
  AND state IS NOT DISTINCT FROM 'queued'
  AND hold IS NOT DISTINCT FROM ` + jobsql.Scheduled + `
RETURNING COALESCE(limit_key, '')`

	notify = `SELECT pg_notify(/*q.*/'` + channel + `', $1)`

	// A transaction that does nothing but notify need not wait for the disk, nor make others wait.
	notifyAlone = `SELECT set_config('synchronous_commit', 'off', true), pg_notify(/*q.*/'` + channel + `', $1)`
)

// channel is the channel of notifications; the payload identifies the sender.
const channel = "postroom_jobs"

var lockHeld = jobsql.SelectWorkerJobs + "\nFOR NO KEY UPDATE SKIP LOCKED"

const (
	// Where the job runs, that it was canceled is on record.
	// Any state may be asked for, so that the planner takes no index of one state for that of the ids.
	cancelJobs = `
WITH found AS (
  SELECT id AS job_id, attempt AS nth, COALESCE(worker_id, '') AS worker, COALESCE(started_at, $1) AS began, state = 'running' AS runs,
    NULLIF(named.reason, '') AS reason
  FROM unnest($2::text[], $4::text[]) AS named (job_id, reason)
  JOIN /*q.*/jobs ON jobs.id = named.job_id
  WHERE state = ANY($3)
    AND finished_at IS NULL
  ORDER BY id
  FOR NO KEY UPDATE OF jobs),
recorded AS (
  INSERT INTO /*q.*/job_attempts (job_id, attempt, worker_id, kind, error, stack, started_at, finished_at)
  SELECT job_id, nth, worker, 'canceled', COALESCE(reason, 'job was canceled'), '', began, $1
  FROM found
  WHERE runs
  ON CONFLICT DO NOTHING)
UPDATE /*q.*/jobs
SET state = 'canceled',
  hold = ` + jobsql.None + `,
  last_error = COALESCE(found.reason, last_error),
  updated_at = $1,
  finished_at = $1
FROM found
WHERE jobs.id = found.job_id` + returningEnded

	insertLogs = `
INSERT INTO /*q.*/job_logs (job_id, attempt, line, at, level, message, attrs_json)
SELECT job_id, attempt, line, at, level, message, attrs::json
FROM unnest($1::text[], $2::int[], $3::int[], $4::timestamptz[], $5::text[], $6::text[], $7::text[])
  AS l (job_id, attempt, line, at, level, message, attrs)`
)
