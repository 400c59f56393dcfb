-- history_id is the cursor. backfilled_all is 1 once a backfill of all mail was begun: then each message of the mailbox belongs here.
-- backfill_error says why the running backfill has stopped for good. state says whether the jobs of the account run, with the reason
-- and since when; state_since is NULL for an account that was always active. granted_scopes are separated by blanks, and empty if they
-- are not known.
CREATE TABLE accounts (
  id TEXT NOT NULL PRIMARY KEY,
  provider TEXT NOT NULL,
  email TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'paused', 'reauthorize', 'removing')),
  state_reason TEXT NOT NULL DEFAULT '',
  state_since TIMESTAMPTZ,
  granted_scopes TEXT NOT NULL DEFAULT '',
  history_id BIGINT NOT NULL DEFAULT 0,
  last_sync_at TIMESTAMPTZ,
  watch_expires_at TIMESTAMPTZ,
  backfill_state TEXT NOT NULL DEFAULT 'none' CHECK (backfill_state IN ('none', 'running', 'done')),
  backfill_query TEXT NOT NULL DEFAULT '',
  backfill_page TEXT NOT NULL DEFAULT '',
  backfill_pages BIGINT NOT NULL DEFAULT 0,
  backfill_messages BIGINT NOT NULL DEFAULT 0,
  backfill_estimate BIGINT NOT NULL DEFAULT 0,
  backfill_error TEXT NOT NULL DEFAULT '',
  backfilled_all INTEGER NOT NULL DEFAULT 0 CHECK (backfilled_all IN (0, 1)),
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

-- from_key is the sender as addresses are compared, or NULL where that is from_email in lower case: where it is ASCII.
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
  from_key TEXT,
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

-- Lists and searches go through the messages of an account from the newest to the oldest.
CREATE INDEX messages_received ON messages (account_id, (COALESCE(received_at, created_at)), id) WHERE deleted_at IS NULL;

-- Who has written before. What is beyond 320 characters is no address, and may be too long for an index.
CREATE INDEX messages_sender ON messages (account_id, (SUBSTR(COALESCE(from_key, LOWER(from_email)), 1, 320)), (COALESCE(received_at, created_at)));

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

-- Labels that are to be made at Gmail when what keeps everything from being changed has ended.
CREATE TABLE wanted_labels (
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  name_key TEXT NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (account_id, name_key)
);

-- The last reconciliation of each account, and how far it is. seq is that of its one job that may go on.
CREATE TABLE reconciliations (
  account_id TEXT NOT NULL PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
  run BIGINT NOT NULL,
  seq BIGINT NOT NULL,
  cause TEXT NOT NULL CHECK (cause IN ('gap', 'check')),
  phase TEXT NOT NULL CHECK (phase IN ('list', 'compare', 'missing', 'verify', 'clean', 'done')),
  history_id BIGINT NOT NULL,
  since BIGINT NOT NULL,
  lists_json TEXT NOT NULL,
  page TEXT NOT NULL,
  listed BIGINT NOT NULL,
  added BIGINT NOT NULL,
  relabelled BIGINT NOT NULL,
  deleted BIGINT NOT NULL,
  restored BIGINT NOT NULL,
  started_at TIMESTAMPTZ NOT NULL,
  updated_at TIMESTAMPTZ NOT NULL,
  finished_at TIMESTAMPTZ
);

-- What a run has listed: the messages and their labels, separated by blanks.
CREATE TABLE reconciled_messages (
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  provider_message_id TEXT NOT NULL,
  run BIGINT NOT NULL,
  labels TEXT NOT NULL,
  last_label TEXT NOT NULL,
  PRIMARY KEY (account_id, provider_message_id)
);

-- What a run has found to differ and has not verified yet.
CREATE TABLE reconcile_suspects (
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  provider_message_id TEXT NOT NULL,
  PRIMARY KEY (account_id, provider_message_id)
);

-- What is sent, one message an action. The row is written before the first attempt to send, and payload_json, rfc_message_id and
-- sha256 stay as they are. open_until: there was an attempt whose outcome is not known; a search that finds nothing after this
-- time says that nothing was sent. original_message_id is the message that it is about.
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
  original_message_id TEXT NOT NULL DEFAULT '',
  created_at TIMESTAMPTZ NOT NULL,
  updated_at TIMESTAMPTZ NOT NULL
);

-- What an account has sent is read when it is removed, and looked for by the message that it is about.
CREATE INDEX outbound_account ON outbound_messages (account_id);

CREATE INDEX outbound_about ON outbound_messages (original_message_id);

-- To whom messages went, for the limits of each recipient. Rows go when no limit looks at them any more.
CREATE TABLE outbound_recipients (
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  email TEXT NOT NULL,
  action_id TEXT NOT NULL,
  message_type TEXT NOT NULL,
  sent_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (account_id, email, action_id)
);

