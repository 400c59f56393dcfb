-- hold is what keeps a queued job from being claimed like others: 0 nothing, 1 not_before lies ahead, 2 it goes by its limit key,
-- 3 Move is moving it.
CREATE TABLE jobs (
  id TEXT NOT NULL PRIMARY KEY,
  type TEXT NOT NULL,
  payload_json TEXT NOT NULL,
  priority INTEGER NOT NULL,
  state TEXT NOT NULL,
  hold INTEGER NOT NULL,
  not_before TEXT NOT NULL,
  attempt INTEGER NOT NULL DEFAULT 0,
  failures INTEGER NOT NULL DEFAULT 0,
  interruptions INTEGER NOT NULL DEFAULT 0,
  crashes INTEGER NOT NULL DEFAULT 0,
  max_attempts INTEGER NOT NULL,
  worker_id TEXT,
  idempotency_key TEXT,
  key_scope TEXT,
  limit_key TEXT,
  user_id TEXT,
  tags_json TEXT,
  expires_at TEXT,
  trace TEXT,
  result_json TEXT,
  last_error TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  started_at TEXT,
  finished_at TEXT
);

-- Jobs that may be claimed and jobs that wait are kept apart, so that neither slows the claim of the other. Each update of
-- a job asks all these conditions, in their order: what is nearly always false comes first.
CREATE INDEX jobs_ready ON jobs (type, priority DESC, not_before, id) WHERE state = 'queued' AND hold = 0;
CREATE INDEX jobs_scheduled ON jobs (not_before, type) WHERE hold = 1 AND state = 'queued';
CREATE INDEX jobs_waiting ON jobs (limit_key, type, priority DESC, not_before, id) WHERE hold = 2 AND state = 'queued';
CREATE INDEX jobs_running ON jobs (worker_id, type) WHERE state = 'running';
-- What is ready though it has a limit key, because that is not limited, and what runs.
CREATE INDEX jobs_admitted ON jobs (limit_key) WHERE limit_key IS NOT NULL AND hold = 0 AND state = 'queued';
CREATE INDEX jobs_occupying ON jobs (limit_key) WHERE limit_key IS NOT NULL AND state = 'running';
CREATE INDEX jobs_expiring ON jobs (expires_at) WHERE expires_at IS NOT NULL AND state = 'queued';
CREATE INDEX jobs_finished ON jobs (state, type, finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX jobs_user ON jobs (user_id, id) WHERE user_id IS NOT NULL;
-- For listings alone. An expression, or claims might take it for one of the narrower indexes above.
CREATE INDEX jobs_limit_key ON jobs ((limit_key || ''), id) WHERE limit_key IS NOT NULL;
CREATE INDEX jobs_tagged ON jobs (id) WHERE tags_json IS NOT NULL;
CREATE INDEX jobs_key ON jobs (idempotency_key, id) WHERE idempotency_key IS NOT NULL;
-- Jobs that are being moved: there are none unless a move is under way, or was interrupted.
CREATE INDEX jobs_moving ON jobs (id) WHERE hold = 3;

-- Keys outlive their jobs. One of scope period is free again from expires_at on.
CREATE TABLE job_keys (
  key TEXT NOT NULL PRIMARY KEY,
  job_id TEXT NOT NULL,
  scope TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  expires_at TEXT
) WITHOUT ROWID;
CREATE INDEX job_keys_expiring ON job_keys (expires_at) WHERE expires_at IS NOT NULL;

-- Limits of job types (kind type, the name * standing for all), of limit keys (key), and of each key that begins so (prefix).
CREATE TABLE job_limits (
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  paused INTEGER NOT NULL,
  max_running INTEGER,
  rate INTEGER,
  period_us INTEGER,
  burst INTEGER,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (kind, name)
) WITHOUT ROWID;

-- Where the rate of a type or a limit key stands: the theoretical arrival time of GCRA.
CREATE TABLE job_rates (
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  arrival TEXT NOT NULL,
  PRIMARY KEY (kind, name)
) WITHOUT ROWID;

-- Limit keys that a claim after due_at examines, because something about them has changed.
CREATE TABLE job_limit_marks (
  id INTEGER NOT NULL PRIMARY KEY,
  due_at TEXT NOT NULL,
  limit_key TEXT NOT NULL UNIQUE
);
CREATE INDEX job_limit_marks_due ON job_limit_marks (due_at);

-- The first of the jobs that wait for a limit key, of each type, as long as the key has capacity and unless it is in
-- job_limit_marks.
CREATE TABLE job_heads (
  limit_key TEXT NOT NULL,
  type TEXT NOT NULL,
  priority INTEGER NOT NULL,
  not_before TEXT NOT NULL,
  id TEXT NOT NULL,
  PRIMARY KEY (limit_key, type)
) WITHOUT ROWID;
CREATE INDEX job_heads_first ON job_heads (type, priority DESC, not_before, id);

CREATE TABLE job_steps (
  job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  started_at TEXT NOT NULL,
  finished_at TEXT,
  result_json TEXT,
  PRIMARY KEY (job_id, name)
) WITHOUT ROWID;

-- Only attempts that did not simply succeed: the others stand in the job's own row.
CREATE TABLE job_attempts (
  job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
  attempt INTEGER NOT NULL,
  worker_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  error TEXT NOT NULL,
  stack TEXT NOT NULL,
  started_at TEXT NOT NULL,
  finished_at TEXT NOT NULL,
  PRIMARY KEY (job_id, attempt)
) WITHOUT ROWID;

-- What handlers log: the last lines of each attempt.
CREATE TABLE job_logs (
  job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
  attempt INTEGER NOT NULL,
  line INTEGER NOT NULL,
  at TEXT NOT NULL,
  level TEXT NOT NULL,
  message TEXT NOT NULL,
  attrs_json TEXT,
  PRIMARY KEY (job_id, attempt, line)
) WITHOUT ROWID;

CREATE TABLE job_workers (
  id TEXT NOT NULL PRIMARY KEY,
  beat INTEGER NOT NULL,
  beat_at TEXT NOT NULL,
  types_json TEXT
) WITHOUT ROWID;

-- next_at is NULL while a schedule is paused.
CREATE TABLE job_schedules (
  name TEXT NOT NULL PRIMARY KEY,
  cron TEXT NOT NULL,
  zone TEXT NOT NULL,
  catch_up TEXT NOT NULL,
  type TEXT NOT NULL,
  payload_json TEXT NOT NULL,
  options_json TEXT NOT NULL,
  paused INTEGER NOT NULL,
  next_at TEXT,
  last_at TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX job_schedules_next ON job_schedules (next_at) WHERE next_at IS NOT NULL;

-- Jobs that a move to another database has deleted here, until it has released them there.
CREATE TABLE job_moves (
  job_id TEXT NOT NULL PRIMARY KEY
) WITHOUT ROWID;
