package jobsql

// SelectFinished selects the types of the jobs that have finished in a state, and when the first of each did. It takes
// one step of the index jobs_finished for each type, and not for each job.
const SelectFinished = `
WITH RECURSIVE types (type) AS (
  SELECT (
    SELECT type
    FROM /*q.*/jobs
    WHERE state = $1
      AND finished_at IS NOT NULL
    ORDER BY type
    LIMIT 1)
  UNION ALL
  SELECT (
    SELECT /*q.*/jobs.type
    FROM /*q.*/jobs
    WHERE state = $1
      AND finished_at IS NOT NULL
      AND /*q.*/jobs.type > types.type
    ORDER BY /*q.*/jobs.type
    LIMIT 1)
  FROM types
  WHERE type IS NOT NULL)
SELECT type, (
  SELECT MIN(finished_at)
  FROM /*q.*/jobs
  WHERE state = $1
    AND /*q.*/jobs.type = types.type
    AND finished_at IS NOT NULL)
FROM types
WHERE type IS NOT NULL`
