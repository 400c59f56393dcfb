-- The lists that were left, or are about to be. way is one_click or mail, and target the host or the address that was asked. left_at
-- is NULL until the list's server, or Gmail, has taken the request.
CREATE TABLE unsubscriptions (
  action_id TEXT NOT NULL PRIMARY KEY,
  account_id TEXT NOT NULL,
  message_id TEXT NOT NULL,
  sender TEXT NOT NULL,
  list_id TEXT NOT NULL,
  way TEXT NOT NULL,
  target TEXT NOT NULL,
  asked_at TIMESTAMPTZ NOT NULL,
  left_at TIMESTAMPTZ
);

-- Those of a day are counted, and listed with the newest first.
CREATE INDEX unsubscriptions_asked ON unsubscriptions (account_id, asked_at, action_id);

-- A row is written by who counts an account's, so that others wait.
CREATE TABLE unsubscription_counts (
  account_id TEXT NOT NULL PRIMARY KEY,
  counted BIGINT NOT NULL
);
