-- Who is away: the last absence of each account. id is another one each time it is set; since is when it was switched
-- on, and stays while it is on. days is how long a sender gets no second answer; 0 is the whole absence.
CREATE TABLE absences (
  account_id TEXT NOT NULL PRIMARY KEY,
  id TEXT NOT NULL,
  body TEXT NOT NULL,
  days INTEGER NOT NULL,
  audience TEXT NOT NULL,
  from_at TIMESTAMPTZ NOT NULL,
  until_at TIMESTAMPTZ NOT NULL,
  since TIMESTAMPTZ NOT NULL,
  set_at TIMESTAMPTZ NOT NULL,
  set_by TEXT NOT NULL,
  ended_at TIMESTAMPTZ,
  ended_by TEXT NOT NULL
);

-- When a sender was last answered, and about which message of ours.
CREATE TABLE absence_answers (
  account_id TEXT NOT NULL,
  sender TEXT NOT NULL,
  message_id TEXT NOT NULL,
  answered_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (account_id, sender)
);

CREATE INDEX absence_answers_time ON absence_answers (account_id, answered_at);
