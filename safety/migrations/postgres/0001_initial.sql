CREATE TABLE decisions (
  id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  account_id TEXT NOT NULL,
  message_id TEXT NOT NULL,
  provider_message_id TEXT NOT NULL,
  decision_key TEXT NOT NULL,
  source TEXT NOT NULL CHECK (source IN ('deterministic', 'llm', 'none')),
  action_type TEXT NOT NULL,
  parameters_json JSON NOT NULL,
  confidence DOUBLE PRECISION,
  needs_approval INTEGER NOT NULL,
  rationale TEXT NOT NULL,
  rule_id TEXT NOT NULL,
  rule_name TEXT NOT NULL,
  rule_version TEXT NOT NULL,
  safe_mode TEXT NOT NULL,
  model TEXT NOT NULL,
  explanations_json JSON NOT NULL,
  telemetry_json JSON NOT NULL,
  sender TEXT NOT NULL,
  subject TEXT NOT NULL,
  created_at TIMESTAMPTZ NOT NULL
);

-- What makes recording idempotent.
CREATE UNIQUE INDEX decisions_key ON decisions (account_id, message_id, decision_key);

-- The decisions of a day are counted by account, and those that needed no person by source and kind.
CREATE INDEX decisions_account ON decisions (account_id, created_at);
CREATE INDEX decisions_alone ON decisions (account_id, source, action_type, created_at) WHERE needs_approval = 0;

-- rev counts the changes of a row. approval_id is the approval that permits the action; it is empty if the gate let it pass, and
-- while it waits for a person. sequence is the place of the action among those of its message.
CREATE TABLE actions (
  id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  account_id TEXT NOT NULL,
  message_id TEXT NOT NULL,
  decision_id TEXT COLLATE "C" NOT NULL REFERENCES decisions (id),
  type TEXT NOT NULL,
  parameters_json JSON NOT NULL,
  content_sha256 TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN
    ('queued', 'executing', 'completed', 'failed', 'canceled', 'rejected', 'pending_approval')),
  error TEXT NOT NULL,
  approval_id TEXT NOT NULL,
  job_id TEXT NOT NULL,
  sequence BIGINT,
  undo_hint_json JSON,
  report_json JSON,
  created_at TIMESTAMPTZ NOT NULL,
  updated_at TIMESTAMPTZ NOT NULL,
  executed_at TIMESTAMPTZ,
  rev INTEGER NOT NULL
);

CREATE INDEX actions_decision ON actions (decision_id);
CREATE INDEX actions_message ON actions (message_id, id);
CREATE INDEX actions_failed ON actions (account_id, updated_at) WHERE state = 'failed';

-- The lock of a message: at most one of its actions executes at a time, or the job that wakes it after a snooze. It is free
-- without an action; job_id is the job of a wake-up, whose snooze is the action.
CREATE TABLE message_locks (
  account_id TEXT NOT NULL,
  message_id TEXT NOT NULL,
  sequence BIGINT NOT NULL,
  action_id TEXT,
  job_id TEXT,
  PRIMARY KEY (account_id, message_id)
);

-- The effect's link is written before the row of its cause, so that a loser has written nothing.
CREATE TABLE action_links (
  cause_action_id TEXT COLLATE "C" NOT NULL REFERENCES actions (id) DEFERRABLE INITIALLY DEFERRED,
  effect_action_id TEXT COLLATE "C" NOT NULL REFERENCES actions (id),
  relation TEXT NOT NULL,
  created_at TIMESTAMPTZ NOT NULL,
  void_at TIMESTAMPTZ,
  PRIMARY KEY (cause_action_id, effect_action_id, relation)
);

-- An action is undone once; an undo that failed is void and stands in nobody's way.
CREATE UNIQUE INDEX action_links_undo ON action_links (effect_action_id) WHERE relation = 'undo_of' AND void_at IS NULL;
CREATE INDEX action_links_effect ON action_links (effect_action_id);
CREATE INDEX action_links_created ON action_links (created_at);

-- digest is the signature over the request, and signature the one over the approval. used_by is the job that has started the action
-- with the approval.
CREATE TABLE approvals (
  id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  action_id TEXT COLLATE "C" NOT NULL REFERENCES actions (id),
  reasons_json JSON NOT NULL,
  digest TEXT NOT NULL,
  requested_at TIMESTAMPTZ NOT NULL,
  expires_at TIMESTAMPTZ NOT NULL,
  decided_at TIMESTAMPTZ,
  outcome TEXT NOT NULL CHECK (outcome IN ('waiting', 'approved', 'rejected', 'withdrawn')),
  approver TEXT NOT NULL,
  why TEXT NOT NULL,
  signature TEXT NOT NULL,
  used_by TEXT NOT NULL
);

CREATE INDEX approvals_action ON approvals (action_id);
CREATE UNIQUE INDEX approvals_waiting ON approvals (action_id) WHERE outcome = 'waiting';

-- The key of the signatures, for programs that configure none.
CREATE TABLE safety_keys (
  id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  secret TEXT NOT NULL
);

-- A row is locked while what models have done to an account is counted, so that two do not count at once.
CREATE TABLE model_counts (
  account_id TEXT NOT NULL PRIMARY KEY,
  counted BIGINT NOT NULL
);

-- Whether all is stopped, and when a person last accepted a database that was put back: one row, from the first of either on.
CREATE TABLE safety_switch (
  id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  stopped INTEGER NOT NULL,
  undos INTEGER NOT NULL,
  changed_by TEXT NOT NULL,
  why TEXT NOT NULL,
  changed_at TIMESTAMPTZ NOT NULL,
  accepted_at TIMESTAMPTZ
);

-- Who has stopped and resumed what, and why; rows are only added.
CREATE TABLE safety_events (
  id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  kind TEXT NOT NULL,
  account_id TEXT NOT NULL,
  source TEXT NOT NULL,
  changed_by TEXT NOT NULL,
  why TEXT NOT NULL,
  created_at TIMESTAMPTZ NOT NULL
);

-- The last time that a source was stopped for an account, and who has let it go on.
CREATE TABLE safety_breakers (
  account_id TEXT NOT NULL,
  source TEXT NOT NULL,
  opened_at TIMESTAMPTZ NOT NULL,
  open_until TIMESTAMPTZ NOT NULL,
  why TEXT NOT NULL,
  closed_at TIMESTAMPTZ,
  PRIMARY KEY (account_id, source)
);
