-- The drafts that this program makes, one a key. open_until is that of outbound_messages, for the creating, the sending or the
-- vanishing of the draft. version counts the changes: each is made to the version that was read.
CREATE TABLE drafts (
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  draft_key TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('creating', 'open', 'sending', 'sent', 'deleted')),
  rfc_message_id TEXT NOT NULL,
  provider_draft_id TEXT NOT NULL DEFAULT '',
  provider_thread_id TEXT NOT NULL DEFAULT '',
  sent_message_id TEXT NOT NULL DEFAULT '',
  history_id INTEGER NOT NULL DEFAULT 0,
  open_until TEXT,
  version INTEGER NOT NULL DEFAULT 0,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (account_id, draft_key)
);
