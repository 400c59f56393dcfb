-- The SHA-256 of the file with the proposal. What was proposed before this was kept has none, and cannot be accepted.
ALTER TABLE rules_chat_messages ADD COLUMN result TEXT NOT NULL DEFAULT '';
