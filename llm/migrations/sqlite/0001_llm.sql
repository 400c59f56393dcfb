-- One row for each call of a model, inserted before the call with what it may cost and updated after it. The outcome is calling,
-- answered, failed or cached; a call that remains calling belongs to a process that has died. cost is in billionths of a dollar.
CREATE TABLE llm_calls (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  purpose TEXT NOT NULL,
  model TEXT NOT NULL,
  outcome TEXT NOT NULL,
  failure TEXT,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cost INTEGER NOT NULL,
  latency_ms INTEGER NOT NULL,
  trace_id TEXT,
  request_id TEXT,
  created_at TEXT NOT NULL
);

CREATE INDEX llm_calls_created ON llm_calls (created_at);

-- What has been spent on a day of the budgets' time zone: by each account, and by all together under the empty account_id.
CREATE TABLE llm_spend (
  day TEXT NOT NULL,
  account_id TEXT NOT NULL,
  calls INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  cost INTEGER NOT NULL,
  PRIMARY KEY (day, account_id)
);

CREATE TABLE llm_answers (
  key TEXT PRIMARY KEY,
  answer TEXT NOT NULL,
  expires_at TEXT NOT NULL
);

CREATE INDEX llm_answers_expiry ON llm_answers (expires_at);
