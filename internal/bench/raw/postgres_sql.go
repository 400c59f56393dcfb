package raw

// postgresShape is the table that a queue would have. Insert is the columns, for COPY as well.
var postgresShape = shape{
	// Many machines make it only once.
	Table: `
CREATE TABLE IF NOT EXISTS jobs (
  id TEXT PRIMARY KEY,
  type TEXT NOT NULL,
  payload_json TEXT NOT NULL,
  priority INTEGER NOT NULL DEFAULT 0,
  state TEXT NOT NULL CHECK(state IN ('queued','running','completed','failed','canceled')),
  attempts INTEGER NOT NULL DEFAULT 0,
  max_attempts INTEGER NOT NULL DEFAULT 5,
  not_before TIMESTAMPTZ,
  idempotency_key TEXT,
  last_error TEXT,
  heartbeat_at TIMESTAMPTZ,
  created_at TIMESTAMPTZ NOT NULL,
  updated_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX IF NOT EXISTS jobs_due ON jobs(priority DESC, id) WHERE state = 'queued' AND not_before IS NULL;
CREATE INDEX IF NOT EXISTS jobs_scheduled ON jobs(not_before) WHERE state = 'queued' AND not_before IS NOT NULL;
CREATE UNIQUE INDEX IF NOT EXISTS jobs_idem_idx ON jobs(idempotency_key) WHERE idempotency_key IS NOT NULL;`,

	Insert: "id, type, payload_json, priority, state, not_before, created_at, updated_at",
	Args: func(j *storedJob) []any {
		return []any{j.id, "bench", j.payload, j.priority, j.state, j.scheduled, j.now, j.now}
	},
	Claim: `
UPDATE jobs
SET state = 'running', attempts = attempts + 1, heartbeat_at = $1, updated_at = $1
WHERE id = ANY (ARRAY (
  SELECT id
  FROM jobs
  WHERE state = 'queued'
    AND not_before IS NULL
  ORDER BY priority DESC, id
  LIMIT $2
  FOR UPDATE SKIP LOCKED))
RETURNING id, payload_json`,
	Complete: "UPDATE jobs SET state = 'completed', updated_at = $1 WHERE id = ANY ($2) AND state = 'running'",
}

// ourPostgresPlans keep the planner to the indexes, as our driver does.
var ourPostgresPlans = map[string]string{"plan_cache_mode": "force_generic_plan", "enable_seqscan": "off",
	"enable_bitmapscan": "off", "jit": "off"}

// ourPostgresShape is the least that our tables need of a statement.
var ourPostgresShape = shape{
	Insert: "id, type, payload_json, priority, state, hold, not_before, max_attempts, created_at, updated_at, finished_at",
	Args: func(j *storedJob) []any {
		hold, due, finished := ourHold(j)
		return []any{j.id, "bench", j.payload, j.priority, j.state, hold, due, 5, j.now, j.now, finished}
	},
	Claim: `
UPDATE jobs
SET state = 'running', attempt = attempt + 1, worker_id = 'raw', started_at = $1, updated_at = $1
WHERE ctid = ANY (ARRAY (
  SELECT ctid
  FROM jobs
  WHERE state = 'queued'
    AND hold = 0
    AND type = 'bench'
  ORDER BY priority DESC, not_before, id
  LIMIT $2
  FOR UPDATE SKIP LOCKED))
RETURNING id, payload_json::text`,
	Complete: `
UPDATE jobs
SET state = 'completed', hold = 0, updated_at = $1, finished_at = $1
WHERE id = ANY ($2)
  AND state IS NOT DISTINCT FROM 'running'`,
}
