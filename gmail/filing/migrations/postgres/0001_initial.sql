-- The attached files that were given a place, by message and hash. path is below the folder, taken is path in lower
-- case: on some systems names differ in more than that. written is 0 until an action that has written the file is
-- complete. A file with another hash than sha256 was edited by a person.
CREATE TABLE filed_files (
  account_id TEXT NOT NULL,
  message_id TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  path TEXT NOT NULL,
  taken TEXT NOT NULL UNIQUE,
  size BIGINT NOT NULL,
  written INTEGER NOT NULL,
  filed_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (account_id, message_id, sha256)
);

-- The files that actions wanted, each with the place that it had for its message.
CREATE TABLE filed_actions (
  action_id TEXT NOT NULL,
  account_id TEXT NOT NULL,
  message_id TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  PRIMARY KEY (action_id, sha256)
);

CREATE INDEX filed_actions_message ON filed_actions (account_id, message_id);
