-- account_id is empty for a rule of all accounts; position is the place in the file the rule came from, 0 without one.
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
  safe_mode TEXT NOT NULL,
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
