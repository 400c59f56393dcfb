-- 1 when a backfill of all mail was ever begun: then each message of the mailbox belongs here.
ALTER TABLE accounts ADD COLUMN backfilled_all INTEGER NOT NULL DEFAULT 0 CHECK (backfilled_all IN (0, 1));

UPDATE accounts SET backfilled_all = 1 WHERE backfill_state <> 'none' AND backfill_query = '';

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
