-- What was done without a person is counted by account, source and kind.
CREATE INDEX decisions_alone ON decisions (account_id, source, action_type, created_at) WHERE needs_approval = 0;
CREATE INDEX actions_failed ON actions (account_id, updated_at) WHERE state = 'failed';
CREATE INDEX action_links_created ON action_links (created_at);

-- The last time that a source was stopped for an account, and who has let it go on.
CREATE TABLE safety_breakers (
  account_id TEXT NOT NULL,
  source TEXT NOT NULL,
  opened_at TEXT NOT NULL,
  open_until TEXT NOT NULL,
  why TEXT NOT NULL,
  closed_at TEXT,
  PRIMARY KEY (account_id, source)
);
