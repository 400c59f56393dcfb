-- What the rules would do with mail from before its account was added, and whether a person was asked about it.
CREATE TABLE old_mail (
  account_id TEXT NOT NULL PRIMARY KEY,
  counts TEXT NOT NULL, -- JSON
  counted_at TIMESTAMPTZ NOT NULL,
  asked_at TIMESTAMPTZ -- NULL: not yet
);
