-- What the user wants of models. scope is all, mailbox, domain or sender; scope_ref is the id of the account, the domain or the
-- address, these in lower case, and empty for all. content is what the model reads; forbids is a JSON list of kinds of actions.
-- Models read instructions by priority, low first; revision counts the changes of one.
CREATE TABLE instructions (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  scope TEXT NOT NULL,
  scope_ref TEXT NOT NULL,
  content TEXT NOT NULL,
  forbids TEXT NOT NULL,
  enabled INTEGER NOT NULL,
  priority INTEGER NOT NULL,
  created_at TIMESTAMPTZ NOT NULL,
  updated_at TIMESTAMPTZ NOT NULL,
  revision BIGINT NOT NULL
);

CREATE INDEX instructions_scope ON instructions (scope, scope_ref);
