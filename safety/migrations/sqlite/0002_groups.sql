-- Who has sent the message that was decided about: list, unverified, or a domain; empty before this column.
ALTER TABLE decisions ADD COLUMN origin TEXT NOT NULL DEFAULT '';

-- The first request of the group that a request belongs to; empty if it stands alone.
ALTER TABLE approvals ADD COLUMN group_id TEXT NOT NULL DEFAULT '';
CREATE INDEX approvals_group ON approvals (group_id) WHERE group_id <> '';

-- How many requests of a kind were made since the first of a day.
CREATE TABLE safety_groups (
  account_id TEXT NOT NULL,
  group_key TEXT NOT NULL,
  opened_at TEXT NOT NULL,
  requests BIGINT NOT NULL,
  first_request TEXT NOT NULL,
  PRIMARY KEY (account_id, group_key)
);
