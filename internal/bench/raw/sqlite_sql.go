package raw

const rowsAtOnce = 50 // a statement

// pragmas are those of our driver's writer, and a checkpoint each 16 MB, by the connection that writes.
const pragmas = "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16000; PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 67108864;"

// sqliteShape is the table that a queue would have.
var sqliteShape = shape{
	Table: `
CREATE TABLE jobs (
  id TEXT PRIMARY KEY,
  type TEXT NOT NULL,
  payload_json TEXT NOT NULL,
  priority INTEGER NOT NULL DEFAULT 0,
  state TEXT NOT NULL CHECK(state IN ('queued','running','completed','failed','canceled')),
  attempts INTEGER NOT NULL DEFAULT 0,
  max_attempts INTEGER NOT NULL DEFAULT 5,
  not_before TEXT,
  idempotency_key TEXT,
  last_error TEXT,
  heartbeat_at TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
);
CREATE INDEX jobs_due ON jobs(priority DESC, id) WHERE state = 'queued' AND not_before IS NULL;
CREATE INDEX jobs_scheduled ON jobs(not_before) WHERE state = 'queued' AND not_before IS NOT NULL;
CREATE UNIQUE INDEX jobs_idem_idx ON jobs(idempotency_key) WHERE idempotency_key IS NOT NULL;`,

	Insert: "INSERT INTO jobs (id, type, payload_json, priority, state, not_before, created_at, updated_at) VALUES ",
	Row:    "(?, 'bench', ?, ?, ?, ?, ?, ?)",
	Args: func(j *storedJob) []any {
		return []any{j.id, j.payload, j.priority, j.state, j.scheduled, j.now, j.now}
	},
	Claim: `
UPDATE jobs
SET state = 'running', attempts = attempts + 1, heartbeat_at = ?1, updated_at = ?1
WHERE rowid IN (
  SELECT rowid
  FROM jobs
  WHERE state = 'queued'
    AND not_before IS NULL
  ORDER BY priority DESC, id
  LIMIT ?2)
RETURNING rowid, id, payload_json`,
	Complete: `
UPDATE jobs
SET state = 'completed', updated_at = ?1
WHERE rowid IN (SELECT value FROM json_each(?2))
  AND state = 'running'`,
}

// ourSQLiteShape is the least that our tables need of a statement.
var ourSQLiteShape = shape{
	Insert: "INSERT INTO jobs (id, type, payload_json, priority, state, hold, not_before, max_attempts, created_at, updated_at, finished_at) VALUES ",
	Row:    "(?, 'bench', ?, ?, ?, ?, ?, 5, ?, ?, ?)",
	Args: func(j *storedJob) []any {
		hold, due, finished := ourHold(j)
		return []any{j.id, j.payload, j.priority, j.state, hold, due, j.now, j.now, finished}
	},
	Claim: `
UPDATE jobs
SET state = 'running', hold = 0, attempt = attempt + 1, worker_id = 'raw', started_at = ?1, updated_at = ?1
WHERE rowid IN (
  SELECT rowid
  FROM jobs
  WHERE state = 'queued'
    AND hold = 0
    AND type = 'bench'
  ORDER BY priority DESC, not_before, id
  LIMIT ?2)
RETURNING rowid, id, payload_json`,
	Complete: `
UPDATE jobs
SET state = 'completed', hold = 0, updated_at = ?1, finished_at = ?1
WHERE rowid IN (SELECT value FROM json_each(?2))
  AND state = 'running'`,
}

// ourHold is the hold in our tables of a job that is due, scheduled or finished.
func ourHold(j *storedJob) (hold int, due, finished any) {
	switch {
	case j.scheduled != nil:
		return 1, j.scheduled, nil
	case j.state == "completed":
		return 0, j.now, j.now
	}
	return 0, j.now, nil
}
