-- The mail that needs an answer, a row for each thread. need counts the answers that were needed; turn counts the works that
-- jobs were asked for, and a result of an earlier turn is refused. The ids are Gmail's, but for account_id.
CREATE TABLE replies (
  account_id TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  message_id TEXT NOT NULL,
  sent_message_id TEXT NOT NULL,
  state TEXT NOT NULL,
  reason TEXT NOT NULL,
  need BIGINT NOT NULL,
  turn BIGINT NOT NULL,
  reworks BIGINT NOT NULL,
  created_at TIMESTAMPTZ NOT NULL,
  updated_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (account_id, thread_id)
);

CREATE INDEX replies_state ON replies (account_id, state, updated_at);

-- What has happened to each, also what has changed nothing: a cause counts once. The states are empty without a reply.
CREATE TABLE reply_changes (
  account_id TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  cause TEXT NOT NULL,
  seq BIGINT NOT NULL,
  event TEXT NOT NULL,
  from_state TEXT NOT NULL,
  to_state TEXT NOT NULL,
  need BIGINT NOT NULL,
  turn BIGINT NOT NULL,
  reason TEXT NOT NULL,
  at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (account_id, thread_id, cause)
);
