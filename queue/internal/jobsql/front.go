package jobsql

// BehindNoFront is the condition that no front of its limit key and type stands at the job waiting or before it.
const BehindNoFront = `NOT EXISTS (
    SELECT 1
    FROM job_fronts
    WHERE job_fronts.limit_key = waiting.limit_key
      AND job_fronts.type = waiting.type
      AND (job_fronts.priority > waiting.priority
        OR (job_fronts.priority = waiting.priority
          AND (job_fronts.not_before, job_fronts.id) <= (waiting.not_before, waiting.id))))`
