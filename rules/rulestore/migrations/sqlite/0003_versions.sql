-- The number of the change that wrote the rule last, so that a change that was made from an older reading is noticed.
ALTER TABLE deterministic_rules ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;

-- A version is the rules of one account (or, where account_id is empty, of none) after a change. digest is equal for equal rules.
-- source is the text of the file that the rules were read from.
CREATE TABLE rule_versions (
  version INTEGER PRIMARY KEY,
  account_id TEXT NOT NULL,
  author TEXT NOT NULL,
  origin TEXT NOT NULL,
  detail TEXT NOT NULL,
  digest TEXT NOT NULL,
  rules INTEGER NOT NULL,
  source TEXT,
  created_at TEXT NOT NULL
);

CREATE INDEX rule_versions_account ON rule_versions (account_id, version);

-- What each version changed: a rule as it is from then on, or without content if it is gone. A version is the last row of each
-- rule up to it.
CREATE TABLE rule_history (
  account_id TEXT NOT NULL,
  rule_id TEXT NOT NULL,
  version INTEGER NOT NULL REFERENCES rule_versions (version),
  rule_version TEXT NOT NULL,
  digest TEXT NOT NULL,
  content TEXT,
  PRIMARY KEY (account_id, rule_id, version)
) WITHOUT ROWID;

CREATE INDEX rule_history_rule ON rule_history (rule_id, rule_version);
