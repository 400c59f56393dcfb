package sqlite

import (
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// A parameter alone as a LIMIT has SQLite prepare the statement again whenever it is bound, at ten times the cost of
// executing it: hence "+ 0".
const (
	// Takes over a free key: one whose time is over, or one of scope coalesce whose job no longer waits.
	insertKey = `
INSERT INTO /*q.*/job_keys (key, job_id, scope, fingerprint, expires_at, type)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (key) DO UPDATE
SET job_id = excluded.job_id,
  scope = excluded.scope,
  fingerprint = excluded.fingerprint,
  expires_at = excluded.expires_at,
  type = excluded.type
WHERE /*q.*/job_keys.expires_at <= $7
  OR (/*q.*/job_keys.scope = 'coalesce' AND EXISTS (SELECT 1 FROM /*q.*/jobs WHERE id = /*q.*/job_keys.job_id AND state <> 'queued'))`

	selectKey = `
SELECT job_id, fingerprint, COALESCE(type, '')
FROM /*q.*/job_keys
WHERE key = $1`

	deleteKey = `
DELETE FROM /*q.*/job_keys
WHERE key = $1
  AND job_id = $2
  AND scope IN ('unfinished', 'coalesce')`

	// A job that is queued again while another waits under its key.
	supersedeJob = `
UPDATE /*q.*/jobs
SET state = 'canceled',
  hold = ` + jobsql.None + `,
  last_error = 'superseded by ' || k.job_id,
  updated_at = $1,
  finished_at = $1
FROM /*q.*/job_keys AS k
WHERE /*q.*/jobs.id = $2
  AND k.key = $3
  AND k.job_id <> /*q.*/jobs.id
  AND k.scope = 'coalesce'`

	// What a claim has to see to before it claims.
	selectChores = `
SELECT
  EXISTS (SELECT 1 FROM /*q.*/jobs WHERE state = 'queued' AND expires_at IS NOT NULL AND expires_at <= $1),
  EXISTS (SELECT 1 FROM /*q.*/jobs WHERE state = 'queued' AND hold = ` + jobsql.Scheduled + ` AND not_before <= $1),
  EXISTS (SELECT 1 FROM /*q.*/job_limit_marks WHERE due_at <= $1),
  EXISTS (SELECT 1 FROM /*q.*/job_limits WHERE kind = 'type'),
  EXISTS (SELECT 1 FROM /*q.*/job_heads),
  ` + jobsql.Tasks + `,
  EXISTS (SELECT 1 FROM /*q.*/job_workers WHERE id = $2)`

	expireJobs = `
UPDATE /*q.*/jobs
SET state = 'canceled',
  hold = ` + jobsql.None + `,
  last_error = 'expired at ' || expires_at || ' before it could run',
  updated_at = $1,
  finished_at = $1
WHERE id IN (
  SELECT id
  FROM /*q.*/jobs
  WHERE state = 'queued'
    AND expires_at IS NOT NULL
    AND expires_at <= $1
  ORDER BY expires_at
  LIMIT 1000)
RETURNING id, idempotency_key, key_scope, limit_key`

	// Uses the partial index jobs_scheduled; the limit keeps the writer free for others.
	promoteJobs = `
UPDATE /*q.*/jobs
SET hold = ` + holdOfDue + `
WHERE id IN (
  SELECT id
  FROM /*q.*/jobs
  WHERE state = 'queued'
    AND hold = ` + jobsql.Scheduled + `
    AND not_before <= $1
  ORDER BY not_before
  LIMIT 1000)
RETURNING limit_key`

	// The first places of each lane, as one text: that is several times cheaper than rows. Lanes are lines, places are
	// apart by tabs and their parts by spaces; JSON has none of these in a text.
	eachLane = `
SELECT group_concat(COALESCE((
    SELECT group_concat(priority || ' ' || not_before || ' ' || id || ' ' || last, char(9))
    FROM (
      SELECT priority, not_before, id, `
	firstOfLane = `
      ORDER BY priority DESC, not_before, id
      LIMIT $1 + 0)), ''), char(10))
FROM json_each($2) AS lanes`

	readReady = eachLane + `rowid AS last
      FROM /*q.*/jobs
      WHERE state = 'queued'
        AND hold = ` + jobsql.None + `
        AND type = lanes.value` + firstOfLane

	readHeads = eachLane + `json_quote(limit_key) AS last
      FROM /*q.*/job_heads
      WHERE type = lanes.value` + firstOfLane

	readWaiting = eachLane + `rowid AS last
      FROM /*q.*/jobs
      WHERE state = 'queued'
        AND hold = ` + jobsql.Limited + `
        AND limit_key = lanes.value ->> 0
        AND type = lanes.value ->> 1` + firstOfLane

	// What has just been selected, in the same transaction. RETURNING would hold the rows once more. Nothing here can
	// violate a constraint; OR FAIL says that no page need be copied for that case.
	claimJobs = `
UPDATE OR FAIL /*q.*/jobs
SET state = 'running',
  hold = ` + jobsql.None + `,
  attempt = MIN(attempt, ` + jobsql.BeforeLast + `) + 1,
  worker_id = $1,
  started_at = $2,
  updated_at = $2
WHERE rowid IN (SELECT value FROM json_each($3))`

	// What was read before the transaction began, unless it has changed since. A job of which nothing has changed since
	// it was inserted is as old as its last update.
	claimFresh = `
UPDATE OR FAIL /*q.*/jobs
SET state = 'running',
  hold = ` + jobsql.None + `,
  attempt = 1,
  worker_id = $1,
  started_at = $2,
  updated_at = $2
WHERE rowid IN (SELECT value FROM json_each($3))
  AND state = 'queued'
  AND hold = ` + jobsql.None + `
  AND attempt = 0
  AND updated_at = created_at
  AND EXISTS (SELECT 1 FROM /*q.*/jobs WHERE rowid = $4 AND id = $5)`

	// When the next scheduled job of the types is due, of the first hundred or at the last of these at the earliest, so
	// that other types' jobs cost little; and when the next mark.
	selectNextDue = `
SELECT COALESCE(
    (SELECT not_before
     FROM (
       SELECT type, not_before
       FROM /*q.*/jobs
       WHERE state = 'queued'
         AND hold = ` + jobsql.Scheduled + `
       ORDER BY not_before
       LIMIT 100)
     WHERE type IN (SELECT value FROM json_each($1))
     LIMIT 1),
    (SELECT not_before
     FROM /*q.*/jobs
     WHERE state = 'queued'
       AND hold = ` + jobsql.Scheduled + `
     ORDER BY not_before
     LIMIT 1 OFFSET 99)),
  (SELECT MIN(due_at) FROM /*q.*/job_limit_marks)`

	beatWorker = `
UPDATE /*q.*/job_workers
SET beat = beat + 1,
  beat_at = $1,
  types_json = COALESCE($2, types_json),
  version = COALESCE($4, version)
WHERE id = $3`

	selectWorkers = `
SELECT id, beat, beat_at, types_json, version
FROM /*q.*/job_workers
UNION ALL
SELECT DISTINCT worker_id, -1, NULL, NULL, NULL
FROM /*q.*/jobs
WHERE state = 'running'
  AND worker_id IS NOT NULL
  AND worker_id NOT IN (SELECT id FROM /*q.*/job_workers)
ORDER BY id`

	// One row of the array for each lease: the id and the attempt.
	markBegun = `
UPDATE /*q.*/jobs
SET updated_at = $1
FROM (SELECT value ->> 0 AS id, value ->> 1 AS attempt FROM json_each($2)) AS held
WHERE /*q.*/jobs.id = held.id
  AND /*q.*/jobs.attempt = held.attempt
  AND /*q.*/jobs.state = 'running'
  AND /*q.*/jobs.updated_at = /*q.*/jobs.started_at`

	// The end of nearly every job, by rows of id, attempt, result and instant.
	completeJobs = `
UPDATE OR FAIL /*q.*/jobs
SET state = 'completed',
  hold = ` + jobsql.None + `,
  result_json = o.column3,
  last_error = NULL,
  updated_at = o.column4,
  finished_at = o.column4
FROM (VALUES `

	ofHeldLeases = `) AS o
WHERE /*q.*/jobs.id = o.column1
  AND /*q.*/jobs.attempt = o.column2
  AND /*q.*/jobs.state = 'running'`

	// The same for one job, without the table that SQLite makes of rows first. The parameters are those of a row; $1
	// would be the first that the text names.
	completeJob = `
UPDATE OR FAIL /*q.*/jobs
SET state = 'completed',
  hold = ` + jobsql.None + `,
  result_json = ?3,
  last_error = NULL,
  updated_at = ?4,
  finished_at = ?4
WHERE id = ?1
  AND attempt = ?2
  AND state = 'running'`

	// The same for jobs that end alike: at one instant, in the same attempt and without a result.
	completeAlike = `
UPDATE OR FAIL /*q.*/jobs
SET state = 'completed',
  hold = ` + jobsql.None + `,
  result_json = NULL,
  last_error = NULL,
  updated_at = $1,
  finished_at = $1
WHERE attempt = $2
  AND id IN (SELECT value FROM json_each($3))
  AND state = 'running'`

	returningEnded = `
RETURNING /*q.*/jobs.id, attempt, NULL, NULL, idempotency_key, key_scope, limit_key`

	// One row of the array for each outcome; its fields are those that finishRows writes.
	finishJobs = `
UPDATE /*q.*/jobs
SET state = o.state,
  hold = CASE WHEN o.hold = ` + jobsql.None + ` AND o.state = 'queued' THEN ` + holdOfDue + ` ELSE o.hold END,
  not_before = COALESCE(o.not_before, /*q.*/jobs.not_before),
  failures = MIN(failures, ` + jobsql.BeforeLast + `) + o.failed,
  interruptions = MIN(interruptions, ` + jobsql.BeforeLast + `) + o.interrupted,
  crashes = MIN(crashes, ` + jobsql.BeforeLast + `) + o.crashed,
  result_json = o.result,
  last_error = CASE WHEN o.waiting THEN NULL ELSE COALESCE(o.error, last_error) END,
  updated_at = o.at,
  finished_at = o.finished_at
FROM (
  SELECT value ->> 0 AS id, value ->> 1 AS attempt, value ->> 2 AS state, value ->> 3 AS hold, value ->> 4 AS not_before,
    value ->> 5 AS failed, value ->> 6 AS interrupted, value ->> 7 AS crashed, value ->> 8 AS result, value ->> 9 AS error,
    value ->> 10 AS at, value ->> 11 AS finished_at, value ->> 12 AS waiting
  FROM json_each($1)) AS o
WHERE /*q.*/jobs.id = o.id
  AND /*q.*/jobs.attempt = o.attempt
  AND /*q.*/jobs.state = 'running'
RETURNING /*q.*/jobs.id, attempt, worker_id, started_at, idempotency_key, key_scope, limit_key`

	// Whether the ends of jobs may have made capacity under the limit of a type, or have opened a node of a flow.
	selectOpened = `
SELECT EXISTS (SELECT 1 FROM /*q.*/job_limits WHERE kind = 'type')
  OR ` + jobsql.Tasks + `
  OR EXISTS (SELECT 1 FROM /*q.*/job_nodes WHERE state = 'running')`

	insertAttempt = `
INSERT INTO /*q.*/job_attempts (job_id, attempt, worker_id, kind, error, stack, started_at, finished_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT DO NOTHING`

	selectLease = `
SELECT state, attempt
FROM /*q.*/jobs
WHERE id = $1`

	selectLeases = `
SELECT id, state, attempt
FROM /*q.*/jobs
WHERE id IN (SELECT value FROM json_each($1))`

	cancelJobs = `
UPDATE /*q.*/jobs
SET state = 'canceled',
  hold = ` + jobsql.None + `,
  last_error = COALESCE(named.reason, last_error),
  updated_at = $1,
  finished_at = $1
FROM (SELECT value ->> 0 AS id, value ->> 1 AS reason FROM json_each($2)) AS named
WHERE /*q.*/jobs.id = named.id
  AND state IN (SELECT value FROM json_each($3))
  AND state IN ('queued', 'running')
RETURNING /*q.*/jobs.id, idempotency_key, key_scope, limit_key`

	retryJob = `
UPDATE /*q.*/jobs
SET state = 'queued',
  hold = CASE WHEN ` + jobsql.Waits + ` THEN ` + jobsql.Waiting + ` ELSE ` + holdOfDue + ` END,
  not_before = $1,
  failures = 0,
  interruptions = 0,
  crashes = 0,
  updated_at = $1,
  finished_at = NULL
WHERE id = $2`

	hastenJob = `
UPDATE /*q.*/jobs
SET hold = ` + holdOfDue + `,
  not_before = $1,
  updated_at = $1
WHERE id = $2
  AND state = 'queued'
  AND hold = ` + jobsql.Scheduled + `
RETURNING COALESCE(limit_key, '')`

	selectForRetry = `
SELECT state, type, payload_json, idempotency_key, key_scope, limit_key
FROM /*q.*/jobs
WHERE id = $1`
)

// What a claim reads of jobs.
var (
	selectClaimable = `
SELECT ` + jobsql.ClaimColumns + `
FROM /*q.*/jobs
WHERE state = 'queued'
  AND hold = ` + jobsql.None + `
  AND type = $1
  AND (expires_at IS NULL OR expires_at > $2)
ORDER BY priority DESC, not_before, id
LIMIT $3 + 0`

	selectClaimableRows = `
SELECT ` + jobsql.ClaimColumns + `
FROM /*q.*/jobs
WHERE rowid IN (SELECT value FROM json_each($1))
  AND (expires_at IS NULL OR expires_at > $2)
ORDER BY priority DESC, not_before, id`
)

const (
	insertTurns = `
INSERT INTO /*q.*/job_turns (sequence, job_id)
SELECT value ->> 0, value ->> 1
FROM json_each($1)
ORDER BY id`

	insertTurnMarks = `
INSERT INTO /*q.*/job_turn_marks (sequence)
SELECT DISTINCT value ->> 0
FROM json_each($1)`

	recordCanceled = `
INSERT INTO /*q.*/job_attempts (job_id, attempt, worker_id, kind, error, stack, started_at, finished_at)
SELECT /*q.*/jobs.id, attempt, COALESCE(worker_id, ''), 'canceled', COALESCE(named.reason, 'job was canceled'), '',
  COALESCE(started_at, $1), $1
FROM (SELECT value ->> 0 AS id, value ->> 1 AS reason FROM json_each($2)) AS named
CROSS JOIN /*q.*/jobs
WHERE /*q.*/jobs.id = named.id
  AND +state = 'running'
ON CONFLICT DO NOTHING`

	insertLogs = `
INSERT INTO /*q.*/job_logs (job_id, attempt, line, at, level, message, attrs_json)
SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, COALESCE(value ->> 5, ''), value ->> 6
FROM json_each($1)`
)
