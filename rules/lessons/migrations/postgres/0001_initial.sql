-- What people have corrected by hand, one row for each time. The final act is what the message was to have after all
-- corrections up to then; it counts as a vote if votes is 1. counted is the answer to the question whether acts that
-- many messages had at once were a person's: 0 for not answered, 1 for yes, 2 for no.
CREATE TABLE feedback (
  id TEXT NOT NULL PRIMARY KEY,
  account_id TEXT NOT NULL,
  message_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  made_by TEXT NOT NULL,
  action_id TEXT NOT NULL,
  rule_id TEXT NOT NULL,
  source TEXT NOT NULL,
  proposed_action TEXT NOT NULL,
  proposed_label TEXT NOT NULL,
  final_action TEXT NOT NULL,
  final_label TEXT NOT NULL,
  votes INTEGER NOT NULL,
  counted INTEGER NOT NULL DEFAULT 0,
  created_at TIMESTAMPTZ NOT NULL
);

CREATE INDEX feedback_message ON feedback (account_id, message_id, id);

CREATE INDEX feedback_account ON feedback (account_id, id);

-- Rules that were learned, each by its condition and action, whether they were accepted or not.
CREATE TABLE learned_rules (
  id TEXT NOT NULL PRIMARY KEY,
  account_id TEXT NOT NULL,
  rule_key TEXT NOT NULL,
  state TEXT NOT NULL,
  class TEXT NOT NULL,
  name TEXT NOT NULL,
  rule_text TEXT NOT NULL,
  agreeing INTEGER NOT NULL,
  contradicting INTEGER NOT NULL,
  lower_bound DOUBLE PRECISION NOT NULL,
  first_at TIMESTAMPTZ NOT NULL,
  last_at TIMESTAMPTZ NOT NULL,
  evidence_json TEXT NOT NULL,
  matched INTEGER NOT NULL,
  dismissed_at_agreeing INTEGER NOT NULL DEFAULT 0,
  shadow_matched INTEGER NOT NULL DEFAULT 0,
  proposed_at TIMESTAMPTZ NOT NULL,
  changed_at TIMESTAMPTZ NOT NULL,
  changed_by TEXT NOT NULL,
  UNIQUE (account_id, rule_key)
);
