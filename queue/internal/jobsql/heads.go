package jobsql

// BehindNoHead is the condition that no head of its limit key and type stands at the job waiting or before it.
const BehindNoHead = `NOT EXISTS (
    SELECT 1
    FROM /*q.*/job_heads
    WHERE /*q.*/job_heads.limit_key = waiting.limit_key
      AND /*q.*/job_heads.type = waiting.type
      AND (/*q.*/job_heads.priority > waiting.priority
        OR (/*q.*/job_heads.priority = waiting.priority
          AND (/*q.*/job_heads.not_before, /*q.*/job_heads.id) <= (waiting.not_before, waiting.id))))`
