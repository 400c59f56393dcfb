-- Up to which time of receipt messages have been asked about that have become old enough for a rule: one row for each age in the rule.
CREATE TABLE rule_ages (
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  rule_id TEXT NOT NULL,
  ordinal INTEGER NOT NULL,
  rule_version TEXT NOT NULL,
  asked_until TIMESTAMPTZ NOT NULL,
  messages BIGINT NOT NULL,
  actions BIGINT NOT NULL,
  left_alone BIGINT NOT NULL,
  updated_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (account_id, rule_id, ordinal)
);
