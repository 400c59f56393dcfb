package jobsql

// BehindNoHead is the condition that no head of its limit key and type stands at the job waiting or before it.
const BehindNoHead = `NOT EXISTS (
    SELECT 1
    FROM job_heads
    WHERE job_heads.limit_key = waiting.limit_key
      AND job_heads.type = waiting.type
      AND (job_heads.priority > waiting.priority
        OR (job_heads.priority = waiting.priority
          AND (job_heads.not_before, job_heads.id) <= (waiting.not_before, waiting.id))))`
