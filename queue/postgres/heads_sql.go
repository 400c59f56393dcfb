package postgres

import "github.com/postroom-go/postroom/queue/internal/jobsql"

const (
	insertHeads = `
INSERT INTO /*q.*/job_heads (limit_key, type, priority, not_before, id, open)
SELECT limit_key, type, priority, not_before, id, open
FROM unnest($1::text[], $2::text[], $3::int[], $4::timestamptz[], $5::text[], $6::boolean[])
  AS f (limit_key, type, priority, not_before, id, open)`

	// Of the jobs among these that have come to wait for their keys.
	insertHeadsOf = `
INSERT INTO /*q.*/job_heads (limit_key, type, priority, not_before, id, open)
SELECT limit_key, type, priority, not_before, id, TRUE
FROM /*q.*/jobs
WHERE id = ANY($1)
  AND state IS NOT DISTINCT FROM 'queued'
  AND hold IS NOT DISTINCT FROM ` + jobsql.Limited

	// One for each lane of the keys, at its first job: a step of the index for each type, and not for each job.
	insertHeadsOfKeys = `
INSERT INTO /*q.*/job_heads (limit_key, type, priority, not_before, id, open)
WITH RECURSIVE heads AS (
  SELECT k.limit_key, h.type, h.priority, h.not_before, h.id
  FROM unnest($1::text[]) AS k (limit_key)
  CROSS JOIN LATERAL (
    SELECT type, priority, not_before, id
    FROM /*q.*/jobs
    WHERE state = 'queued'
      AND hold = ` + jobsql.Limited + `
      AND limit_key = k.limit_key
    ORDER BY type, ~priority, not_before, id
    LIMIT 1) AS h
  UNION ALL
  SELECT heads.limit_key, h.type, h.priority, h.not_before, h.id
  FROM heads
  CROSS JOIN LATERAL (
    SELECT type, priority, not_before, id
    FROM /*q.*/jobs
    WHERE state = 'queued'
      AND hold = ` + jobsql.Limited + `
      AND limit_key = heads.limit_key
      AND type > heads.type
    ORDER BY type, ~priority, not_before, id
    LIMIT 1) AS h)
SELECT limit_key, type, priority, not_before, id, TRUE
FROM heads`

	// Up to $2 due marks, and with their keys those of the first $5 open heads of the types $3, up to $4 of a type: all
	// heads of these keys, locked unless another claim has locked them. What another has locked is not first. Where
	// there may be others, a row tells how far this goes. Of each lane the first head is enough, however many have been
	// written since the key was last examined.
	//
	// Where the heads of the keys are that are this claim's stands in a setting, for readLanes: that statement, which
	// must see what has been committed before the locks were taken, is sent with this one.
	lockHeads = `
WITH marks AS MATERIALIZED (
  SELECT ctid AS place, limit_key, others
  FROM /*q.*/job_limit_marks
  WHERE due_at <= $1
  ORDER BY due_at, limit_key
  LIMIT $2
  FOR UPDATE SKIP LOCKED),
candidates AS (
  SELECT f.limit_key, f.priority, f.not_before, f.id, f.nth = $4 AS cut
  FROM unnest($3::text[]) AS asked (type)
  CROSS JOIN LATERAL (
    SELECT limit_key, priority, not_before, id, ROW_NUMBER() OVER (ORDER BY priority DESC, not_before, id) AS nth
    FROM (
      SELECT limit_key, priority, not_before, id
      FROM /*q.*/job_heads
      WHERE open
        AND type = asked.type
        AND ` + free + `
      ORDER BY priority DESC, not_before, id
      LIMIT $4) AS nearest) AS f),
first AS (
  SELECT limit_key, priority, not_before, id, nth, cut OR nth = $5 AS cut
  FROM (
    SELECT limit_key, priority, not_before, id, cut,
      ROW_NUMBER() OVER (ORDER BY priority DESC, not_before, id) AS nth,
      BOOL_OR(cut) OVER (ORDER BY priority DESC, not_before, id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS beyond
    FROM candidates) AS ordered
  WHERE beyond IS NOT TRUE
    AND nth <= $5),
wanted AS MATERIALIZED (
  SELECT limit_key
  FROM marks
  UNION
  SELECT unnest(others)
  FROM marks
  UNION
  SELECT limit_key
  FROM first),` + lockWanted + `
SELECT '` + foundMark + `',
  CASE WHEN NOT EXISTS (SELECT 1 FROM busy WHERE busy.limit_key = marks.limit_key OR busy.limit_key = ANY(marks.others)) THEN place::text END,
  NULL, NULL, NULL, NULL
FROM marks
UNION ALL
(SELECT '` + foundEnd + `', NULL, NULL, priority, not_before, id
FROM first
WHERE cut
ORDER BY nth DESC
LIMIT 1)
UNION ALL
` + answerWanted

	// The same of the keys $1 alone.
	lockFreedHeads = `
WITH wanted AS (
  SELECT unnest($1::text[]) AS limit_key),` + lockWanted + answerWanted

	lockWanted = `
visible AS MATERIALIZED (
  SELECT ctid AS place, limit_key, type, priority, not_before, id
  FROM /*q.*/job_heads
  WHERE limit_key = ANY(ARRAY(SELECT limit_key FROM wanted))),
locked AS MATERIALIZED (
  SELECT ctid AS place
  FROM /*q.*/job_heads
  WHERE ctid = ANY(ARRAY(SELECT place FROM visible))
  FOR UPDATE SKIP LOCKED),
found AS MATERIALIZED (
  SELECT visible.place, limit_key,
    BOOL_AND(locked.place IS NOT NULL) OVER (PARTITION BY limit_key) AS mine,
    ROW_NUMBER() OVER (PARTITION BY limit_key, type ORDER BY priority DESC, not_before, id) AS nth
  FROM visible
  LEFT JOIN locked ON locked.place = visible.place),
busy AS MATERIALIZED (
  SELECT DISTINCT limit_key
  FROM found
  WHERE NOT mine),
spare AS (
  DELETE FROM /*q.*/job_heads
  WHERE ctid = ANY(ARRAY(SELECT place FROM found WHERE mine AND nth > 1)))
`
	answerWanted = `SELECT '` + foundBusy + `', NULL, limit_key, NULL::int, NULL::timestamptz, NULL
FROM busy
UNION ALL
SELECT '` + foundTypes + `', NULL, NULL, NULL, NULL, NULL
WHERE EXISTS (SELECT 1 FROM /*q.*/job_limits WHERE kind = 'type')
UNION ALL
SELECT '` + foundLanes + `', NULL, NULL, NULL, NULL, NULL
WHERE set_config('postroom.heads', ARRAY(SELECT place FROM found WHERE mine AND nth = 1)::text, TRUE) = ''`

	// The lanes whose heads lockHeads has found, each with how its key stands, and its first jobs: as many as there is
	// capacity of its type ($2, $3), no more than are wanted ($4) and of very many lanes a few, and as the limit, but
	// for its rate, allows; and one beyond those. All but that one are to be taken, and are locked. Where one has no
	// place, another holds it: then readLanesPastLocks is to be asked instead.
	readLanes = lanesOfHeads + `
  seen.nth, job.place::text, seen.priority, seen.not_before, seen.id
FROM lane
LEFT JOIN LATERAL (
  SELECT place, priority, not_before, id, ROW_NUMBER() OVER () AS nth
  FROM (` + ofLane + inLane + ` + 1) AS visible) AS seen ON TRUE
LEFT JOIN LATERAL (
  SELECT ctid AS place
  FROM /*q.*/jobs
  WHERE ctid = seen.place
    AND seen.nth <= most
    AND state IS NOT DISTINCT FROM 'queued'
    AND hold IS NOT DISTINCT FROM ` + jobsql.Limited + `
    AND (expires_at IS NULL OR expires_at > $1)
  FOR UPDATE SKIP LOCKED) AS job ON TRUE`

	// The same, but what others hold is passed over. It counts as seen: of each lane there are the first jobs that can
	// be seen, and then those to take, which are not numbered.
	readLanesPastLocks = lanesOfHeads + `
  job.nth, job.place, job.priority, job.not_before, job.id
FROM lane
LEFT JOIN LATERAL (
  SELECT ROW_NUMBER() OVER () AS nth, NULL AS place, priority, not_before, id
  FROM (` + ofLane + inLane + ` + 1) AS visible
  UNION ALL
  SELECT NULL, place::text, priority, not_before, id
  FROM (` + ofLane + `
      AND (expires_at IS NULL OR expires_at > $1)` + inLane + `
    FOR UPDATE SKIP LOCKED) AS free) AS job ON TRUE`

	lanesOfHeads = `
WITH head AS MATERIALIZED (
  SELECT ctid AS place, limit_key, type, priority, not_before, id, open
  FROM /*q.*/job_heads
  WHERE ctid = ANY(current_setting('postroom.heads', TRUE)::tid[])),
portion AS MATERIALIZED (
  SELECT LEAST($4::int, GREATEST(10, 4 * $4::int / GREATEST(1, COUNT(*)))) AS size
  FROM head),` + usageOfHeads + `,
lane AS MATERIALIZED (
  SELECT usage.*,
    CASE WHEN paused THEN 0 ELSE GREATEST(0, LEAST(COALESCE(capacity, 0), size, max_running - running, burst)) END AS most
  FROM usage
  CROSS JOIN portion
  LEFT JOIN unnest($2::text[], $3::int[]) AS asked (name, capacity) ON asked.name = type)
SELECT lane.place::text, lane.type, lane.priority, lane.not_before, lane.id, lane.open,
  limit_key, paused, max_running, rate, period_us, burst, arrival, running, most,`

	// The jobs of a lane from where its head stands, so that the index is not read from where jobs have been claimed
	// since the last vacuum. ~ is an order that has no end, unlike -.
	ofLane = `
    SELECT ctid AS place, priority, not_before, id
    FROM /*q.*/jobs
    WHERE most > 0
      AND state = 'queued'
      AND hold = ` + jobsql.Limited + `
      AND limit_key = lane.limit_key
      AND type = lane.type
      AND (~priority, not_before, id) >= (~lane.priority, lane.not_before, lane.id)`
	inLane = `
    ORDER BY ~priority, not_before, id
    LIMIT most`

	// The jobs that wait at no head and behind none.
	selectUnfound = `
SELECT id
FROM /*q.*/jobs AS waiting
WHERE state = 'queued'
  AND hold = ` + jobsql.Limited + `
  AND ` + jobsql.BehindNoHead

	// Those that are spent go, and others take their places.
	moveHeads = `
WITH spent AS (
  DELETE FROM /*q.*/job_heads
  WHERE ctid = ANY($7::text[]::tid[]))` + insertHeads

	deleteMarks = `
DELETE FROM /*q.*/job_limit_marks
WHERE ctid = ANY($1::text[]::tid[])`
)
