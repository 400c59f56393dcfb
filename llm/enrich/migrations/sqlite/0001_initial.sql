-- What is known of a message, one row each; state is how far it is. For category, importance and calendar, the column
-- _by has who has told it: form, host, calendar, text, model, person, none if nobody could, or empty while the stage is
-- open. received_at is that of the message, for lists. action_items, events, faults and denials are JSON: faults has
-- the stages that have failed for good, denials what a person has rejected. unsure has a bit for each stage that a
-- person may answer: 1 category, 2 importance, 4 calendar. answer is that of the model in the call that decided about
-- the message, until the job has taken it.
CREATE TABLE enrichments (
  account_id TEXT NOT NULL,
  message_id TEXT NOT NULL,
  received_at TEXT NOT NULL,
  state TEXT NOT NULL,
  category TEXT NOT NULL DEFAULT '',
  category_confidence REAL NOT NULL DEFAULT 0,
  category_by TEXT NOT NULL DEFAULT '',
  category_reasoning TEXT NOT NULL DEFAULT '',
  importance_level TEXT NOT NULL DEFAULT '',
  importance_score REAL NOT NULL DEFAULT 0,
  importance_confidence REAL NOT NULL DEFAULT 0,
  importance_by TEXT NOT NULL DEFAULT '',
  importance_reasoning TEXT NOT NULL DEFAULT '',
  action_items TEXT NOT NULL DEFAULT '[]',
  action_count INTEGER NOT NULL DEFAULT 0,
  events TEXT NOT NULL DEFAULT '[]',
  event_count INTEGER NOT NULL DEFAULT 0,
  calendar_confidence REAL NOT NULL DEFAULT 0,
  calendar_by TEXT NOT NULL DEFAULT '',
  calendar_reasoning TEXT NOT NULL DEFAULT '',
  unsubscribe_method TEXT NOT NULL DEFAULT '',
  unsubscribe_url TEXT NOT NULL DEFAULT '',
  faults TEXT NOT NULL DEFAULT '{}',
  denials TEXT NOT NULL DEFAULT '{}',
  unsure INTEGER NOT NULL DEFAULT 0,
  answer TEXT NOT NULL DEFAULT '',
  processing_time_ms INTEGER NOT NULL DEFAULT 0,
  llm_calls_count INTEGER NOT NULL DEFAULT 0,
  total_tokens INTEGER NOT NULL DEFAULT 0,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  ended_at TEXT,
  PRIMARY KEY (account_id, message_id)
);

-- The lists of a mailbox, newest mail first: all, of a category, of a level, of a state, and what a person may answer.
CREATE INDEX enrichments_received ON enrichments (account_id, received_at, message_id);
CREATE INDEX enrichments_category ON enrichments (account_id, category, received_at, message_id);
CREATE INDEX enrichments_level ON enrichments (account_id, importance_level, received_at, message_id);
CREATE INDEX enrichments_state ON enrichments (account_id, state, received_at, message_id);
CREATE INDEX enrichments_unsure ON enrichments (account_id, received_at, message_id) WHERE unsure > 0;
