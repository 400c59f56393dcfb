-- Decisions that are taken again for mail of the same template. decision is JSON; message_id is the mail that the model was asked about.
CREATE TABLE llm_templates (
  account_id TEXT NOT NULL,
  key TEXT NOT NULL,
  message_id TEXT NOT NULL,
  decision TEXT NOT NULL,
  uses BIGINT NOT NULL,
  made_at TIMESTAMPTZ NOT NULL,
  expires_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (account_id, key)
);

CREATE INDEX llm_templates_expiry ON llm_templates (expires_at);
