-- The audit log: a chain of entries, which are only added. hash is over the entry and the hash before.
CREATE TABLE audit_entries (
  number BIGINT NOT NULL PRIMARY KEY,
  account_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  subject_id TEXT NOT NULL,
  rev INTEGER NOT NULL,
  note TEXT NOT NULL,
  digest TEXT NOT NULL,
  hash TEXT NOT NULL,
  created_at TIMESTAMPTZ NOT NULL
);
