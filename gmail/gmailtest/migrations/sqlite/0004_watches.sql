-- Where changes are published, and those that have not been published yet.

CREATE TABLE watches (
  account INTEGER NOT NULL PRIMARY KEY REFERENCES accounts (id),
  topic TEXT NOT NULL,
  labels TEXT NOT NULL, -- JSON
  exclude INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
);

CREATE TABLE notifications (
  id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  account INTEGER NOT NULL REFERENCES accounts (id),
  history_id INTEGER NOT NULL,
  labels TEXT NOT NULL -- JSON: of the message, before and after
);
