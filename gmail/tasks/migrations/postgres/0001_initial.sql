-- What is to be done about mail. The id is that of the action that made the task, and message_id the stored message's.
CREATE TABLE tasks (
  id TEXT NOT NULL PRIMARY KEY,
  account_id TEXT NOT NULL,
  message_id TEXT NOT NULL,
  title TEXT NOT NULL,
  notes TEXT NOT NULL,
  due_at TIMESTAMPTZ,
  created_at TIMESTAMPTZ NOT NULL,
  closed_at TIMESTAMPTZ,
  closed_by TEXT NOT NULL
);

CREATE INDEX tasks_account ON tasks (account_id, id);

CREATE INDEX tasks_open ON tasks (account_id, id) WHERE closed_at IS NULL;
