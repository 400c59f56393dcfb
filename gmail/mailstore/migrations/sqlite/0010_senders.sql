-- Who has written before. What is beyond 320 characters is no address, and would be too long for an index of PostgreSQL.
CREATE INDEX messages_sender ON messages (account_id, SUBSTR(LOWER(from_email), 1, 320), COALESCE(received_at, created_at));
