-- What a person and a model have said about rules. account_id is empty for rules that belong to no account.
CREATE TABLE rules_chat_sessions (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  begun_by TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
);

CREATE INDEX rules_chat_sessions_newest ON rules_chat_sessions (updated_at, id);

-- proposal is empty, or JSON; base is the SHA-256 of the file that it was made for, and result that of the file with it. accepted_at is
-- empty until a person accepts it.
CREATE TABLE rules_chat_messages (
  session_id TEXT NOT NULL REFERENCES rules_chat_sessions (id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  role TEXT NOT NULL,
  content TEXT NOT NULL,
  model TEXT NOT NULL,
  proposal TEXT NOT NULL,
  base TEXT NOT NULL,
  result TEXT NOT NULL,
  accepted_by TEXT NOT NULL,
  accepted_at TEXT,
  created_at TEXT NOT NULL,
  PRIMARY KEY (session_id, number)
);
