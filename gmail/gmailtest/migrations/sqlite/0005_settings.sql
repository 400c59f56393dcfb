-- What owners have set: filters, addresses, and what there is one of. key is empty for those.
CREATE TABLE settings (
  account INTEGER NOT NULL REFERENCES accounts (id),
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL, -- JSON, as the API has it
  PRIMARY KEY (account, kind, key)
) WITHOUT ROWID;
