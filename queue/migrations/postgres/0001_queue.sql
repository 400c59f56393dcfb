-- hold is why a queued job may not be claimed: 0 it may, 1 not_before lies ahead, 2 it waits for its limit key,
-- 3 Move is moving it.
CREATE TABLE jobs (
  id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  type TEXT COLLATE "C" NOT NULL,
  payload_json JSON NOT NULL,
  priority INTEGER NOT NULL,
  state TEXT NOT NULL,
  hold SMALLINT NOT NULL,
  not_before TIMESTAMPTZ NOT NULL,
  attempt INTEGER NOT NULL DEFAULT 0,
  failures INTEGER NOT NULL DEFAULT 0,
  interruptions INTEGER NOT NULL DEFAULT 0,
  crashes INTEGER NOT NULL DEFAULT 0,
  max_attempts INTEGER NOT NULL,
  worker_id TEXT,
  idempotency_key TEXT,
  key_scope TEXT,
  limit_key TEXT COLLATE "C",
  user_id TEXT,
  tags_json JSON,
  expires_at TIMESTAMPTZ,
  trace TEXT,
  result_json JSON,
  last_error TEXT,
  created_at TIMESTAMPTZ NOT NULL,
  updated_at TIMESTAMPTZ NOT NULL,
  started_at TIMESTAMPTZ,
  finished_at TIMESTAMPTZ
) WITH (
  -- Each job leaves two dead rows behind. Claims pass over what is left of them in jobs_ready until it is cleared away.
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_analyze_scale_factor = 0.05
);

-- Jobs that may be claimed and jobs that wait are kept apart, so that neither slows the claim of the other.
CREATE INDEX jobs_ready ON jobs (type, priority DESC, not_before, id) WHERE state = 'queued' AND hold = 0;
CREATE INDEX jobs_scheduled ON jobs (not_before, type) WHERE state = 'queued' AND hold = 1;
CREATE INDEX jobs_waiting ON jobs (limit_key, type, priority DESC, not_before, id) WHERE state = 'queued' AND hold = 2;
CREATE INDEX jobs_running ON jobs (worker_id, type) WHERE state = 'running';
-- What is ready, and what runs, under a limit key.
CREATE INDEX jobs_admitted ON jobs (limit_key, type, priority) WHERE state = 'queued' AND hold = 0 AND limit_key IS NOT NULL;
CREATE INDEX jobs_occupying ON jobs (limit_key) WHERE state = 'running' AND limit_key IS NOT NULL;
CREATE INDEX jobs_expiring ON jobs (expires_at) WHERE state = 'queued' AND expires_at IS NOT NULL;
CREATE INDEX jobs_finished ON jobs (state, type, finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX jobs_user ON jobs (user_id, id) WHERE user_id IS NOT NULL;
-- For listings alone. An expression, or claims might take it for one of the narrower indexes above.
CREATE INDEX jobs_limit_key ON jobs ((limit_key || ''), id) WHERE limit_key IS NOT NULL;
CREATE INDEX jobs_tagged ON jobs (id) WHERE tags_json IS NOT NULL;
CREATE INDEX jobs_key ON jobs (idempotency_key, id) WHERE idempotency_key IS NOT NULL;

-- Keys outlive their jobs. One of scope period is free again from expires_at on.
CREATE TABLE job_keys (
  key TEXT NOT NULL PRIMARY KEY,
  job_id TEXT NOT NULL,
  scope TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  expires_at TIMESTAMPTZ
);
CREATE INDEX job_keys_expiring ON job_keys (expires_at) WHERE expires_at IS NOT NULL;

-- Limits of job types (kind type, the name * standing for all), of limit keys (key), and of each key that begins so (prefix).
CREATE TABLE job_limits (
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  paused BOOLEAN NOT NULL,
  max_running INTEGER,
  rate INTEGER,
  period_us BIGINT,
  burst INTEGER,
  updated_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (kind, name)
);

-- Where the rate of a type or a limit key stands: the theoretical arrival time of GCRA.
CREATE TABLE job_rates (
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  arrival TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (kind, name)
);

-- Limit keys that the next claim after due_at examines, because something about them has changed. A key may be here twice.
CREATE TABLE job_admissions (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  due_at TIMESTAMPTZ NOT NULL,
  limit_key TEXT COLLATE "C" NOT NULL
) WITH (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 1000
);
CREATE INDEX job_admissions_due ON job_admissions (due_at, limit_key);

CREATE TABLE job_steps (
  job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  started_at TIMESTAMPTZ NOT NULL,
  finished_at TIMESTAMPTZ,
  result_json JSON,
  PRIMARY KEY (job_id, name)
);

-- Only attempts that did not simply succeed: the others stand in the job's own row.
CREATE TABLE job_attempts (
  job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
  attempt INTEGER NOT NULL,
  worker_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  error TEXT NOT NULL,
  stack TEXT NOT NULL,
  started_at TIMESTAMPTZ NOT NULL,
  finished_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (job_id, attempt)
);

-- What handlers log: the last lines of each attempt.
CREATE TABLE job_logs (
  job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
  attempt INTEGER NOT NULL,
  line INTEGER NOT NULL,
  at TIMESTAMPTZ NOT NULL,
  level TEXT NOT NULL,
  message TEXT NOT NULL,
  attrs_json JSON,
  PRIMARY KEY (job_id, attempt, line)
);

CREATE TABLE job_workers (
  id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  beat BIGINT NOT NULL,
  beat_at TIMESTAMPTZ NOT NULL,
  types_json JSON
);
