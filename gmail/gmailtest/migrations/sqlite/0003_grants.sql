-- What owners have allowed programs to do.

CREATE TABLE oauth_grants (
  id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  account INTEGER NOT NULL REFERENCES accounts (id),
  client TEXT NOT NULL,
  scopes TEXT NOT NULL,
  refresh_token TEXT UNIQUE, -- NULL: for online use only
  granted_at INTEGER NOT NULL,
  revoked INTEGER NOT NULL DEFAULT 0
);

CREATE INDEX oauth_grants_account ON oauth_grants (account, client);

CREATE TABLE oauth_codes (
  code TEXT NOT NULL PRIMARY KEY,
  grant_id INTEGER NOT NULL REFERENCES oauth_grants (id),
  redirect_uri TEXT NOT NULL,
  challenge TEXT NOT NULL,
  challenge_method TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  used INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;

CREATE TABLE oauth_tokens (
  token TEXT NOT NULL PRIMARY KEY,
  grant_id INTEGER NOT NULL REFERENCES oauth_grants (id),
  scopes TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) WITHOUT ROWID;
