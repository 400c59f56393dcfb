-- Who has written before. What is beyond 320 characters is no address, and may be too long for an index.
CREATE INDEX messages_sender ON messages (account_id, (SUBSTR(LOWER(from_email), 1, 320)), (COALESCE(received_at, created_at)));
