-- Claims take the jobs that wait for limit keys (hold 2) from where they wait, and find them by their heads: for each waiting
-- job there is a head of its key and type that stands at it or before it. A key may have several heads of one type. They are
-- open as long as the key may have capacity.
CREATE TABLE job_heads (
  limit_key TEXT COLLATE "C" NOT NULL,
  type TEXT COLLATE "C" NOT NULL,
  priority INTEGER NOT NULL,
  not_before TIMESTAMPTZ NOT NULL,
  id TEXT COLLATE "C" NOT NULL,
  open BOOLEAN NOT NULL
) WITH (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 1000
);
CREATE INDEX job_heads_open ON job_heads (type, priority DESC, not_before, id) WHERE open;
CREATE INDEX job_heads_key ON job_heads (limit_key);

UPDATE jobs
SET hold = 2
WHERE state = 'queued'
  AND hold = 0
  AND limit_key IS NOT NULL;

INSERT INTO job_heads (limit_key, type, priority, not_before, id, open)
SELECT DISTINCT ON (limit_key, type) limit_key, type, priority, not_before, id, TRUE
FROM jobs
WHERE state = 'queued'
  AND hold = 2
ORDER BY limit_key, type, priority DESC, not_before, id;

DROP INDEX jobs_admitted;
