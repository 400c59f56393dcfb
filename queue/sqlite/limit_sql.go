package sqlite

import "github.com/postroom-go/postroom/internal/joblimit"

const (
	// keysLimited is whether any limit of keys is set. Without one, no job waits for its key.
	keysLimited = `EXISTS (SELECT 1 FROM job_limits WHERE kind IN ('key', 'prefix'))`

	// holdOfDue is the hold of a queued job that is due.
	holdOfDue = `CASE WHEN limit_key IS NOT NULL AND ` + keysLimited + ` THEN 2 ELSE 0 END`

	selectKeysLimited = `SELECT ` + keysLimited

	// A key is looked at when the earliest of its marks falls due.
	insertMarks = `
INSERT INTO job_admissions (due_at, limit_key)
SELECT $1, value
FROM json_each($2)
WHERE `
	onceMarked = `
ON CONFLICT (limit_key) DO UPDATE
SET due_at = MIN(due_at, excluded.due_at)`

	markKeys        = insertMarks + `TRUE` + onceMarked
	markLimitedKeys = insertMarks + keysLimited + onceMarked

	// The limit bounds how long one claim holds the writer.
	takeMarks = `
DELETE FROM job_admissions
WHERE limit_key IN (
  SELECT limit_key
  FROM job_admissions
  WHERE due_at <= $1
  ORDER BY due_at
  LIMIT 100)
RETURNING limit_key`

	selectNextMark = `
SELECT MIN(due_at)
FROM job_admissions`

	// The limit of the key itself, else that of the longest beginning of it.
	selectKeys = `
SELECT k.value, COALESCE(l.paused, FALSE), l.max_running, l.rate, l.period_us, l.burst,
  CASE WHEN l.rate IS NULL THEN NULL
  ELSE (SELECT arrival FROM job_rates WHERE kind = 'key' AND name = k.value) END,
  CASE WHEN l.max_running IS NULL THEN 0
  ELSE (SELECT COUNT(*) FROM jobs WHERE state = 'running' AND limit_key = k.value) END,
  EXISTS (SELECT 1 FROM jobs WHERE state = 'queued' AND hold = 2 AND limit_key = k.value)
FROM json_each($1) AS k
LEFT JOIN job_limits AS l ON (l.kind, l.name) = (
  SELECT kind, name
  FROM job_limits
  WHERE (kind = 'key' AND name = k.value)
    OR (kind = 'prefix' AND name = substr(k.value, 1, LENGTH(name)))
  ORDER BY kind, LENGTH(name) DESC
  LIMIT 1)`

	selectTypeLimits = `
SELECT l.name, paused, max_running, rate, period_us, burst, arrival, 0, FALSE
FROM job_limits AS l
LEFT JOIN job_rates AS r ON r.kind = l.kind AND r.name = l.name
WHERE l.kind = 'type'`

	countRunning = `
SELECT type, COUNT(*)
FROM jobs
WHERE state = 'running'
GROUP BY type`

	// Of each type that waits for the key, the first $2, unless $3 jobs of the type stand ready that come before them.
	admitJobs = `
WITH RECURSIVE types (name) AS (
  SELECT MIN(type)
  FROM jobs
  WHERE state = 'queued'
    AND hold = 2
    AND limit_key = $1
  UNION ALL
  SELECT (
    SELECT MIN(type)
    FROM jobs
    WHERE state = 'queued'
      AND hold = 2
      AND limit_key = $1
      AND type > types.name)
  FROM types
  WHERE name IS NOT NULL)
UPDATE jobs
SET hold = 0
WHERE id IN (
  SELECT first.value
  FROM types
  CROSS JOIN json_each((
    SELECT json_group_array(id)
    FROM (
      SELECT id
      FROM jobs
      WHERE state = 'queued'
        AND hold = 2
        AND limit_key = $1
        AND type = types.name
      ORDER BY priority DESC, not_before, id
      LIMIT $2))) AS first
  WHERE types.name IS NOT NULL
    AND $3 > (
      SELECT COUNT(*)
      FROM (
        SELECT 1
        FROM jobs
        WHERE state = 'queued'
          AND hold = 0
          AND limit_key = $1
          AND type = types.name
          AND priority >= (
            SELECT MAX(priority)
            FROM jobs
            WHERE state = 'queued'
              AND hold = 2
              AND limit_key = $1
              AND type = types.name)
        LIMIT $3)))`

	admitAny = `
UPDATE jobs
SET hold = 0
WHERE id IN (
  SELECT id
  FROM jobs
  WHERE state = 'queued'
    AND hold = 2
    AND limit_key = $1
  LIMIT $2)`

	putBackJobs = `
UPDATE jobs
SET hold = 2
WHERE id IN (SELECT value FROM json_each($1))`

	setArrival = `
INSERT INTO job_rates (kind, name, arrival)
VALUES ($1, $2, $3)
ON CONFLICT (kind, name) DO UPDATE
SET arrival = excluded.arrival`

	setLimit = `
INSERT INTO job_limits (kind, name, paused, max_running, rate, period_us, burst, updated_at)
VALUES ($1, $2, FALSE, $3, $4, $5, $6, $7)
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

	putBackReady = `
UPDATE jobs
SET hold = 2
WHERE state = 'queued'
  AND hold = 0
  AND limit_key IS NOT NULL
  AND `

	markWaiting = `
INSERT INTO job_admissions (limit_key, due_at)
SELECT DISTINCT limit_key, '1970-01-01T00:00:00.000000Z'
FROM jobs
WHERE state = 'queued'
  AND hold = 2
  AND `

	// Which limit keys a limit is about.
	theKey         = `limit_key = $1`
	keysWithPrefix = `limit_key >= $1 AND substr(limit_key, 1, LENGTH($1)) = $1`

	limitCoalesced = `
INSERT INTO job_limits (kind, name, paused, max_running, updated_at)
VALUES ('prefix', '` + joblimit.Coalesced + `', FALSE, 1, $1)
ON CONFLICT (kind, name) DO NOTHING`

	selectLimits = `
SELECT kind, name, paused, max_running, rate, period_us, burst
FROM job_limits
WHERE kind <> 'prefix'
  OR name <> '` + joblimit.Coalesced + `'
ORDER BY kind, name`
)
