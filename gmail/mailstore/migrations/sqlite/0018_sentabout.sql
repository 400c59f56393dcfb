-- What was sent is looked for by the message that it is about.
ALTER TABLE outbound_messages ADD COLUMN original_message_id TEXT NOT NULL DEFAULT '';

UPDATE outbound_messages
SET original_message_id = COALESCE(json_extract(payload_json, '$.original_message_id'), '')
WHERE json_valid(payload_json);

CREATE INDEX outbound_about ON outbound_messages (original_message_id);
