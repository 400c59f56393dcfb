-- removed says whether the copy was removed on purpose, since it had become too old: 0 no, 1 yes, and the object may be left,
-- 2 yes, and the object is deleted.
ALTER TABLE archived_messages ADD COLUMN removed SMALLINT NOT NULL DEFAULT 0;

CREATE INDEX archived_messages_age ON archived_messages (account_id, received_at) WHERE removed = 0;
CREATE INDEX archived_messages_removing ON archived_messages (account_id, message_id) WHERE removed = 1;
