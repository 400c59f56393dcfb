-- The decisions of a day are counted by account.
CREATE INDEX decisions_account ON decisions (account_id, created_at);

-- A row is locked while what models have done to an account is counted, so that two do not count at once.
CREATE TABLE model_counts (
  account_id TEXT NOT NULL PRIMARY KEY,
  counted BIGINT NOT NULL
);
