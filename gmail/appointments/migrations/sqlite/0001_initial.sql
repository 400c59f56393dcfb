-- Where the appointments of messages are kept. appointment is the id of one in its message; empty for the draft that
-- has those of the message. path is that of its file, below the folder; empty if a person has removed that and another
-- has its place. sha256 is the hash of what was written: a file with another one was edited by a person. draft is
-- Gmail's id of the draft.
CREATE TABLE kept_appointments (
  account_id TEXT NOT NULL,
  message_id TEXT NOT NULL,
  appointment TEXT NOT NULL,
  path TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  draft TEXT NOT NULL,
  kept_at TEXT NOT NULL,
  PRIMARY KEY (account_id, message_id, appointment)
);

CREATE INDEX kept_appointments_path ON kept_appointments (path);
