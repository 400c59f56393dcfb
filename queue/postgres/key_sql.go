package postgres

import "github.com/postroom-go/postroom/queue/internal/jobsql"

const (
	// Keeps the jobs from being claimed until the transaction ends.
	lockHolders = `
SELECT id, state
FROM jobs
WHERE id = ANY($1)
ORDER BY id
FOR SHARE`

	// Keys that are free again, unless another has taken them since. The order is that of insertKeys.
	dropKeys = `
DELETE FROM job_keys
WHERE key = ANY(ARRAY(
  SELECT job_keys.key
  FROM job_keys
  JOIN unnest($1::text[], $2::text[]) AS k (key, job_id) ON job_keys.key = k.key AND job_keys.job_id = k.job_id
  ORDER BY job_keys.key
  FOR UPDATE OF job_keys))`

	selectHolder = `
SELECT type, payload_json
FROM jobs
WHERE id = $1`

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
