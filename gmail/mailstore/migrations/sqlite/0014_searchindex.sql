-- Which messages have a label, the newest last. The triggers below keep it in step with messages.labels_json.
CREATE TABLE message_labels (
  account_id TEXT NOT NULL,
  label_id TEXT NOT NULL,
  at TEXT NOT NULL,
  message_id TEXT NOT NULL,
  PRIMARY KEY (account_id, label_id, at, message_id)
) WITHOUT ROWID;

INSERT INTO message_labels (account_id, label_id, at, message_id)
SELECT DISTINCT m.account_id, l.value, COALESCE(m.received_at, m.created_at), m.id
FROM messages m, json_each(m.labels_json) l
WHERE l.type = 'text';

CREATE TRIGGER message_labels_insert AFTER INSERT ON messages BEGIN
  INSERT OR IGNORE INTO message_labels (account_id, label_id, at, message_id)
  SELECT NEW.account_id, value, COALESCE(NEW.received_at, NEW.created_at), NEW.id FROM json_each(NEW.labels_json) WHERE type = 'text'; END;

CREATE TRIGGER message_labels_delete AFTER DELETE ON messages BEGIN
  DELETE FROM message_labels WHERE account_id = OLD.account_id AND at = COALESCE(OLD.received_at, OLD.created_at) AND message_id = OLD.id
  AND label_id IN (SELECT value FROM json_each(OLD.labels_json)); END;

CREATE TRIGGER message_labels_update AFTER UPDATE OF labels_json, received_at ON messages
WHEN OLD.labels_json <> NEW.labels_json OR OLD.received_at IS NOT NEW.received_at BEGIN
  DELETE FROM message_labels WHERE account_id = OLD.account_id AND at = COALESCE(OLD.received_at, OLD.created_at) AND message_id = OLD.id
  AND label_id IN (SELECT value FROM json_each(OLD.labels_json)); INSERT OR IGNORE INTO message_labels (account_id, label_id, at, message_id)
  SELECT NEW.account_id, value, COALESCE(NEW.received_at, NEW.created_at), NEW.id FROM json_each(NEW.labels_json) WHERE type = 'text'; END;

-- When messages with a term were received: the terms of one slot within 2^20 seconds, as searchpostings.go writes them. Part 0 is the one
-- that grows.
CREATE TABLE message_terms (
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  slot INTEGER NOT NULL,
  bucket INTEGER NOT NULL,
  part INTEGER NOT NULL,
  postings BLOB NOT NULL,
  PRIMARY KEY (account_id, slot, bucket, part)
) WITHOUT ROWID;

-- Messages whose terms are not in message_terms yet. received is in seconds since 1970; terms is NULL for messages that were stored before
-- there was an index.
CREATE TABLE unindexed_messages (
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  message_id TEXT NOT NULL,
  received INTEGER NOT NULL,
  terms BLOB,
  PRIMARY KEY (account_id, message_id)
) WITHOUT ROWID;

INSERT INTO unindexed_messages (account_id, message_id, received)
SELECT account_id, id, CAST(strftime('%s', COALESCE(received_at, created_at)) AS INTEGER)
FROM messages;
