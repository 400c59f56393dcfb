-- The profiles that have run: failures counts those in a row; paused_at is NULL while the profile runs.
CREATE TABLE agent_profiles (
  name TEXT PRIMARY KEY,
  failures INTEGER NOT NULL,
  paused_at TIMESTAMPTZ,
  reason TEXT NOT NULL
);

-- One row for each run. state is running, done, stopped (by a bound), failed, refused or canceled. replay_of is the run that this one
-- repeats with another model, and empty otherwise. cost is in billionths of a dollar.
CREATE TABLE agent_runs (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  message_id TEXT NOT NULL,
  profile TEXT NOT NULL,
  version TEXT NOT NULL,
  model TEXT NOT NULL,
  job_id TEXT NOT NULL,
  replay_of TEXT NOT NULL,
  state TEXT NOT NULL,
  reason TEXT NOT NULL,
  outcome TEXT NOT NULL,
  parameters TEXT NOT NULL,
  action_id TEXT NOT NULL,
  model_calls INTEGER NOT NULL,
  tool_calls INTEGER NOT NULL,
  tokens BIGINT NOT NULL,
  cost BIGINT NOT NULL,
  duration_ms BIGINT NOT NULL,
  started_at TIMESTAMPTZ NOT NULL,
  ended_at TIMESTAMPTZ
);

CREATE INDEX agent_runs_account ON agent_runs (account_id, started_at);
CREATE INDEX agent_runs_thread ON agent_runs (account_id, thread_id, started_at);
CREATE INDEX agent_runs_started ON agent_runs (started_at);
CREATE INDEX agent_runs_running ON agent_runs (id) WHERE state = 'running';

-- The calls of a run in order. kind is model or tool; input and output are cut to 4 KB, and input_sha256 is of the whole input.
CREATE TABLE agent_steps (
  run_id TEXT NOT NULL,
  n INTEGER NOT NULL,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  input TEXT NOT NULL,
  input_sha256 TEXT NOT NULL,
  output TEXT NOT NULL,
  fault TEXT NOT NULL,
  tokens BIGINT NOT NULL,
  cost BIGINT NOT NULL,
  duration_ms BIGINT NOT NULL,
  PRIMARY KEY (run_id, n)
);
