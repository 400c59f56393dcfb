-- The sender in the form in which addresses are compared, where that is not from_email in lower case: where it is not ASCII. Empty
-- where it is to be filled in; see senders.go.
ALTER TABLE messages ADD COLUMN from_key TEXT;

UPDATE messages SET from_key = '' WHERE LENGTH(CAST(from_email AS BLOB)) <> LENGTH(from_email);

DROP INDEX messages_sender;

CREATE INDEX messages_sender ON messages (account_id, SUBSTR(COALESCE(from_key, LOWER(from_email)), 1, 320), COALESCE(received_at, created_at));

CREATE INDEX messages_unkeyed ON messages (id) WHERE from_key = '';
