-- The archives that are known here, by the id of the account whose mail they hold. head_number and head_sha256 are of the
-- last manifest that the tables contain. history_id is Gmail's, up to which changes are archived; listing_history and
-- listing_token say how far a listing of the whole mailbox has come, and are 0 and empty otherwise.
CREATE TABLE archives (
  account_id TEXT NOT NULL PRIMARY KEY,
  email TEXT NOT NULL,
  head_number BIGINT NOT NULL,
  head_sha256 TEXT NOT NULL,
  history_id BIGINT NOT NULL,
  records_cursor TEXT NOT NULL,
  listing_history BIGINT NOT NULL,
  listing_token TEXT NOT NULL,
  ran_at TIMESTAMPTZ,
  failed_at TIMESTAMPTZ,
  failure TEXT NOT NULL,
  verified_at TIMESTAMPTZ,
  chain_fault TEXT NOT NULL
);

-- The archived messages, by Gmail's ids. sha256 and size are of the raw mail. verified_at is when the object was last
-- read and found right, and fault says what was wrong with it.
CREATE TABLE archived_messages (
  account_id TEXT NOT NULL,
  message_id TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  size BIGINT NOT NULL,
  received_at TIMESTAMPTZ,
  rfc_message_id TEXT NOT NULL,
  labels_json TEXT NOT NULL,
  state TEXT NOT NULL,
  verified_at TIMESTAMPTZ,
  fault TEXT NOT NULL,
  PRIMARY KEY (account_id, message_id)
);

CREATE INDEX archived_messages_content ON archived_messages (account_id, sha256);
CREATE INDEX archived_messages_verified ON archived_messages (account_id, verified_at, message_id);
CREATE INDEX archived_messages_faults ON archived_messages (account_id, message_id) WHERE fault <> '';

-- Messages that Gmail has and that could not be read; each run tries them again.
CREATE TABLE unarchived_messages (
  account_id TEXT NOT NULL,
  message_id TEXT NOT NULL,
  reason TEXT NOT NULL,
  at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (account_id, message_id)
);

-- What restores have done: message_id is the message of the archive source_id, and new_id the one that was put into the
-- mailbox of account_id. since_history is Gmail's history id before the import was tried.
CREATE TABLE restored_messages (
  restore_id TEXT NOT NULL,
  message_id TEXT NOT NULL,
  account_id TEXT NOT NULL,
  rfc_message_id TEXT NOT NULL,
  size BIGINT NOT NULL,
  outcome TEXT NOT NULL,
  new_id TEXT NOT NULL,
  since_history BIGINT NOT NULL,
  detail TEXT NOT NULL,
  at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (restore_id, message_id)
);

CREATE INDEX restored_messages_new ON restored_messages (account_id, new_id);
CREATE INDEX restored_messages_trying ON restored_messages (account_id, rfc_message_id) WHERE outcome = 'importing';
