-- Who may decide by pressing buttons; name is what goes on record.
CREATE TABLE discord_whitelist (
  user_id TEXT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  added_at TEXT NOT NULL
) WITHOUT ROWID;

-- The message about each request for approval. started_at is from before it is posted, message_id from after; shown names what
-- the message shows.
CREATE TABLE discord_messages (
  approval_id TEXT NOT NULL PRIMARY KEY,
  action_id TEXT NOT NULL,
  channel_id TEXT NOT NULL,
  message_id TEXT NOT NULL,
  shown TEXT NOT NULL,
  gone INTEGER NOT NULL,
  started_at TEXT NOT NULL,
  posted_at TEXT,
  reminded_at TEXT
) WITHOUT ROWID;
