-- One row for each call of a model, inserted before the call with what it may cost and updated after it. The state is calling,
-- answered, failed or cached; a call that remains calling belongs to a process that has died. cost is in billionths of a dollar.
-- about is what the call was about, such as a message; prompt is the hash of the prompt without its random marks; answer is what the
-- model answered, cut to 8000 characters.
CREATE TABLE llm_calls (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  purpose TEXT NOT NULL,
  model TEXT NOT NULL,
  state TEXT NOT NULL,
  failure TEXT,
  input_tokens BIGINT NOT NULL,
  output_tokens BIGINT NOT NULL,
  cost BIGINT NOT NULL,
  latency_ms BIGINT NOT NULL,
  trace_id TEXT,
  request_id TEXT,
  created_at TIMESTAMPTZ NOT NULL,
  about TEXT NOT NULL,
  prompt TEXT NOT NULL,
  answer TEXT
);

CREATE INDEX llm_calls_created ON llm_calls (created_at);

CREATE INDEX llm_calls_about ON llm_calls (about);

-- What has been spent on a day of the budgets' time zone: by each account, and by all together under the empty account_id.
CREATE TABLE llm_spend (
  day TEXT NOT NULL,
  account_id TEXT NOT NULL,
  calls BIGINT NOT NULL,
  tokens BIGINT NOT NULL,
  cost BIGINT NOT NULL,
  PRIMARY KEY (day, account_id)
);

CREATE TABLE llm_answers (
  key TEXT PRIMARY KEY,
  answer TEXT NOT NULL,
  expires_at TIMESTAMPTZ NOT NULL
);

CREATE INDEX llm_answers_expiry ON llm_answers (expires_at);

-- Why a model is not asked: one row for each model whose provider refuses, under the empty account_id, and for each budget that is
-- spent, under the account it belongs to. until_at is when the budget begins anew; it is null until somebody sets things right. An
-- answer of the model deletes its row.
CREATE TABLE llm_outages (
  model TEXT NOT NULL,
  account_id TEXT NOT NULL,
  reason TEXT NOT NULL,
  failure TEXT NOT NULL,
  began_at TIMESTAMPTZ NOT NULL,
  last_at TIMESTAMPTZ NOT NULL,
  calls BIGINT NOT NULL,
  until_at TIMESTAMPTZ,
  PRIMARY KEY (model, account_id)
);
