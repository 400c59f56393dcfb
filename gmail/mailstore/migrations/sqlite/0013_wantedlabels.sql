-- Labels that are to be made at Gmail when what keeps everything from being changed has ended.
CREATE TABLE wanted_labels (
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  name_key TEXT NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (account_id, name_key)
);
