-- Messages that the host puts into a mailbox, which nothing is decided about. A row is written before its message is put there, and
-- message_id is ours once the message is stored.
CREATE TABLE inserted_messages (
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  rfc_message_id TEXT NOT NULL,
  message_id TEXT REFERENCES messages (id) ON DELETE SET NULL,
  created_at TEXT NOT NULL,
  PRIMARY KEY (account_id, rfc_message_id)
) WITHOUT ROWID;
CREATE INDEX inserted_messages_message ON inserted_messages (message_id);
