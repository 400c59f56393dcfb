-- One row: what the mailbox knows about itself. History up to and including history_floor is forgotten.
CREATE TABLE profile (
  id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  email TEXT NOT NULL,
  history_id INTEGER NOT NULL,
  history_floor INTEGER NOT NULL,
  last_label INTEGER NOT NULL
);

CREATE TABLE labels (
  id TEXT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  name_key TEXT NOT NULL UNIQUE,
  type TEXT NOT NULL,
  message_visibility TEXT NOT NULL,
  label_visibility TEXT NOT NULL,
  text_color TEXT NOT NULL,
  background_color TEXT NOT NULL
);

CREATE TABLE messages (
  id TEXT NOT NULL PRIMARY KEY,
  thread_id TEXT NOT NULL,
  rfc822_id TEXT NOT NULL,
  internal_date INTEGER NOT NULL,
  history_id INTEGER NOT NULL,
  size INTEGER NOT NULL,
  snippet TEXT NOT NULL
);

CREATE INDEX messages_newest ON messages (internal_date DESC, id DESC);
CREATE INDEX messages_thread ON messages (thread_id);
CREATE INDEX messages_rfc822 ON messages (rfc822_id);

-- Apart from messages, so that listing them does not read through their bytes.
CREATE TABLE message_raw (
  message_id TEXT NOT NULL PRIMARY KEY REFERENCES messages (id) ON DELETE CASCADE,
  raw BLOB NOT NULL
);

CREATE TABLE message_labels (
  message_id TEXT NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
  label_id TEXT NOT NULL REFERENCES labels (id) ON DELETE CASCADE,
  PRIMARY KEY (message_id, label_id)
) WITHOUT ROWID;

CREATE INDEX message_labels_label ON message_labels (label_id, message_id);

-- Message-IDs that a thread has, or has referred to: the way an answer finds its thread, also one that came first.
CREATE TABLE thread_references (
  reference TEXT NOT NULL PRIMARY KEY,
  thread_id TEXT NOT NULL
) WITHOUT ROWID;

-- One row for each change of one message; labels is what the message carried after it.
CREATE TABLE history (
  id INTEGER NOT NULL PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('added', 'deleted', 'labels')),
  message_id TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  labels TEXT NOT NULL,
  labels_added TEXT NOT NULL,
  labels_removed TEXT NOT NULL
);

-- What was taken from which mailbox. It outlives the message, so that a second import does not bring a deleted one back.
CREATE TABLE imports (
  message_id TEXT NOT NULL PRIMARY KEY,
  mailbox TEXT NOT NULL,
  position INTEGER NOT NULL,
  name TEXT NOT NULL,
  problem TEXT NOT NULL,
  subject TEXT NOT NULL -- of what was refused
);
