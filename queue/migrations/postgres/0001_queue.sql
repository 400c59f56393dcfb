CREATE TABLE jobs (
  id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  type TEXT NOT NULL,
  payload_json JSON NOT NULL,
  priority INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'completed', 'failed', 'canceled')),
  scheduled BOOLEAN NOT NULL,
  not_before TIMESTAMPTZ NOT NULL,
  attempt INTEGER NOT NULL DEFAULT 0,
  failures INTEGER NOT NULL DEFAULT 0,
  interruptions INTEGER NOT NULL DEFAULT 0,
  crashes INTEGER NOT NULL DEFAULT 0,
  max_attempts INTEGER NOT NULL,
  worker_id TEXT,
  idempotency_key TEXT,
  key_scope TEXT,
  result_json JSON,
  last_error TEXT,
  created_at TIMESTAMPTZ NOT NULL,
  updated_at TIMESTAMPTZ NOT NULL,
  started_at TIMESTAMPTZ,
  finished_at TIMESTAMPTZ
);

-- Jobs that are due and jobs that wait for their time are kept apart, so that neither slows the claim of the other.
CREATE INDEX jobs_ready ON jobs (priority DESC, not_before, id, type) WHERE state = 'queued' AND NOT scheduled;
CREATE INDEX jobs_scheduled ON jobs (not_before, type) WHERE state = 'queued' AND scheduled;
CREATE INDEX jobs_running ON jobs (worker_id) WHERE state = 'running';

-- Keys outlive their jobs.
CREATE TABLE job_keys (
  key TEXT NOT NULL PRIMARY KEY,
  job_id TEXT NOT NULL,
  scope TEXT NOT NULL CHECK (scope IN ('forever', 'unfinished')),
  fingerprint TEXT NOT NULL
);

CREATE TABLE job_steps (
  job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  started_at TIMESTAMPTZ NOT NULL,
  finished_at TIMESTAMPTZ,
  result_json JSON,
  PRIMARY KEY (job_id, name)
);

-- Only attempts that did not simply succeed: the happy path costs no row.
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

CREATE TABLE job_workers (
  id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  beat BIGINT NOT NULL,
  beat_at TIMESTAMPTZ NOT NULL
);
