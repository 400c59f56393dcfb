package jobsql

// All of these run on every engine. Each reads a bounded number of rows, however many jobs there are: types and
// priorities are found by one step in the index each, and counts end at a limit.
const (
	// Uses the index jobs_finished.
	selectFinishedKinds = `
WITH RECURSIVE kinds (state, type) AS (
  SELECT s.column1, (SELECT MIN(type) FROM /*q.*/jobs WHERE state = s.column1 AND finished_at IS NOT NULL)
  FROM (VALUES ('completed'), ('failed'), ('canceled')) AS s
  UNION ALL
  SELECT state, (SELECT MIN(type) FROM /*q.*/jobs WHERE state = kinds.state AND finished_at IS NOT NULL AND type > kinds.type)
  FROM kinds
  WHERE type IS NOT NULL)
SELECT state, type,
  (SELECT COUNT(*)
   FROM (SELECT 1 FROM /*q.*/jobs WHERE state = kinds.state AND type = kinds.type AND finished_at IS NOT NULL LIMIT $1) AS counted),
  (SELECT MAX(finished_at) FROM /*q.*/jobs WHERE state = kinds.state AND type = kinds.type AND finished_at IS NOT NULL)
FROM kinds
WHERE type IS NOT NULL`

	// Uses the index jobs_ready. Within a type and priority it is in the order of not_before.
	selectReady = `
WITH RECURSIVE types (type) AS (
  SELECT MIN(type) FROM /*q.*/jobs WHERE state = 'queued' AND hold = ` + None + `
  UNION ALL
  SELECT (SELECT MIN(type) FROM /*q.*/jobs WHERE state = 'queued' AND hold = ` + None + ` AND type > types.type)
  FROM types
  WHERE type IS NOT NULL),
levels (type, priority) AS (
  SELECT type, (SELECT MAX(priority) FROM /*q.*/jobs WHERE state = 'queued' AND hold = ` + None + ` AND type = types.type)
  FROM types
  WHERE type IS NOT NULL
  UNION ALL
  SELECT type,
    (SELECT MAX(priority) FROM /*q.*/jobs WHERE state = 'queued' AND hold = ` + None + ` AND type = levels.type AND priority < levels.priority)
  FROM levels
  WHERE priority IS NOT NULL)
SELECT type,
  (SELECT COUNT(*)
   FROM (SELECT 1 FROM /*q.*/jobs WHERE state = 'queued' AND hold = ` + None + ` AND type = levels.type AND priority = levels.priority LIMIT $1)
     AS counted),
  (SELECT MIN(not_before) FROM /*q.*/jobs WHERE state = 'queued' AND hold = ` + None + ` AND type = levels.type AND priority = levels.priority)
FROM levels
WHERE priority IS NOT NULL`

	// The earliest due first. Those that have become due are ready: the next claim takes them in.
	selectScheduled = `
SELECT type, COUNT(*), MIN(not_before)
FROM (SELECT type, not_before FROM /*q.*/jobs WHERE state = 'queued' AND hold = ` + Scheduled + ` ORDER BY not_before LIMIT $1) AS counted
GROUP BY type, not_before <= $2`

	selectLimited = `
SELECT type, COUNT(*), MIN(not_before)
FROM (SELECT type, not_before FROM /*q.*/jobs WHERE state = 'queued' AND hold = ` + Limited + ` LIMIT $1) AS counted
GROUP BY type`

	// There are none unless a move is under way, or was interrupted. Uses the index jobs_moving.
	selectMoving = `
SELECT type, COUNT(*), MIN(not_before)
FROM (SELECT type, not_before FROM /*q.*/jobs WHERE state = 'queued' AND hold = ` + Moving + ` LIMIT $1) AS counted
GROUP BY type`

	// Uses the index jobs_held.
	selectWaiting = `
SELECT type, COUNT(*)
FROM (SELECT type FROM /*q.*/jobs WHERE state = 'queued' AND hold = ` + Waiting + ` LIMIT $1) AS counted
GROUP BY type`

	// Not more than the processes have slots.
	selectRunning = `
SELECT worker_id, type, COUNT(*)
FROM /*q.*/jobs
WHERE state = 'running'
GROUP BY worker_id, type`

	// Newest first, so that what a limit cuts off is the oldest. The end is the text of a group, for each engine its
	// own.
	selectThroughput = `
SELECT MIN(finished_at), COUNT(*)
FROM (
  SELECT finished_at
  FROM /*q.*/jobs
  WHERE state = $1
    AND type = $2
    AND finished_at >= $3
  ORDER BY finished_at DESC
  LIMIT $4) AS counted
GROUP BY `

	// Newest first, by the primary key.
	selectCreated = `
SELECT substr(id, 1, 10), COUNT(*)
FROM (SELECT id FROM /*q.*/jobs WHERE id >= $1 ORDER BY id DESC LIMIT $2) AS counted
GROUP BY substr(id, 1, 10)`

	selectLast = `
SELECT not_before, started_at, finished_at
FROM /*q.*/jobs
WHERE state = $1
  AND type = $2
  AND finished_at >= $3
ORDER BY finished_at DESC
LIMIT $4`
)
