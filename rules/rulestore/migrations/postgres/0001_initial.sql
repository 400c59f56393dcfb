-- account_id is empty for a rule of all accounts; position is the place in the file the rule came from, 0 without one. revision is
-- the number of the change that wrote the rule last, so that a change that was made from an older reading is noticed.
CREATE TABLE deterministic_rules (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  name TEXT NOT NULL,
  description TEXT,
  enabled INTEGER NOT NULL,
  disabled_reason TEXT,
  scope TEXT NOT NULL,
  scope_ref TEXT,
  priority INTEGER NOT NULL,
  position INTEGER NOT NULL,
  conditions JSON NOT NULL,
  action TEXT NOT NULL,
  parameters JSON NOT NULL,
  further_actions JSON NOT NULL,
  continues INTEGER NOT NULL,
  schedule JSON NOT NULL,
  authentication TEXT NOT NULL,
  safe_mode TEXT NOT NULL,
  revision BIGINT NOT NULL,
  created_at TIMESTAMPTZ NOT NULL,
  updated_at TIMESTAMPTZ NOT NULL,
  UNIQUE (account_id, name)
);

-- One row, counted up by every change of a rule: who holds compiled rules asks here whether they are current, and who
-- changes one locks it first.
CREATE TABLE rules_revision (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  revision BIGINT NOT NULL
);

INSERT INTO rules_revision (id, revision) VALUES (1, 1);

-- A version is the rules of one account (or, where account_id is empty, of none) after a change. digest is equal for equal rules.
-- source is the text of the file that the rules were read from.
CREATE TABLE rule_versions (
  version BIGINT PRIMARY KEY,
  account_id TEXT NOT NULL,
  author TEXT NOT NULL,
  origin TEXT NOT NULL,
  detail TEXT NOT NULL,
  digest TEXT NOT NULL,
  rules INTEGER NOT NULL,
  source TEXT,
  created_at TIMESTAMPTZ NOT NULL
);

CREATE INDEX rule_versions_account ON rule_versions (account_id, version);

-- What each version changed: a rule as it is from then on, or without content if it is gone. A version is the last row of each
-- rule up to it. A row stays when its version is deleted, if decisions refer to it.
CREATE TABLE rule_history (
  account_id TEXT NOT NULL,
  rule_id TEXT NOT NULL,
  version BIGINT NOT NULL,
  rule_version TEXT NOT NULL,
  digest TEXT NOT NULL,
  content TEXT,
  PRIMARY KEY (account_id, rule_id, version)
);

CREATE INDEX rule_history_rule ON rule_history (rule_id, rule_version);
