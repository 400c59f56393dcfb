-- What is sent, one message an action. The row is written before the first attempt to send, and payload_json, rfc_message_id and
-- sha256 stay as they are. open_until: there was an attempt whose outcome is not known; a search that finds nothing after this
-- time says that nothing was sent.
CREATE TABLE outbound_messages (
  action_id TEXT NOT NULL PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  message_type TEXT NOT NULL CHECK (message_type IN ('forward', 'reply')),
  rfc_message_id TEXT NOT NULL,
  payload_json TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  size BIGINT NOT NULL,
  history_id BIGINT NOT NULL DEFAULT 0,
  attempts INTEGER NOT NULL DEFAULT 0,
  open_until TIMESTAMPTZ,
  sent_message_id TEXT NOT NULL DEFAULT '',
  sent_thread_id TEXT NOT NULL DEFAULT '',
  created_at TIMESTAMPTZ NOT NULL,
  updated_at TIMESTAMPTZ NOT NULL
);

-- To whom messages went, for the limits of each recipient. Rows go when no limit looks at them any more.
CREATE TABLE outbound_recipients (
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  email TEXT NOT NULL,
  action_id TEXT NOT NULL,
  message_type TEXT NOT NULL,
  sent_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (account_id, email, action_id)
);
