package postgres

import (
	"github.com/postroom-go/postroom/internal/joblimit"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

const (
	// Nothing is lost when a key is marked for nothing.
	markKeys = `
INSERT INTO job_admissions (due_at, limit_key)
SELECT due_at, limit_key
FROM unnest($1::timestamptz[], $2::text[]) AS m (due_at, limit_key)`

	// A claim that looks at a key in vain says the same again.
	markKeysOnce = markKeys + `
WHERE NOT EXISTS (
  SELECT 1
  FROM job_admissions AS a
  WHERE a.due_at = m.due_at
    AND a.limit_key = m.limit_key)`

	// When they fall due was told by a clock that has been put back since.
	hastenMarks = `
UPDATE job_admissions
SET due_at = $1
WHERE due_at > $2`

	// The limit of each key m.limit_key (its own, else that of the longest beginning of it), where its rate stands, how many
	// run, and whether any wait. The limit takes two look-ups that an index answers, for keys that have limits of their own
	// and for prefixes, of which there are few. An index answers only for its own collation. A pause is one, whatever other
	// limit holds.
	standingOf = `
SELECT m.limit_key,
  COALESCE(l.paused, FALSE)
    OR EXISTS (SELECT 1 FROM job_limits WHERE kind = 'prefix' AND paused AND starts_with(m.limit_key, name)) AS paused,
  l.max_running, l.rate, l.period_us, l.burst,
  CASE WHEN l.rate IS NOT NULL THEN (SELECT arrival FROM job_rates WHERE kind = 'key' AND name = m.limit_key COLLATE "default") END AS arrival,
  CASE WHEN l.max_running IS NULL THEN 0
  ELSE (SELECT COUNT(*) FROM jobs WHERE state = 'running' AND limit_key = m.limit_key) END AS running,
  EXISTS (SELECT 1 FROM jobs WHERE state = 'queued' AND hold = ` + jobsql.Limited + ` AND limit_key = m.limit_key) AS waiting`
	limitOf = `
LEFT JOIN LATERAL (
  SELECT paused, max_running, rate, period_us, burst
  FROM (
    (SELECT kind, name, paused, max_running, rate, period_us, burst
     FROM job_limits
     WHERE kind = 'key' AND name = m.limit_key COLLATE "default")
    UNION ALL
    (SELECT kind, name, paused, max_running, rate, period_us, burst
     FROM job_limits
     WHERE kind = 'prefix' AND starts_with(m.limit_key, name))) AS either
  ORDER BY kind, LENGTH(name) DESC
  LIMIT 1) AS l ON TRUE`

	// Each marked key with all that its room depends on, and how many marks it had. One snapshot sees a mark and what it was
	// made for, and claims come one after the other, so that a mark stays where it is found. The limit bounds how long one
	// claim admits.
	takeMarks = `
WITH taken AS (
  DELETE FROM job_admissions
  WHERE ctid = ANY(ARRAY(
    SELECT ctid
    FROM job_admissions
    WHERE due_at <= $1
    ORDER BY due_at, limit_key
    LIMIT 1000))
  RETURNING limit_key),
marked AS (
  SELECT limit_key, COUNT(*) AS marks
  FROM taken
  GROUP BY limit_key)` + standingOf + `, m.marks
FROM marked AS m` + limitOf

	// Of each type that waits for one of the keys, the first ones, unless as many of the type as there is room for (any
	// number where that is negative) stand ready that come before them. Tells of each key how many were wanted and how many
	// have become ready, which are fewer when others hold them.
	admitJobs = `
WITH RECURSIVE heads AS (
  SELECT w.limit_key, w.portion, w.room, h.type, h.priority, h.not_before, h.id
  FROM unnest($1::text[], $2::int[], $3::int[]) AS w (limit_key, portion, room)
  CROSS JOIN LATERAL (
    SELECT type, priority, not_before, id
    FROM jobs
    WHERE state = 'queued'
      AND hold = ` + jobsql.Limited + `
      AND limit_key = w.limit_key
    ORDER BY type, priority DESC, not_before, id
    LIMIT 1) AS h
  UNION ALL
  SELECT w.limit_key, w.portion, w.room, h.type, h.priority, h.not_before, h.id
  FROM heads AS w
  CROSS JOIN LATERAL (
    SELECT type, priority, not_before, id
    FROM jobs
    WHERE state = 'queued'
      AND hold = ` + jobsql.Limited + `
      AND limit_key = w.limit_key
      AND type > w.type
    ORDER BY type, priority DESC, not_before, id
    LIMIT 1) AS h),
open AS (
  SELECT limit_key, portion, type
  FROM heads AS h
  WHERE h.room < 0
    OR h.room > (
      SELECT COUNT(*)
      FROM (
        SELECT 1
        FROM jobs
        WHERE state = 'queued'
          AND hold = ` + jobsql.None + `
          AND limit_key = h.limit_key
          AND type = h.type
          AND priority >= h.priority
          AND (priority > h.priority OR (not_before, id) < (h.not_before, h.id))
        LIMIT GREATEST(h.room, 0)) AS before)),
wanted AS (
  SELECT o.limit_key, COUNT(*) AS n
  FROM open AS o
  CROSS JOIN LATERAL (
    SELECT 1
    FROM jobs
    WHERE state = 'queued'
      AND hold = ` + jobsql.Limited + `
      AND limit_key = o.limit_key
      AND type = o.type
    LIMIT o.portion) AS j
  GROUP BY o.limit_key),
admitted AS (
  UPDATE jobs
  SET hold = ` + jobsql.None + `
  WHERE id = ANY(ARRAY(
    SELECT j.id
    FROM open AS o
    CROSS JOIN LATERAL (
      SELECT id
      FROM jobs
      WHERE state = 'queued'
        AND hold = ` + jobsql.Limited + `
        AND limit_key = o.limit_key
        AND type = o.type
      ORDER BY priority DESC, not_before, id
      LIMIT o.portion
      FOR UPDATE SKIP LOCKED) AS j))
  RETURNING limit_key)
SELECT w.limit_key, w.n, (SELECT COUNT(*) FROM admitted WHERE admitted.limit_key = w.limit_key)
FROM wanted AS w`

	// The columns are those of standingOf; what runs is counted once for all types.
	selectTypeLimits = `
SELECT l.name, l.paused, l.max_running, l.rate, l.period_us, l.burst,
  CASE WHEN l.rate IS NOT NULL THEN (SELECT arrival FROM job_rates WHERE kind = 'type' AND name = l.name) END,
  0, FALSE
FROM job_limits AS l
WHERE l.kind = 'type'
  AND (l.name = '` + allTypes + `' OR l.name = ANY($1))`

	countRunning = `
SELECT type, COUNT(*)
FROM jobs
WHERE state = 'running'
  AND EXISTS (SELECT 1 FROM job_limits WHERE kind = 'type' AND max_running IS NOT NULL)
GROUP BY type`

	putBackJobs = `
UPDATE jobs
SET hold = ` + jobsql.Limited + `
WHERE ctid = ANY($1::text[]::tid[])`

	setArrivals = `
INSERT INTO job_rates (kind, name, arrival)
SELECT $1, name, arrival
FROM unnest($2::text[], $3::timestamptz[]) AS r (name, arrival)
ON CONFLICT (kind, name) DO UPDATE
SET arrival = excluded.arrival`

	setLimit = `
INSERT INTO job_limits (kind, name, paused, max_running, rate, period_us, burst, updated_at)
VALUES ($1, $2, FALSE, NULLIF($3::int, 0), NULLIF($4::int, 0), NULLIF($5::bigint, 0), NULLIF($6::int, 0), $7)
ON CONFLICT (kind, name) DO UPDATE
SET max_running = excluded.max_running,
  rate = excluded.rate,
  period_us = excluded.period_us,
  burst = excluded.burst,
  updated_at = excluded.updated_at`

	setPaused = `
INSERT INTO job_limits (kind, name, paused, updated_at)
VALUES ($1, $2, $3, $4)
ON CONFLICT (kind, name) DO UPDATE
SET paused = excluded.paused,
  updated_at = excluded.updated_at`

	deleteNoLimit = `
DELETE FROM job_limits
WHERE kind = $1
  AND name = $2
  AND NOT paused
  AND max_running IS NULL
  AND rate IS NULL`

	// The ready jobs of a key, or of all keys that begin so ($1).
	putBackReady = `
UPDATE jobs
SET hold = ` + jobsql.Limited + `
WHERE state = 'queued'
  AND hold = ` + jobsql.None + `
  AND ` + keyIn

	markWaiting = `
INSERT INTO job_admissions (due_at, limit_key)
SELECT DISTINCT to_timestamp(0), limit_key
FROM jobs
WHERE state = 'queued'
  AND hold = ` + jobsql.Limited + `
  AND ` + keyIn

	keyIn = `limit_key >= $2 AND (limit_key = $2 OR ($1 AND starts_with(limit_key, $2)))`

	limitCoalesced = `
INSERT INTO job_limits (kind, name, paused, max_running, updated_at)
VALUES ('prefix', '` + joblimit.Coalesced + `', FALSE, 1, $1)
ON CONFLICT (kind, name) DO NOTHING`

	selectLimits = `
SELECT kind, name, paused, max_running, rate, period_us, burst
FROM job_limits
WHERE kind <> 'prefix'
  OR name <> '` + joblimit.Coalesced + `'
ORDER BY kind COLLATE "C", name COLLATE "C"`
)
