-- The messages that wait for the limit of a recipient in a day, in the order in which they were decided. wait_until is when the
-- message may be sent as far as is known. asked is 1 if it would wait too long, so that a person was asked instead.
CREATE TABLE outbound_waiting (
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  email TEXT NOT NULL,
  action_id TEXT NOT NULL,
  decided_at TIMESTAMPTZ NOT NULL,
  wait_until TIMESTAMPTZ NOT NULL,
  asked INTEGER NOT NULL CHECK (asked IN (0, 1)),
  PRIMARY KEY (account_id, email, action_id)
);

CREATE INDEX outbound_waiting_action ON outbound_waiting (account_id, action_id);
