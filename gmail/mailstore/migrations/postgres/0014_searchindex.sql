-- Which messages have a label, the newest last. The triggers below keep it in step with messages.labels_json.
CREATE TABLE message_labels (
  account_id TEXT NOT NULL,
  label_id TEXT NOT NULL,
  at TIMESTAMPTZ NOT NULL,
  message_id TEXT NOT NULL,
  PRIMARY KEY (account_id, label_id, at, message_id)
);

INSERT INTO message_labels (account_id, label_id, at, message_id)
SELECT DISTINCT m.account_id, l.value, COALESCE(m.received_at, m.created_at), m.id
FROM messages m
CROSS JOIN LATERAL json_array_elements_text(CASE json_typeof(m.labels_json) WHEN 'array' THEN m.labels_json ELSE '[]' END) l;

CREATE FUNCTION message_labels_without() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
  DELETE FROM message_labels WHERE account_id = OLD.account_id AND at = COALESCE(OLD.received_at, OLD.created_at) AND message_id = OLD.id
  AND label_id IN (SELECT json_array_elements_text(CASE json_typeof(OLD.labels_json) WHEN 'array' THEN OLD.labels_json ELSE '[]' END)); RETURN NULL; END $$;

CREATE FUNCTION message_labels_with() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO message_labels (account_id, label_id, at, message_id)
  SELECT NEW.account_id, l.value, COALESCE(NEW.received_at, NEW.created_at), NEW.id
  FROM json_array_elements_text(CASE json_typeof(NEW.labels_json) WHEN 'array' THEN NEW.labels_json ELSE '[]' END) l ON CONFLICT DO NOTHING; RETURN NULL; END $$;

CREATE TRIGGER message_labels_insert AFTER INSERT ON messages FOR EACH ROW EXECUTE FUNCTION message_labels_with();

CREATE TRIGGER message_labels_delete AFTER DELETE ON messages FOR EACH ROW EXECUTE FUNCTION message_labels_without();

-- Triggers of one event are called in the order of their names.
CREATE TRIGGER message_labels_update_1 AFTER UPDATE OF labels_json, received_at ON messages FOR EACH ROW
WHEN (OLD.labels_json::text <> NEW.labels_json::text OR OLD.received_at IS DISTINCT FROM NEW.received_at)
EXECUTE FUNCTION message_labels_without();

CREATE TRIGGER message_labels_update_2 AFTER UPDATE OF labels_json, received_at ON messages FOR EACH ROW
WHEN (OLD.labels_json::text <> NEW.labels_json::text OR OLD.received_at IS DISTINCT FROM NEW.received_at)
EXECUTE FUNCTION message_labels_with();

-- When messages with a term were received: the terms of one slot within 2^20 seconds, as searchpostings.go writes them. Part 0 is the one
-- that grows.
CREATE TABLE message_terms (
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  slot INTEGER NOT NULL,
  bucket BIGINT NOT NULL,
  part INTEGER NOT NULL,
  postings BYTEA NOT NULL,
  PRIMARY KEY (account_id, slot, bucket, part)
);

-- Messages whose terms are not in message_terms yet. received is in seconds since 1970; terms is NULL for messages that were stored before
-- there was an index.
CREATE TABLE unindexed_messages (
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  message_id TEXT NOT NULL,
  received BIGINT NOT NULL,
  terms BYTEA,
  PRIMARY KEY (account_id, message_id)
);

INSERT INTO unindexed_messages (account_id, message_id, received)
SELECT account_id, id, FLOOR(EXTRACT(EPOCH FROM COALESCE(received_at, created_at)))::BIGINT
FROM messages;
