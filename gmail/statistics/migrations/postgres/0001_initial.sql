-- What was counted of an account: day is that of the mail or the event, or the first one of the month or year that span names, of which
-- n and total are the sums of its days. total is in millionths or milliseconds; see Dimension.
CREATE TABLE statistics (
  account_id TEXT NOT NULL,
  dimension TEXT COLLATE "C" NOT NULL,
  span TEXT COLLATE "C" NOT NULL CHECK (span IN ('day', 'month', 'year')),
  day TEXT COLLATE "C" NOT NULL,
  name TEXT COLLATE "C" NOT NULL,
  outcome TEXT COLLATE "C" NOT NULL,
  bin INTEGER NOT NULL,
  n BIGINT NOT NULL,
  total BIGINT NOT NULL,
  PRIMARY KEY (account_id, dimension, span, day, name, outcome, bin)
);

-- What is counted no more is deleted in the transaction that subtracts it.
CREATE INDEX statistics_empty ON statistics (account_id) WHERE n = 0;

-- Days on which something was changed since they were counted; the empty day is for all days of the account. Rows are only added and
-- deleted, so that no two transactions wait for each other.
CREATE TABLE statistics_marks (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  account_id TEXT NOT NULL,
  day TEXT COLLATE "C" NOT NULL
);

-- rev counts what was written for an account: who has counted before another has written does not write.
CREATE TABLE statistics_accounts (
  account_id TEXT NOT NULL PRIMARY KEY,
  rev BIGINT NOT NULL,
  counted_at TIMESTAMPTZ NOT NULL
);
