CREATE TABLE decisions (
  id TEXT NOT NULL PRIMARY KEY,
  account_id TEXT NOT NULL,
  message_id TEXT NOT NULL,
  decision_key TEXT NOT NULL,
  source TEXT NOT NULL CHECK (source IN ('deterministic', 'llm', 'none')),
  action_type TEXT NOT NULL,
  parameters_json TEXT NOT NULL,
  confidence REAL,
  needs_approval INTEGER NOT NULL,
  rationale TEXT NOT NULL,
  rule_id TEXT NOT NULL,
  rule_name TEXT NOT NULL,
  safe_mode TEXT NOT NULL,
  model TEXT NOT NULL,
  explanations_json TEXT NOT NULL,
  telemetry_json TEXT NOT NULL,
  sender TEXT NOT NULL,
  subject TEXT NOT NULL,
  created_at TEXT NOT NULL
);

-- What makes recording idempotent.
CREATE UNIQUE INDEX decisions_key ON decisions (account_id, message_id, decision_key);

CREATE TABLE actions (
  id TEXT NOT NULL PRIMARY KEY,
  account_id TEXT NOT NULL,
  message_id TEXT NOT NULL,
  decision_id TEXT NOT NULL REFERENCES decisions (id),
  type TEXT NOT NULL,
  parameters_json TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN
    ('queued', 'executing', 'completed', 'failed', 'canceled', 'rejected', 'approved_pending')),
  error TEXT NOT NULL,
  undo_hint_json TEXT,
  report_json TEXT,
  job_id TEXT NOT NULL,
  turn BIGINT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  executed_at TEXT
);

CREATE INDEX actions_decision ON actions (decision_id);
CREATE INDEX actions_message ON actions (message_id, id);

-- At most one action of a message executes at a time: the one whose turn it is. The number of the turn, which the action keeps,
-- says in which order the actions of a message came about.
CREATE TABLE message_turns (
  account_id TEXT NOT NULL,
  message_id TEXT NOT NULL,
  turn BIGINT NOT NULL,
  action_id TEXT,
  PRIMARY KEY (account_id, message_id)
) WITHOUT ROWID;

-- The effect's link is written before the row of its cause, so that a loser has written nothing.
CREATE TABLE action_links (
  cause_action_id TEXT NOT NULL REFERENCES actions (id) DEFERRABLE INITIALLY DEFERRED,
  effect_action_id TEXT NOT NULL REFERENCES actions (id),
  relation TEXT NOT NULL,
  created_at TEXT NOT NULL,
  void_at TEXT,
  PRIMARY KEY (cause_action_id, effect_action_id, relation)
) WITHOUT ROWID;

-- An action is undone once; an undo that failed is void and stands in nobody's way.
CREATE UNIQUE INDEX action_links_undo ON action_links (effect_action_id) WHERE relation = 'undo_of' AND void_at IS NULL;
CREATE INDEX action_links_effect ON action_links (effect_action_id);

CREATE TABLE approvals (
  id TEXT NOT NULL PRIMARY KEY,
  action_id TEXT NOT NULL REFERENCES actions (id),
  reasons_json TEXT NOT NULL,
  digest TEXT NOT NULL,
  requested_at TEXT NOT NULL,
  expires_at TEXT NOT NULL,
  decided_at TEXT,
  outcome TEXT NOT NULL CHECK (outcome IN ('waiting', 'approved', 'rejected', 'withdrawn')),
  approver TEXT NOT NULL,
  why TEXT NOT NULL
);

CREATE INDEX approvals_action ON approvals (action_id);
CREATE UNIQUE INDEX approvals_waiting ON approvals (action_id) WHERE outcome = 'waiting';
