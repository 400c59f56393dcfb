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