-- The drafts that this program makes, one a key. open_until is that of outbound_messages, for the creating, the sending or the
-- vanishing of the draft. version counts the changes: each is made to the version that was read.
-- payload_json has what it answers and to whom: a draft that was sent is a reply, which no rule sends a second time.
CREATE TABLE drafts (
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  draft_key TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('creating', 'open', 'sending', 'sent', 'deleted')),
  rfc_message_id TEXT NOT NULL,
  provider_draft_id TEXT NOT NULL DEFAULT '',
  provider_thread_id TEXT NOT NULL DEFAULT '',
  sent_message_id TEXT NOT NULL DEFAULT '',
  original_message_id TEXT NOT NULL DEFAULT '',
  payload_json TEXT NOT NULL DEFAULT '',
  history_id BIGINT NOT NULL DEFAULT 0,
  open_until TIMESTAMPTZ,
  version BIGINT NOT NULL DEFAULT 0,
  created_at TIMESTAMPTZ NOT NULL,
  updated_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (account_id, draft_key)
);

CREATE INDEX drafts_about ON drafts (original_message_id);

-- What a mailbox had sent when its account was removed, for when it comes back: one row a recipient. mailbox, what (the message and the
-- type of what was sent), target (the address) and recipient (who that is to the limits) are hashes; see sentbefore.go. certain is 0
-- where it is not known whether the message was sent.
CREATE TABLE sent_before (
  mailbox TEXT NOT NULL,
  what TEXT NOT NULL,
  target TEXT NOT NULL,
  action_id TEXT NOT NULL,
  recipient TEXT NOT NULL,
  message_type TEXT NOT NULL CHECK (message_type IN ('forward', 'reply')),
  certain INTEGER NOT NULL CHECK (certain IN (0, 1)),
  sent_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (mailbox, what, target, action_id)
);

CREATE INDEX sent_before_recipient ON sent_before (mailbox, recipient, sent_at);

-- Which messages have a label, the newest last. The triggers below keep it in step with messages.labels_json.
CREATE TABLE message_labels (
  account_id TEXT NOT NULL,
  label_id TEXT NOT NULL,
  at TIMESTAMPTZ NOT NULL,
  message_id TEXT NOT NULL,
  PRIMARY KEY (account_id, label_id, at, message_id)
);

CREATE FUNCTION message_labels_without() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
  DELETE FROM message_labels WHERE account_id = OLD.account_id AND at = COALESCE(OLD.received_at, OLD.created_at) AND message_id = OLD.id
  AND label_id IN (SELECT json_array_elements_text(CASE json_typeof(OLD.labels_json) WHEN 'array' THEN OLD.labels_json ELSE '[]' END)); RETURN NULL; END $$;

CREATE FUNCTION message_labels_with() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO message_labels (account_id, label_id, at, message_id)
  SELECT NEW.account_id, l.value, COALESCE(NEW.received_at, NEW.created_at), NEW.id
  FROM json_array_elements_text(CASE json_typeof(NEW.labels_json) WHEN 'array' THEN NEW.labels_json ELSE '[]' END) l ON CONFLICT DO NOTHING; RETURN NULL; END $$;

CREATE TRIGGER message_labels_insert AFTER INSERT ON messages FOR EACH ROW EXECUTE FUNCTION message_labels_with();

CREATE TRIGGER message_labels_delete AFTER DELETE ON messages FOR EACH ROW EXECUTE FUNCTION message_labels_without();

-- Triggers of one event are called in the order of their names.
CREATE TRIGGER message_labels_update_1 AFTER UPDATE OF labels_json, received_at ON messages FOR EACH ROW
WHEN (OLD.labels_json::text <> NEW.labels_json::text OR OLD.received_at IS DISTINCT FROM NEW.received_at)
EXECUTE FUNCTION message_labels_without();

CREATE TRIGGER message_labels_update_2 AFTER UPDATE OF labels_json, received_at ON messages FOR EACH ROW
WHEN (OLD.labels_json::text <> NEW.labels_json::text OR OLD.received_at IS DISTINCT FROM NEW.received_at)
EXECUTE FUNCTION message_labels_with();

-- When messages with a term were received: the terms of one slot within 2^20 seconds, as searchpostings.go writes them. Part 0 is the one
-- that grows.
CREATE TABLE message_terms (
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  slot INTEGER NOT NULL,
  bucket BIGINT NOT NULL,
  part INTEGER NOT NULL,
  postings BYTEA NOT NULL,
  PRIMARY KEY (account_id, slot, bucket, part)
);

-- Messages whose terms are not in message_terms yet. received is in seconds since 1970; terms is NULL where they
-- are still to be found.
CREATE TABLE unindexed_messages (
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  message_id TEXT NOT NULL,
  received BIGINT NOT NULL,
  terms BYTEA,
  PRIMARY KEY (account_id, message_id)
);

-- The quota of each account, for all processes that call Gmail for it: how far the pace has come, and until when Gmail wants no calls.
CREATE TABLE quota_accounts (
  account_id TEXT NOT NULL PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
  arrival TIMESTAMPTZ NOT NULL,
  closed_until TIMESTAMPTZ NOT NULL
);

-- Units that a process has leased, and until when they count.
CREATE TABLE quota_leases (
  id TEXT NOT NULL PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  holder TEXT NOT NULL,
  units BIGINT NOT NULL,
  taken_at TIMESTAMPTZ NOT NULL,
  free_at TIMESTAMPTZ NOT NULL
);

CREATE INDEX quota_leases_account ON quota_leases (account_id, free_at);
