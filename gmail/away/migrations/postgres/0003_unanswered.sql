-- Why a message that came in an absence was not answered, for people.
CREATE TABLE absence_unanswered (
  account_id TEXT NOT NULL,
  message_id TEXT NOT NULL,
  why TEXT NOT NULL,
  decided_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (account_id, message_id)
);
