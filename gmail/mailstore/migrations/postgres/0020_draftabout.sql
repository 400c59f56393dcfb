-- What a draft answers, and to whom: a draft that was sent is a reply, which no rule sends a second time.
ALTER TABLE drafts ADD COLUMN original_message_id TEXT NOT NULL DEFAULT '';

ALTER TABLE drafts ADD COLUMN payload_json TEXT NOT NULL DEFAULT '';

CREATE INDEX drafts_about ON drafts (original_message_id);
