-- What was counted of an account: day is that of the mail or the event, or the first one of the month or year that span names, of which
-- n and total are the sums of its days. total is in millionths or milliseconds; see Dimension.
CREATE TABLE statistics (
  account_id TEXT NOT NULL,
  dimension TEXT NOT NULL,
  span TEXT NOT NULL CHECK (span IN ('day', 'month', 'year')),
  day TEXT NOT NULL,
  name TEXT NOT NULL,
  outcome TEXT NOT NULL,
  bin INTEGER NOT NULL,
  n INTEGER NOT NULL,
  total INTEGER NOT NULL,
  PRIMARY KEY (account_id, dimension, span, day, name, outcome, bin)
) WITHOUT ROWID;

-- What is counted no more is deleted in the transaction that subtracts it.
CREATE INDEX statistics_empty ON statistics (account_id) WHERE n = 0;

-- Days on which something was changed since they were counted; the empty day is for all days of the account. Rows are only added and
-- deleted, so that no two transactions wait for each other.
CREATE TABLE statistics_marks (
  id INTEGER NOT NULL PRIMARY KEY,
  account_id TEXT NOT NULL,
  day TEXT NOT NULL
);

-- rev counts what was written for an account: who has counted before another has written does not write.
CREATE TABLE statistics_accounts (
  account_id TEXT NOT NULL PRIMARY KEY,
  rev INTEGER NOT NULL,
  counted_at TEXT NOT NULL
);
