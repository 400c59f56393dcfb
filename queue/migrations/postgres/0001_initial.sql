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
-- One scan goes from any job of a key and type to those that come after it: the order has one direction.
CREATE INDEX jobs_waiting ON jobs (limit_key, type, (~priority), not_before, id) WHERE state = 'queued' AND hold = 2;
CREATE INDEX jobs_running ON jobs (worker_id, type) WHERE state = 'running';
-- IS NOT DISTINCT FROM keeps the planner from jobs_running where it counts what runs of a key, all of which it would read for each.
CREATE INDEX jobs_occupying ON jobs (limit_key) WHERE state IS NOT DISTINCT FROM 'running' AND limit_key IS NOT NULL;
CREATE INDEX jobs_expiring ON jobs (expires_at) WHERE state = 'queued' AND expires_at IS NOT NULL;
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

-- Limit keys that the next claim after due_at examines, because something about them has changed. A key may be here twice. A
-- transaction that ends very many jobs marks their limit keys with few rows, which have the other keys in others.
CREATE TABLE job_limit_marks (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  due_at TIMESTAMPTZ NOT NULL,
  limit_key TEXT COLLATE "C" NOT NULL,
  others TEXT[] COLLATE "C"
) WITH (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 1000
);
CREATE INDEX job_limit_marks_due ON job_limit_marks (due_at, limit_key);

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

-- next_at is NULL while a schedule is paused.
CREATE TABLE job_schedules (
  name TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  cron TEXT NOT NULL,
  zone TEXT NOT NULL,
  catch_up TEXT NOT NULL,
  type TEXT NOT NULL,
  payload_json JSON NOT NULL,
  options_json JSON NOT NULL,
  paused BOOLEAN NOT NULL,
  next_at TIMESTAMPTZ,
  last_at TIMESTAMPTZ,
  created_at TIMESTAMPTZ NOT NULL,
  updated_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX job_schedules_next ON job_schedules (next_at) WHERE next_at IS NOT NULL;

-- Jobs that a move to another database has deleted here, until it has released them there.
CREATE TABLE job_moves (
  job_id TEXT COLLATE "C" NOT NULL PRIMARY KEY
);
