-- Lists and searches go through the messages of an account from the newest to the oldest.
CREATE INDEX messages_received ON messages (account_id, COALESCE(received_at, created_at), id) WHERE deleted_at IS NULL;
