package postgres

const (
	// Nothing is lost when a key is marked for nothing.
	markKeys = `
INSERT INTO job_admissions (due_at, limit_key)
SELECT due_at, limit_key
FROM unnest($1::timestamptz[], $2::text[]) AS m (due_at, limit_key)`

	// Each marked key with all that its room depends on: its limit (its own, else that of the longest beginning of it), how
	// many it has admitted, how many of them have not begun, and where its rate stands. One snapshot sees a mark and what it
	// was made for. The limit bounds how long one claim admits.
	takeMarks = `
WITH taken AS (
  DELETE FROM job_admissions
  WHERE id = ANY(ARRAY(
    SELECT id
    FROM job_admissions
    WHERE due_at <= $1
    ORDER BY due_at, limit_key
    LIMIT 1000))
  RETURNING limit_key),
marked AS (
  SELECT limit_key, COUNT(*) AS marks
  FROM taken
  GROUP BY limit_key)
SELECT m.limit_key, m.marks, COALESCE(l.paused, FALSE), l.max_running, l.rate, l.period_us, l.burst, a.admitted, a.ready, r.arrival
FROM marked AS m` + keyLimits + `
CROSS JOIN LATERAL (
  SELECT COUNT(*) AS admitted, COUNT(*) FILTER (WHERE state = 'queued') AS ready
  FROM jobs
  WHERE limit_key = m.limit_key
    AND state IN ('queued', 'running')
    AND hold = 0) AS a
LEFT JOIN job_rates AS r ON r.kind = 'key' AND r.name = m.limit_key`

	// The limit of each key m.limit_key. Two look-ups that an index answers, for keys that have limits of their own and for
	// prefixes, of which there are few.
	keyLimits = `
LEFT JOIN LATERAL (
  SELECT *
  FROM (
    (SELECT kind, name, paused, max_running, rate, period_us, burst
     FROM job_limits
     WHERE kind = 'key' AND name = m.limit_key)
    UNION ALL
    (SELECT kind, name, paused, max_running, rate, period_us, burst
     FROM job_limits
     WHERE kind = 'prefix' AND starts_with(m.limit_key, name))) AS either
  ORDER BY kind, LENGTH(name) DESC
  LIMIT 1) AS l ON TRUE`

	// Admits at most n of each key and tells how many it has admitted and how many it could have, had nobody held them.
	admitJobs = `
WITH wanted AS (
  SELECT limit_key, n
  FROM unnest($1::text[], $2::int[]) AS w (limit_key, n)),
admitted AS (
  UPDATE jobs
  SET hold = 0
  WHERE id = ANY(ARRAY(
    SELECT j.id
    FROM wanted AS w
    CROSS JOIN LATERAL (
      SELECT id
      FROM jobs
      WHERE limit_key = w.limit_key
        AND state = 'queued'
        AND hold = 2
      ORDER BY priority DESC, not_before, id
      LIMIT w.n
      FOR UPDATE SKIP LOCKED) AS j))
  RETURNING limit_key)
SELECT w.limit_key, COALESCE(a.n, 0), v.n
FROM wanted AS w
LEFT JOIN (
  SELECT limit_key, COUNT(*) AS n
  FROM admitted
  GROUP BY limit_key) AS a ON a.limit_key = w.limit_key
CROSS JOIN LATERAL (
  SELECT COUNT(*) AS n
  FROM (
    SELECT 1
    FROM jobs
    WHERE limit_key = w.limit_key
      AND state = 'queued'
      AND hold = 2
    LIMIT w.n) AS visible) AS v`

	// The limits of types, how many run of each, and where its rate stands.
	selectTypeLimits = `
SELECT l.name, l.paused, l.max_running, l.rate, l.period_us, l.burst, COALESCE(c.n, 0), r.arrival
FROM job_limits AS l
LEFT JOIN (
  SELECT type, COUNT(*) AS n
  FROM jobs
  WHERE state = 'running'
  GROUP BY type) AS c ON c.type = l.name
LEFT JOIN job_rates AS r ON r.kind = 'type' AND r.name = l.name
WHERE l.kind = 'type'`

	// The rates that keys spend from.
	selectKeyRates = `
SELECT m.limit_key, COALESCE(l.paused, FALSE), l.max_running, l.rate, l.period_us, l.burst, r.arrival
FROM unnest($1::text[]) AS m (limit_key)` + keyLimits + `
LEFT JOIN job_rates AS r ON r.kind = 'key' AND r.name = m.limit_key
WHERE l.rate IS NOT NULL`

	setArrivals = `
INSERT INTO job_rates (kind, name, arrival)
SELECT kind, name, arrival
FROM unnest($1::text[], $2::text[], $3::timestamptz[]) AS r (kind, name, arrival)
ON CONFLICT (kind, name) DO UPDATE
SET arrival = excluded.arrival`
)
