-- Up to which time of receipt messages have been asked about that have become old enough for a rule: one row for each age in the rule.
CREATE TABLE rule_ages (
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  rule_id TEXT NOT NULL,
  ordinal INTEGER NOT NULL,
  rule_version TEXT NOT NULL,
  asked_until TEXT NOT NULL,
  messages INTEGER NOT NULL,
  actions INTEGER NOT NULL,
  left_alone INTEGER NOT NULL,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (account_id, rule_id, ordinal)
);
