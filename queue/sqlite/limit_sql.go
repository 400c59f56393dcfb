package sqlite

import (
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

const (
	// keysLimited is whether any limit of keys is set. Without one, no job waits for its key.
	keysLimited = `EXISTS (SELECT 1 FROM /*q.*/job_limits WHERE kind IN ('key', 'prefix'))`

	// holdOfDue is the hold of a queued job that is due.
	holdOfDue = `CASE WHEN limit_key IS NOT NULL AND ` + keysLimited + ` THEN ` + jobsql.Limited + ` ELSE ` +
		jobsql.None + ` END`

	selectKeysLimited = `SELECT ` + keysLimited

	// A key is examined when the earliest of its marks falls due, those first that have been marked for longest.
	insertMarks = `
INSERT INTO /*q.*/job_limit_marks (due_at, limit_key)
SELECT $1, value
FROM json_each($2)
WHERE `
	onceMarked = `
ON CONFLICT (limit_key) DO UPDATE
SET due_at = MIN(due_at, excluded.due_at)`

	someWait = `EXISTS (SELECT 1 FROM /*q.*/jobs WHERE state = 'queued' AND hold = ` + jobsql.Limited +
		` AND limit_key = value)`
	isOpen = `EXISTS (SELECT 1 FROM /*q.*/job_heads WHERE limit_key = value)`

	markChanged = insertMarks + `(` + someWait + ` OR ` + isOpen + `)` + onceMarked
	isShut      = someWait + ` AND NOT ` + isOpen
	markFreed   = insertMarks + isShut + onceMarked

	selectFree = `
SELECT value
FROM json_each($1)
WHERE ` + isOpen + `
  OR NOT ` + someWait + `
  AND NOT EXISTS (SELECT 1 FROM /*q.*/jobs WHERE state = 'running' AND limit_key = value)`

	selectShut = `
SELECT value
FROM json_each($1)
WHERE ` + isShut

	markLater = `
INSERT INTO /*q.*/job_limit_marks (due_at, limit_key)
SELECT due_at, value
FROM (SELECT value ->> 0 AS due_at, value ->> 1 AS value FROM json_each($1))
WHERE ` + someWait + onceMarked

	deleteMarks = `
DELETE FROM /*q.*/job_limit_marks
WHERE id IN (
  SELECT id
  FROM /*q.*/job_limit_marks
  WHERE due_at <= $1
  ORDER BY due_at, id
  LIMIT $2 + 0)
RETURNING limit_key`

	// When they fall due was told by a clock that has been put back since.
	hastenMarks = `
UPDATE /*q.*/job_limit_marks
SET due_at = $1
WHERE due_at > $2`

	// The state of a limit as one text: that is several times cheaper than columns. Lines are limits.
	usageText = `
SELECT group_concat((COALESCE(l.paused, 0)`

	// The numbers of the one limit that holds.
	usageNumbers = `) || ' ' || COALESCE(l.max_running, 0) || ' ' || COALESCE(l.rate, 0) || ' ' ||
  COALESCE(l.period_us, 0) || ' ' || COALESCE(l.burst, 0) || ' ' || `

	// The limit of the key itself, else that of the longest beginning of it, which is searched for by its length. A
	// pause is one, whatever other limit holds.
	selectKeys = `
WITH lengths AS MATERIALIZED (
  SELECT DISTINCT LENGTH(name) AS n
  FROM /*q.*/job_limits
  WHERE kind = 'prefix')` + usageText + `
  OR EXISTS (SELECT 1 FROM lengths CROSS JOIN /*q.*/job_limits WHERE kind = 'prefix' AND name = substr(k.value, 1, n) AND paused)` +
		usageNumbers + `
  CASE WHEN l.max_running IS NULL THEN 0
  ELSE (SELECT COUNT(*) FROM /*q.*/jobs WHERE state = 'running' AND limit_key = k.value) END || ' ' ||
  CASE WHEN l.rate IS NULL THEN ''
  ELSE COALESCE((SELECT arrival FROM /*q.*/job_rates WHERE kind = 'key' AND name = k.value), '') END || ' ' ||
  json_quote(k.value), char(10))
FROM json_each($1) AS k
LEFT JOIN /*q.*/job_limits AS l ON (l.kind, l.name) = (
  SELECT kind, name
  FROM (
    SELECT kind, name
    FROM /*q.*/job_limits
    WHERE kind = 'key'
      AND name = k.value
    UNION ALL
    SELECT kind, name
    FROM (
      SELECT kind, name
      FROM lengths
      CROSS JOIN /*q.*/job_limits
      WHERE kind = 'prefix'
        AND name = substr(k.value, 1, n)
      ORDER BY n DESC
      LIMIT 1))
  LIMIT 1)`

	// The types of which jobs wait for the keys: a step of the index for each, and not for each job.
	selectWaitingTypes = `
WITH RECURSIVE waiting (limit_key, type) AS (
  SELECT value, (
    SELECT MIN(type)
    FROM /*q.*/jobs
    WHERE state = 'queued'
      AND hold = ` + jobsql.Limited + `
      AND limit_key = value)
  FROM json_each($1)
  UNION ALL
  SELECT limit_key, (
    SELECT MIN(type)
    FROM /*q.*/jobs
    WHERE state = 'queued'
      AND hold = ` + jobsql.Limited + `
      AND /*q.*/jobs.limit_key = waiting.limit_key
      AND /*q.*/jobs.type > waiting.type)
  FROM waiting
  WHERE type IS NOT NULL)
SELECT limit_key, type
FROM waiting
WHERE type IS NOT NULL`

	deleteHeadsOfKeys = `
DELETE FROM /*q.*/job_heads
WHERE limit_key IN (SELECT value FROM json_each($1))`

	deleteHeads = `
DELETE FROM /*q.*/job_heads
WHERE (limit_key, type) IN (SELECT value ->> 0, value ->> 1 FROM json_each($1))`

	// Of keys that wait no more with jobs of a type.
	deleteOldHeads = `
DELETE FROM /*q.*/job_heads
WHERE limit_key IN (SELECT value FROM json_each($1))
  AND NOT EXISTS (
    SELECT 1
    FROM /*q.*/jobs
    WHERE state = 'queued'
      AND hold = ` + jobsql.Limited + `
      AND /*q.*/jobs.limit_key = /*q.*/job_heads.limit_key
      AND /*q.*/jobs.type = /*q.*/job_heads.type)`

	insertHeads = `
INSERT INTO /*q.*/job_heads (limit_key, type, priority, not_before, id)
SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4
FROM json_each($1)
WHERE TRUE
ON CONFLICT (limit_key, type) DO UPDATE
SET priority = excluded.priority,
  not_before = excluded.not_before,
  id = excluded.id
WHERE `

	betterHeads = insertHeads + `(excluded.priority, /*q.*/job_heads.not_before, /*q.*/job_heads.id) >
  (/*q.*/job_heads.priority, excluded.not_before, excluded.id)`

	setHeads = insertHeads + `/*q.*/job_heads.id <> excluded.id
  OR /*q.*/job_heads.not_before <> excluded.not_before
  OR /*q.*/job_heads.priority <> excluded.priority`

	selectTypeLimits = usageText + usageNumbers +
		`0 || ' ' || COALESCE(arrival, '') || ' ' || json_quote(l.name), char(10))
FROM /*q.*/job_limits AS l
LEFT JOIN /*q.*/job_rates AS r ON r.kind = l.kind AND r.name = l.name
WHERE l.kind = 'type'`

	countRunning = `
SELECT type, COUNT(*)
FROM /*q.*/jobs
WHERE state = 'running'
GROUP BY type`

	setArrivals = `
INSERT INTO /*q.*/job_rates (kind, name, arrival)
SELECT value ->> 0, value ->> 1, value ->> 2
FROM json_each($1)
WHERE TRUE
ON CONFLICT (kind, name) DO UPDATE
SET arrival = excluded.arrival`

	putBackReady = `
UPDATE /*q.*/jobs
SET hold = ` + jobsql.Limited + `
WHERE state = 'queued'
  AND hold = ` + jobsql.None + `
  AND limit_key IS NOT NULL
  AND `

	markWaiting = `
INSERT INTO /*q.*/job_limit_marks (limit_key, due_at)
SELECT DISTINCT limit_key, '1970-01-01T00:00:00.000000Z'
FROM /*q.*/jobs
WHERE state = 'queued'
  AND hold = ` + jobsql.Limited + `
  AND `

	// Which limit keys a limit is about.
	theKey         = `limit_key = $1`
	keysWithPrefix = `limit_key >= $1 AND substr(limit_key, 1, LENGTH($1)) = $1`
)
