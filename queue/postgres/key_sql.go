package postgres

import "github.com/postroom-go/postroom/queue/internal/jobsql"

const (
	// Keeps the jobs that wait from being claimed until the transaction ends, as several may, and those that have begun from
	// ending. Of these the transaction takes the key away, and it may go on to end them: two that had shared such a row, both
	// to have its key, would wait for each other. One that changes meanwhile is in neither list.
	lockHolders = `
SELECT id, state
FROM (
  SELECT id, state
  FROM jobs
  WHERE id = ANY($1)
    AND state = 'queued'
  ORDER BY id
  FOR SHARE) AS waiting
UNION ALL
SELECT id, state
FROM (
  SELECT id, state
  FROM jobs
  WHERE id = ANY($1)
    AND state <> 'queued'
  ORDER BY id
  FOR NO KEY UPDATE) AS begun`

	// Keys that are free again, unless another has taken them since. The order is that of insertKeys.
	dropKeys = `
DELETE FROM job_keys
WHERE key = ANY(ARRAY(
  SELECT job_keys.key
  FROM job_keys
  JOIN unnest($1::text[], $2::text[]) AS k (key, job_id) ON job_keys.key = k.key AND job_keys.job_id = k.job_id
  ORDER BY job_keys.key COLLATE "C"
  FOR UPDATE OF job_keys))`

	selectAgain = `
SELECT id, type, payload_json, idempotency_key
FROM jobs
WHERE id = ANY($1)`

	// Jobs that are queued again while others wait under their keys.
	supersedeJobs = `
UPDATE jobs
SET state = 'canceled',
  hold = ` + jobsql.None + `,
  last_error = 'superseded by ' || k.job_id,
  updated_at = $1,
  finished_at = $1
FROM unnest($2::text[], $3::text[]) AS again (id, key)
JOIN job_keys AS k ON k.key = again.key
WHERE jobs.id = again.id
  AND k.job_id <> again.id
  AND k.scope = 'coalesce'`
)
