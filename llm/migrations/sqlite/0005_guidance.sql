-- What the user wants of the model in their own words. account_id is empty for all accounts.
CREATE TABLE directions (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  content TEXT NOT NULL,
  enabled INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
);

-- Named instructions for some mail. scope is global, account, domain or sender; scope_ref is what it refers to, in lower case for a
-- domain and a sender, and empty for global.
CREATE TABLE llm_rules (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  description TEXT NOT NULL,
  scope TEXT NOT NULL,
  scope_ref TEXT NOT NULL,
  rule_text TEXT NOT NULL,
  enabled INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
);

CREATE INDEX llm_rules_scope ON llm_rules (scope, scope_ref);
