-- Several mailboxes in one file, numbers in place of ids between the tables, and what searching needs.

-- History up to and including history_floor is forgotten.
CREATE TABLE accounts (
  id INTEGER NOT NULL PRIMARY KEY,
  email TEXT NOT NULL,
  email_key TEXT NOT NULL UNIQUE, -- in lower case
  history_id INTEGER NOT NULL,
  history_floor INTEGER NOT NULL,
  last_label INTEGER NOT NULL
);

INSERT INTO accounts (id, email, email_key, history_id, history_floor, last_label)
SELECT 1, email, LOWER(email), history_id, history_floor, last_label
FROM profile;

DROP TABLE profile;

CREATE TABLE new_labels (
  account INTEGER NOT NULL REFERENCES accounts (id),
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  name_key TEXT NOT NULL,
  type TEXT NOT NULL,
  message_visibility TEXT NOT NULL,
  label_visibility TEXT NOT NULL,
  text_color TEXT NOT NULL,
  background_color TEXT NOT NULL,
  PRIMARY KEY (account, id),
  UNIQUE (account, name_key)
) WITHOUT ROWID;

INSERT INTO new_labels
SELECT 1, id, name, name_key, type, message_visibility, label_visibility, text_color, background_color
FROM labels;

-- A seq is never given twice: the word index keeps those of deleted messages.
CREATE TABLE new_messages (
  seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  account INTEGER NOT NULL REFERENCES accounts (id),
  id TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  rfc822_id TEXT NOT NULL,
  internal_date INTEGER NOT NULL,
  history_id INTEGER NOT NULL,
  size INTEGER NOT NULL,
  snippet TEXT NOT NULL,
  hidden INTEGER NOT NULL,  -- in spam or trash
  subject_key TEXT NOT NULL DEFAULT '', -- without "Re:", as threads compare it
  indexed INTEGER NOT NULL, -- its words can be searched
  UNIQUE (account, id)
);

INSERT INTO new_messages (account, id, thread_id, rfc822_id, internal_date, history_id, size, snippet, hidden, indexed)
SELECT 1, id, thread_id, rfc822_id, internal_date, history_id, size, snippet,
  EXISTS (SELECT 1 FROM message_labels WHERE message_id = messages.id AND label_id IN ('SPAM', 'TRASH')), 0
FROM messages;

-- Apart from messages, so that listing them does not read through their bytes.
CREATE TABLE new_raw (
  seq INTEGER NOT NULL PRIMARY KEY REFERENCES new_messages (seq) ON DELETE CASCADE,
  raw BLOB NOT NULL
);

INSERT INTO new_raw (seq, raw)
SELECT m.seq, r.raw
FROM message_raw r
JOIN new_messages m ON m.id = r.message_id;

-- The date of the message stands here again, so that the newest of a label are found in order.
CREATE TABLE new_message_labels (
  seq INTEGER NOT NULL REFERENCES new_messages (seq) ON DELETE CASCADE,
  label_id TEXT NOT NULL,
  account INTEGER NOT NULL,
  internal_date INTEGER NOT NULL,
  PRIMARY KEY (seq, label_id),
  FOREIGN KEY (account, label_id) REFERENCES new_labels (account, id) ON DELETE CASCADE
) WITHOUT ROWID;

INSERT INTO new_message_labels (seq, label_id, account, internal_date)
SELECT m.seq, l.label_id, 1, m.internal_date
FROM message_labels l
JOIN new_messages m ON m.id = l.message_id;

DROP TABLE message_labels;
DROP TABLE message_raw;
DROP TABLE messages;
DROP TABLE labels;
ALTER TABLE new_labels RENAME TO labels;
ALTER TABLE new_messages RENAME TO messages;
ALTER TABLE new_raw RENAME TO message_raw;
ALTER TABLE new_message_labels RENAME TO message_labels;

CREATE INDEX messages_newest ON messages (account, internal_date DESC, seq DESC);
CREATE INDEX messages_thread ON messages (account, thread_id, hidden, internal_date);
CREATE INDEX messages_size ON messages (account, size);
CREATE INDEX messages_rfc822 ON messages (account, rfc822_id);
CREATE INDEX messages_unindexed ON messages (seq) WHERE indexed = 0;
CREATE INDEX message_labels_label ON message_labels (account, label_id, internal_date DESC, seq DESC);

-- The words of each message, as package gmailquery reads them, with a blank between. The text itself is not kept.
CREATE VIRTUAL TABLE message_words USING fts4 (content="", sender, recipient, cc, bcc, subject, body, filename);

-- The same of what only its own operator finds.
CREATE VIRTUAL TABLE message_keys USING fts4 (content="", list, delivered);

-- What "has:" finds: one row for each thing that a message has.
CREATE TABLE message_marks (
  seq INTEGER NOT NULL REFERENCES messages (seq) ON DELETE CASCADE,
  mark TEXT NOT NULL,
  PRIMARY KEY (mark, seq)
) WITHOUT ROWID;

CREATE INDEX message_marks_seq ON message_marks (seq);

CREATE TABLE drafts (
  account INTEGER NOT NULL REFERENCES accounts (id),
  id TEXT NOT NULL,
  seq INTEGER NOT NULL UNIQUE REFERENCES messages (seq) ON DELETE CASCADE,
  PRIMARY KEY (account, id)
) WITHOUT ROWID;

CREATE TABLE new_references (
  account INTEGER NOT NULL REFERENCES accounts (id),
  reference TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  PRIMARY KEY (account, reference, thread_id)
) WITHOUT ROWID;

INSERT INTO new_references SELECT 1, reference, thread_id FROM thread_references;
DROP TABLE thread_references;
ALTER TABLE new_references RENAME TO thread_references;

CREATE TABLE new_history (
  account INTEGER NOT NULL REFERENCES accounts (id),
  id INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('added', 'deleted', 'labels')),
  message_id TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  labels TEXT NOT NULL,
  labels_added TEXT NOT NULL,
  labels_removed TEXT NOT NULL,
  PRIMARY KEY (account, id)
) WITHOUT ROWID;

INSERT INTO new_history
SELECT 1, id, kind, message_id, thread_id, labels, labels_added, labels_removed
FROM history;
DROP TABLE history;
ALTER TABLE new_history RENAME TO history;

CREATE TABLE new_imports (
  account INTEGER NOT NULL REFERENCES accounts (id),
  message_id TEXT NOT NULL,
  mailbox TEXT NOT NULL,
  position INTEGER NOT NULL,
  name TEXT NOT NULL,
  problem TEXT NOT NULL,
  subject TEXT NOT NULL, -- of what was refused
  PRIMARY KEY (account, message_id)
) WITHOUT ROWID;

INSERT INTO new_imports
SELECT 1, message_id, mailbox, position, name, problem, subject
FROM imports;
DROP TABLE imports;
ALTER TABLE new_imports RENAME TO imports;
