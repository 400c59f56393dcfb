package postgres

import "github.com/postroom-go/postroom/queue/driver"

const (
	// Nothing is lost when a key is marked for nothing. A claim takes a mark with all its keys, which are so many that
	// a mark costs little, and no more.
	markKeys = `
INSERT INTO /*q.*/job_limit_marks (due_at, limit_key, others)
SELECT $1, keys[1], keys[2:]
FROM (
  SELECT array_agg(limit_key) AS keys
  FROM unnest($2::text[]) WITH ORDINALITY AS m (limit_key, nth)
  GROUP BY (nth - 1) / 64) AS portions`

	// A claim that examines a key in vain writes the same again.
	markKeysOnce = `
INSERT INTO /*q.*/job_limit_marks (due_at, limit_key)
SELECT due_at, limit_key
FROM unnest($1::timestamptz[], $2::text[]) AS m (due_at, limit_key)
WHERE NOT EXISTS (
  SELECT 1
  FROM /*q.*/job_limit_marks AS a
  WHERE a.due_at = m.due_at
    AND a.limit_key = m.limit_key)`

	// When they fall due was told by a clock that has been put back since.
	hastenMarks = `
UPDATE /*q.*/job_limit_marks
SET due_at = $1
WHERE ctid = ANY(ARRAY(
  SELECT ctid
  FROM /*q.*/job_limit_marks
  WHERE due_at > $2
  FOR UPDATE SKIP LOCKED))`

	// The limit of the limit_key of each head (its own, else that of the longest beginning of it), where its rate
	// stands, and how many run. Limits of their own take a look-up that an index answers, where there are any, and of
	// prefixes there are few: they are examined in the order in which they stand. An index answers only for its own
	// collation. A pause is one, whatever other limit holds.
	usageOfHeads = `
prefixes AS MATERIALIZED (
  SELECT name, paused, max_running, rate, period_us, burst
  FROM /*q.*/job_limits
  WHERE kind = 'prefix'
  ORDER BY LENGTH(name) DESC),
limits AS (
  SELECT head.*,
    COALESCE(own.paused, prefix.paused, FALSE)
      OR EXISTS (SELECT 1 FROM prefixes WHERE prefixes.paused AND starts_with(head.limit_key, prefixes.name)) AS paused,
    COALESCE(own.max_running, prefix.max_running) AS max_running,
    COALESCE(own.rate, prefix.rate) AS rate,
    COALESCE(own.period_us, prefix.period_us) AS period_us,
    COALESCE(own.burst, prefix.burst) AS burst
  FROM head
  LEFT JOIN LATERAL (
    SELECT name, paused, max_running, rate, period_us, burst
    FROM /*q.*/job_limits
    WHERE kind = 'key'
      AND name = head.limit_key COLLATE "default"
      AND (SELECT EXISTS (SELECT 1 FROM /*q.*/job_limits WHERE kind = 'key'))) AS own ON TRUE
  LEFT JOIN LATERAL (
    SELECT paused, max_running, rate, period_us, burst
    FROM prefixes
    WHERE starts_with(head.limit_key, prefixes.name)
    LIMIT 1) AS prefix ON own.name IS NULL),
usage AS MATERIALIZED (
  SELECT limits.*,
    CASE WHEN rate IS NOT NULL THEN (SELECT arrival FROM /*q.*/job_rates WHERE kind = 'key' AND name = limit_key COLLATE "default") END AS arrival,
    CASE WHEN max_running IS NULL THEN 0
    ELSE (SELECT COUNT(*) FROM /*q.*/jobs WHERE state IS NOT DISTINCT FROM 'running' AND jobs.limit_key = limits.limit_key) END AS running
  FROM limits)`

	// Claims of a type that has a limit come one after the other, so that no two count the same capacity.
	lockTypeLimits = `
SELECT name
FROM /*q.*/job_limits
WHERE kind = 'type'
  AND name = ANY($1)
  AND (max_running IS NOT NULL OR rate IS NOT NULL)
ORDER BY name
FOR NO KEY UPDATE`

	// The columns are those of usageOfHeads; what runs is counted once for all types.
	selectTypeLimits = `
SELECT l.name, l.paused, l.max_running, l.rate, l.period_us, l.burst,
  CASE WHEN l.rate IS NOT NULL THEN (SELECT arrival FROM /*q.*/job_rates WHERE kind = 'type' AND name = l.name) END,
  0
FROM /*q.*/job_limits AS l
WHERE l.kind = 'type'
  AND (l.name = '` + driver.AllTypes + `' OR l.name = ANY($1))`

	countRunning = `
SELECT type, COUNT(*)
FROM /*q.*/jobs
WHERE state = 'running'
  AND EXISTS (SELECT 1 FROM /*q.*/job_limits WHERE kind = 'type' AND max_running IS NOT NULL)
GROUP BY type`

	setArrivals = `
INSERT INTO /*q.*/job_rates (kind, name, arrival)
SELECT $1, name, arrival
FROM unnest($2::text[], $3::timestamptz[]) AS r (name, arrival)
ON CONFLICT (kind, name) DO UPDATE
SET arrival = excluded.arrival`

	// Of a key, or of all keys that begin so ($1): whoever changes a limit makes the next claim examine them. No claim
	// has locked any meanwhile.
	openHeads = `
UPDATE /*q.*/job_heads
SET open = TRUE
WHERE NOT open
  AND ` + keyIn

	keyIn = `limit_key >= $2 AND (limit_key = $2 OR ($1 AND starts_with(limit_key, $2)))`
)
