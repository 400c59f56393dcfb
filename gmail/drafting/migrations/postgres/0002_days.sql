-- How many needs for an answer were begun in a mailbox on a day (UTC) because mail seemed to need one, and how many were
-- refused since there were too many. Only the last day is kept.
CREATE TABLE reply_days (
  account_id TEXT NOT NULL,
  day TEXT NOT NULL,
  begun BIGINT NOT NULL,
  refused BIGINT NOT NULL,
  PRIMARY KEY (account_id, day)
);
