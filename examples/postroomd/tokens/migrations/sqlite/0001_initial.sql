-- The tokens of programs. The secret itself is not here.
CREATE TABLE api_tokens (
  name TEXT NOT NULL PRIMARY KEY, -- on record with what is done by it, and so never used for another
  secret_sha256 TEXT NOT NULL UNIQUE,
  scope TEXT NOT NULL,
  mailboxes TEXT NOT NULL, -- addresses as a JSON array; null: all
  created_at TEXT NOT NULL,
  expires_at TEXT, -- NULL: never
  revoked_at TEXT -- NULL: it is not
);
