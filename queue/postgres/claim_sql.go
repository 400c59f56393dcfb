package postgres

import (
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

const (
	// Claims hold this together, so that who sets a limit waits for those under way, and those that begin later see the
	// limit. The key is that of the table: queues in other schemas do not matter. 0x706f7374 keeps clear of the
	// program's own keys.
	shareClaims = `SELECT pg_advisory_xact_lock_shared` + claimsKey
	lockClaims  = `SELECT pg_advisory_xact_lock` + claimsKey
	claimsKey   = `(1886352244, /*q.*/'jobs'::regclass::oid::int)`

	// A machine that is gone, or stands still, between two round trips of its claim must not keep what it has locked
	// from all others.
	beginClaims = `
SELECT set_config('idle_in_transaction_session_timeout', '5s', TRUE) <> '' AND pg_advisory_xact_lock_shared` + claimsKey + `::text = ''`

	// Answers whether nobody sets a limit.
	tryBeginClaims = `
SELECT pg_try_advisory_xact_lock_shared` + claimsKey

	// What a claim has to see to before it claims.
	choresOf = `EXISTS (SELECT 1 FROM /*q.*/jobs WHERE state = 'queued' AND expires_at IS NOT NULL AND expires_at <= $1),
  EXISTS (SELECT 1 FROM /*q.*/jobs WHERE state = 'queued' AND hold = ` + jobsql.Scheduled + ` AND not_before <= $1),
  EXISTS (SELECT 1 FROM /*q.*/job_limit_marks WHERE due_at <= $1),
  EXISTS (SELECT 1 FROM /*q.*/job_heads WHERE open),
  EXISTS (SELECT 1 FROM /*q.*/job_limits WHERE kind = 'type'),
  EXISTS (SELECT 1 FROM /*q.*/job_limits),
  ` + jobsql.NodeTasks + `,
  ` + jobsql.TurnMarks

	selectChores = `
SELECT
  ` + choresOf

	// Frees what the jobs held, and returns how many there were. Who may run the next job of a sequence is woken; the
	// text of that is empty.
	expireJobs = `
WITH ended AS (
  UPDATE /*q.*/jobs
  SET state = 'canceled',
    hold = ` + jobsql.None + `,
    last_error = 'expired at ' || to_char(expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') || ' before it could run',
    updated_at = $1,
    finished_at = $1
  WHERE id = ANY(ARRAY(
    SELECT id
    FROM /*q.*/jobs
    WHERE state = 'queued'
      AND expires_at IS NOT NULL
      AND expires_at <= $1
    ORDER BY expires_at
    LIMIT 1000
    FOR UPDATE SKIP LOCKED))
  RETURNING id, idempotency_key, key_scope, sequence),
freed AS (
  DELETE FROM /*q.*/job_keys
  USING ended
  WHERE ended.key_scope IN ('unfinished', 'coalesce')
    AND job_keys.key = ended.idempotency_key
    AND job_keys.job_id = ended.id
    AND job_keys.scope IN ('unfinished', 'coalesce'))
SELECT COUNT(*) + CASE WHEN COUNT(sequence) > 0 THEN LENGTH(pg_notify(/*q.*/'` + channel + `', '')::text) ELSE 0 END
FROM ended`

	// Uses the partial index jobs_scheduled.
	promoteJobs = `
WITH due AS (
  UPDATE /*q.*/jobs
  SET hold = CASE WHEN limit_key IS NULL THEN ` + jobsql.None + ` ELSE ` + jobsql.Limited + ` END
  WHERE id = ANY(ARRAY(
    SELECT id
    FROM /*q.*/jobs
    WHERE state = 'queued'
      AND hold = ` + jobsql.Scheduled + `
      AND not_before <= $1
    ORDER BY not_before
    LIMIT 1000
    FOR UPDATE SKIP LOCKED))
  RETURNING limit_key, type, priority, not_before, id),
headed AS (
  INSERT INTO /*q.*/job_heads (limit_key, type, priority, not_before, id, open)
  SELECT DISTINCT ON (limit_key, type) limit_key, type, priority, not_before, id, TRUE
  FROM due
  WHERE limit_key IS NOT NULL
  ORDER BY limit_key, type, priority DESC, not_before, id)
SELECT COUNT(*)
FROM due`

	// A claim that has not seen to the chores does nothing when it finds some.
	noChores = `NOT (
      EXISTS (SELECT 1 FROM /*q.*/jobs WHERE state = 'queued' AND expires_at IS NOT NULL AND expires_at <= $2)
      OR EXISTS (SELECT 1 FROM /*q.*/jobs WHERE state = 'queued' AND hold = ` + jobsql.Scheduled + ` AND not_before <= $2)
      OR EXISTS (SELECT 1 FROM /*q.*/job_limit_marks WHERE due_at <= $2)
      OR EXISTS (SELECT 1 FROM /*q.*/job_heads WHERE open)
      OR ` + jobsql.Tasks + `
      OR EXISTS (SELECT 1 FROM /*q.*/job_limits))`

	// One that has seen to what was due and expired goes on beside what is left of that, which others hold. It keeps no
	// limits.
	noLimits = `NOT (
      EXISTS (SELECT 1 FROM /*q.*/job_limit_marks WHERE due_at <= $2)
      OR EXISTS (SELECT 1 FROM /*q.*/job_heads WHERE open)
      OR EXISTS (SELECT 1 FROM /*q.*/job_limits))`

	// By ctid: each row is where it was found a moment ago, in the same snapshot. No index is asked again.
	claimSet = `
UPDATE /*q.*/jobs
SET state = 'running',
  hold = ` + jobsql.None + `,
  attempt = LEAST(attempt, ` + jobsql.BeforeLast + `) + 1,
  worker_id = $1,
  started_at = $2,
  updated_at = $2
WHERE ctid = ANY(`

	// Nobody holds the row, or has claimed the job since the snapshot, as xmax shows it at this moment: what has locked
	// the row or changed it last had ended before the snapshot, or is this transaction. To ask for the lock would tell
	// the same at a higher price: where another claim has taken the job since the snapshot, the row would be locked as
	// it is now, and the end of that job wait for this claim's commit. Locks of subtransactions, and those that several
	// share, do not show rightly.
	free = `(age(xmax) > (SELECT age(pg_snapshot_xmin(pg_current_snapshot())::xid))
        OR (age(xmax) > (SELECT age(pg_snapshot_xmax(pg_current_snapshot())::xid))
          AND xmax <> ALL(ARRAY(SELECT pg_snapshot_xip(pg_current_snapshot())::xid)))
        OR xmax = (SELECT pg_current_xact_id_if_assigned()::xid))`

	// A job that another transaction holds is that one's to end, or another claim's to run.
	claimFirst = claimSet + `ARRAY(` + firstBytes + `
    SELECT ctid AS place, ` + payloadSize + ` AS size
    FROM /*q.*/jobs
    WHERE state = 'queued'
      AND hold = ` + jobsql.None + `
      AND type = $3
      AND (expires_at IS NULL OR expires_at > $2)
      AND ` + free + `
      AND `
	claimLocked = `
    ORDER BY priority DESC, not_before, id
    LIMIT $4
    FOR UPDATE SKIP LOCKED) AS locked) AS sized
    WHERE before < $5 OR $5 = 0))`

	// The first of the locked rows, which come in the order of the claim, until their payloads reach a number of bytes.
	// The others stay locked until the claim commits, a moment later: other claims pass over them meanwhile. A sum
	// cannot end the locking early, and to add up before the rows are locked would count those that others are locking.
	firstBytes = `
  SELECT place
  FROM (
    SELECT place, SUM(size) OVER (ROWS UNBOUNDED PRECEDING) - size AS before
    FROM (`

	// The bytes of a payload as it is read, also where it is compressed.
	payloadSize = `octet_length(payload_json::text)`

	// Each type that has jobs to claim, with its first: a step for each type and not for each job. Of types beyond the
	// first $5 by their heads no job can be among the first $5, unless others hold some.
	claimHeads = `
WITH RECURSIVE heads AS (
  (SELECT type, priority, not_before, id
   FROM /*q.*/jobs
   WHERE state = 'queued'
     AND hold = ` + jobsql.None
	claimLanes = `
   ORDER BY type, priority DESC, not_before, id
   LIMIT 1)
  UNION ALL
  SELECT next.type, next.priority, next.not_before, next.id
  FROM heads
  CROSS JOIN LATERAL (
    SELECT type, priority, not_before, id
    FROM /*q.*/jobs
    WHERE state = 'queued'
      AND hold = ` + jobsql.None + `
      AND type > heads.type
    ORDER BY type, priority DESC, not_before, id
    LIMIT 1) AS next),
lanes AS (
  SELECT heads.type, LEAST(asked.capacity, $5) AS capacity
  FROM heads
  JOIN unnest($3::text[], $4::int[]) AS asked (type, capacity) ON asked.type = heads.type
  ORDER BY heads.priority DESC, heads.not_before, heads.id`
	firstLanes = `
  LIMIT $5`
	claimCandidates = `),
portion AS MATERIALIZED (
  SELECT GREATEST(10, 4 * $5 / GREATEST(1, COUNT(*)))::int AS size
  FROM lanes),
candidates AS (
  SELECT first.place, first.id, first.priority, first.not_before, first.nth, first.nth = portion.size AND first.nth < lanes.capacity AS cut
  FROM lanes
  CROSS JOIN portion
  CROSS JOIN LATERAL (
    SELECT place, id, priority, not_before, ROW_NUMBER() OVER (ORDER BY priority DESC, not_before, id) AS nth
    FROM (
      SELECT ctid AS place, id, priority, not_before
      FROM /*q.*/jobs
      WHERE state = 'queued'
        AND hold = ` + jobsql.None + `
        AND type = lanes.type
        AND (expires_at IS NULL OR expires_at > $2)`
	firstCandidates = `
      ORDER BY priority DESC, not_before, id
      LIMIT LEAST(lanes.capacity, portion.size)`

	// Behind the last place that was read of a type there may be another of it: what would come after it is left to the
	// next claim.
	//
	// IS NOT DISTINCT FROM keeps the planner from reading the index jobs_ready, once for each row.
	chosenOf = `) AS ready) AS first),
chosen AS (
  SELECT place
  FROM (
    SELECT place, id, priority, not_before,
      BOOL_OR(cut) OVER (ORDER BY priority DESC, not_before, id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS beyond
    FROM candidates) AS ordered
  WHERE beyond IS NOT TRUE
  ORDER BY priority DESC, not_before, id
  LIMIT $5)`
	stillReady = `
    FROM /*q.*/jobs
    WHERE ctid = ANY(ARRAY(SELECT place FROM chosen))
      AND state IS NOT DISTINCT FROM 'queued'
      AND hold IS NOT DISTINCT FROM ` + jobsql.None

	// Claims of many types: of each type the first ones, $6 times as many in all as are asked for, so that what other
	// claims hold can be passed over. Of these the first that nobody holds are locked, each as soon as it is seen to be
	// free, and no others. Types that have less capacity than is asked for have theirs locked where they are found:
	// what others hold must not count. The join is a list of tables, since JOIN would have xmax be that of the row to
	// update.
	claimRest = claimLanes + `
  LIMIT $5::int * $6::int),
portion AS MATERIALIZED (
  SELECT GREATEST(10, $6 * $5 / GREATEST(1, COUNT(*)))::int AS size
  FROM lanes),
candidates AS (
  SELECT first.place, first.id, first.priority, first.not_before, first.nth = portion.size AS cut
  FROM lanes
  CROSS JOIN portion
  CROSS JOIN LATERAL (
    SELECT place, id, priority, not_before, ROW_NUMBER() OVER (ORDER BY priority DESC, not_before, id) AS nth
    FROM (
      SELECT ctid AS place, id, priority, not_before` + readyOfLane + `
        AND lanes.capacity >= $5
      ORDER BY priority DESC, not_before, id
      LIMIT portion.size) AS ready) AS first
  UNION ALL
  SELECT first.place, first.id, first.priority, first.not_before, FALSE
  FROM lanes
  CROSS JOIN LATERAL (
      SELECT ctid AS place, id, priority, not_before` + readyOfLane + `
        AND lanes.capacity < $5
      ORDER BY priority DESC, not_before, id
      LIMIT lanes.capacity
      FOR UPDATE SKIP LOCKED) AS first),
chosen AS (
  SELECT place, priority, not_before, id
  FROM (
    SELECT place, priority, not_before, id,
      BOOL_OR(cut) OVER (ORDER BY priority DESC, not_before, id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS beyond
    FROM candidates) AS ordered
  WHERE beyond IS NOT TRUE
  ORDER BY priority DESC, not_before, id)` + claimSet + `ARRAY(` + firstBytes + `
    SELECT found.ctid AS place, ` + payloadSize + ` AS size
    FROM chosen, /*q.*/jobs AS found
    WHERE found.ctid = chosen.place
      AND found.state IS NOT DISTINCT FROM 'queued'
      AND found.hold IS NOT DISTINCT FROM ` + jobsql.None + `
      AND ` + free + `
    ORDER BY chosen.priority DESC, chosen.not_before, chosen.id
    LIMIT $5
    FOR UPDATE OF found SKIP LOCKED) AS locked) AS sized
    WHERE before < $7 OR $7 = 0))`
	readyOfLane = `
      FROM /*q.*/jobs
      WHERE state = 'queued'
        AND hold = ` + jobsql.None + `
        AND type = lanes.type
        AND (expires_at IS NULL OR expires_at > $2)
        AND ` + free

	// The first ready jobs of each type that do not look free, with what makes them look so.
	selectHeld = `
SELECT held.id, held.type, held.holder
FROM unnest($1::text[]) AS asked (type)
CROSS JOIN LATERAL (
  SELECT id, type, xmax::text AS holder, ` + free + ` AS free
  FROM /*q.*/jobs
  WHERE state = 'queued'
    AND hold = ` + jobsql.None + `
    AND type = asked.type
  ORDER BY priority DESC, not_before, id
  LIMIT 100) AS held
WHERE held.free IS NOT TRUE`

	// Those of the jobs that are still queued with the same holder. A snapshot of its own, a moment old: it shows the
	// jobs as queued that nobody has claimed until then.
	stillHeld = `
    FROM unnest($3::text[], $4::text[]) AS seen (id, holder), /*q.*/jobs AS found
    WHERE found.id = seen.id
      AND found.xmax::text = seen.holder
      AND found.state IS NOT DISTINCT FROM 'queued'
      AND found.hold IS NOT DISTINCT FROM ` + jobsql.None + `
      AND (found.expires_at IS NULL OR found.expires_at > $2)`
	skipLockedFound = `
    FOR UPDATE OF found SKIP LOCKED`

	claimHeld = claimSet + `ARRAY(` + firstBytes + `
    SELECT found.ctid AS place, ` + payloadSize + ` AS size` + stillHeld + `
      AND ` + noLimits + `
    LIMIT $6` + skipLockedFound + `) AS locked) AS sized
    WHERE before < $5 OR $5 = 0))`

	// The same for claims that have limits to keep; $1 is the worker, as there.
	selectPlacesHeld = `
SELECT found.ctid::text, found.type, found.priority, found.not_before, found.id, ` + payloadSize + stillHeld + `
      AND $1::text IS NOT NULL` + skipLockedFound

	// The ready jobs that a claim of the types would take, for claims that have limits to keep; $1 is the worker, as
	// there. They are locked, so that they are where they were found when the claim takes them. Whether there are any
	// is left for lookAhead.
	placesOf = chosenOf + `
SELECT ctid::text, type, priority, not_before, id, ` + payloadSize + stillReady + `
  AND $1::text IS NOT NULL
  AND (SELECT set_config('postroom.ready', CASE WHEN COUNT(*) = 0 AND ` + dueSoon + ` THEN 'soon' ELSE COUNT(*)::text END, TRUE)
       FROM lanes) <> ''
  AND ` + free + `
FOR UPDATE SKIP LOCKED`
	selectPlaces = claimHeads + claimLanes + firstLanes + claimCandidates + `
        AND ` + free + firstCandidates + placesOf

	// The same of every type, since the head of any may be held.
	selectPlacesPastHeld = claimHeads + claimLanes + claimCandidates + `
        AND ` + free + firstCandidates + placesOf

	// Whether a job may fall due before the claim ends: another claim, whose time is later, lets it go then, with others
	// that it does not take. It wakes nobody.
	dueSoon = `EXISTS (
         SELECT 1
         FROM /*q.*/jobs
         WHERE state = 'queued'
           AND hold = ` + jobsql.Scheduled + `
           AND not_before > $2
           AND not_before <= $2 + INTERVAL '1 minute')`

	// Has selectRemainder count the ready jobs although there were none.
	countReady = `SELECT set_config('postroom.ready', '', TRUE)`

	// What there is to do after a claim: chores; how many jobs there are to claim of the types $4, no more than $3 of a
	// type counted, and whether some may wait for keys that have capacity; when the next job falls due, of the first
	// hundred scheduled or at the last of them at the earliest, so that other types' jobs cost little; and when the
	// next key is to be looked at. A claim that has just seen that no job is ready does not count them again: to see
	// that, it has read past all that is left of the jobs that have been claimed or deleted since the last vacuum.
	selectRemainder = `
SELECT
  ` + choresOf + `,
  (SELECT COUNT(*)
   FROM unnest($4::text[]) AS open (type)
   CROSS JOIN LATERAL (
     SELECT 1
     FROM /*q.*/jobs
     WHERE state = 'queued'
       AND hold = ` + jobsql.None + `
       AND type = open.type
     LIMIT $3::int) AS ready
   WHERE current_setting('postroom.ready', TRUE) IS DISTINCT FROM '0'),
  EXISTS (SELECT 1 FROM /*q.*/job_heads WHERE open AND type = ANY($4)),
  (SELECT COALESCE(MIN(not_before) FILTER (WHERE type = ANY($2)), MAX(not_before) FILTER (WHERE nth = 100))
   FROM (
     SELECT type, not_before, ROW_NUMBER() OVER (ORDER BY not_before) AS nth
     FROM (
       SELECT type, not_before
       FROM /*q.*/jobs
       WHERE state = 'queued'
         AND hold = ` + jobsql.Scheduled + `
         AND not_before > $1
       ORDER BY not_before
       LIMIT 100) AS first) AS scheduled),
  (SELECT MIN(due_at) FROM /*q.*/job_limit_marks WHERE due_at > $1)`
)

// Claims, which return whole jobs. Those that come after the chores do not read which there are.
var (
	claimOfType       = claimFirst + noChores + claimLocked + returningJobs
	claimOfTypeAfter  = claimFirst + noLimits + claimLocked + returningJobs
	claimOfTypes      = claimHeads + "\n     AND " + noChores + claimRest + returningJobs
	claimOfTypesAfter = claimHeads + "\n     AND " + noLimits + claimRest + returningJobs
	claimHeldJobs     = claimHeld + returningJobs
	claimPlaces       = claimSet + `$3::text[]::tid[])` + returningJobs

	returningJobs = "\nRETURNING " + jobsql.Columns
)
