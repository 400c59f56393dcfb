CREATE TABLE accounts (
  id TEXT NOT NULL PRIMARY KEY,
  provider TEXT NOT NULL,
  email TEXT NOT NULL,
  history_id BIGINT NOT NULL DEFAULT 0,
  backfill_state TEXT NOT NULL DEFAULT 'none' CHECK (backfill_state IN ('none', 'running', 'done')),
  backfill_query TEXT NOT NULL DEFAULT '',
  backfill_page TEXT NOT NULL DEFAULT '',
  last_sync_at TIMESTAMPTZ,
  created_at TIMESTAMPTZ NOT NULL,
  updated_at TIMESTAMPTZ NOT NULL,
  UNIQUE (provider, email)
);

CREATE TABLE threads (
  id TEXT NOT NULL PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  provider_thread_id TEXT NOT NULL,
  subject TEXT NOT NULL,
  snippet TEXT NOT NULL,
  last_message_at TIMESTAMPTZ,
  created_at TIMESTAMPTZ NOT NULL,
  updated_at TIMESTAMPTZ NOT NULL,
  UNIQUE (account_id, provider_thread_id)
);

CREATE TABLE messages (
  id TEXT NOT NULL PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  thread_id TEXT NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
  provider_message_id TEXT NOT NULL,
  history_id BIGINT NOT NULL,
  labels_json JSON NOT NULL,
  rfc_message_id TEXT NOT NULL,
  in_reply_to TEXT NOT NULL,
  references_json JSON NOT NULL,
  from_name TEXT NOT NULL,
  from_email TEXT NOT NULL,
  recipients_json JSON NOT NULL,
  subject TEXT NOT NULL,
  snippet TEXT NOT NULL,
  headers_json JSON NOT NULL,
  body_plain TEXT NOT NULL,
  body_html TEXT NOT NULL,
  attachments_json JSON NOT NULL,
  size BIGINT NOT NULL,
  received_at TIMESTAMPTZ,
  sent_at TIMESTAMPTZ,
  deleted_at TIMESTAMPTZ,
  created_at TIMESTAMPTZ NOT NULL,
  updated_at TIMESTAMPTZ NOT NULL,
  UNIQUE (account_id, provider_message_id)
);

CREATE INDEX messages_thread ON messages (thread_id);

-- Messages are counted while they come in.
CREATE INDEX messages_present ON messages (account_id) WHERE deleted_at IS NULL;

-- Messages that could not be read, as they arrived. A row goes when a later ingest succeeds.
CREATE TABLE broken_messages (
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  provider_message_id TEXT NOT NULL,
  job_id TEXT NOT NULL,
  reason TEXT NOT NULL,
  subject TEXT NOT NULL,
  snippet TEXT NOT NULL,
  raw BYTEA NOT NULL,
  received_at TIMESTAMPTZ,
  created_at TIMESTAMPTZ NOT NULL,
  updated_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (account_id, provider_message_id)
);

-- name_key is the name as it is compared: without case. description and available are the user's, the rest is Gmail's.
CREATE TABLE labels (
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  name_key TEXT NOT NULL,
  type TEXT NOT NULL CHECK (type IN ('system', 'user')),
  description TEXT NOT NULL DEFAULT '',
  available INTEGER NOT NULL CHECK (available IN (0, 1)),
  created_at TIMESTAMPTZ NOT NULL,
  updated_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (account_id, id)
);

CREATE INDEX labels_name ON labels (account_id, name_key);
