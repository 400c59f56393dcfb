-- When an action that changes something has come to its end, or NULL: what was done in a time is counted by it. updated_at is later if
-- a snoozed message was woken since.
ALTER TABLE actions ADD COLUMN ended_at TIMESTAMPTZ;

UPDATE actions
SET ended_at = CASE WHEN type = 'snooze' AND executed_at IS NOT NULL THEN executed_at ELSE updated_at END
WHERE state IN ('completed', 'failed', 'canceled', 'rejected')
  AND type <> 'none';

CREATE INDEX actions_ended ON actions (account_id, ended_at) WHERE ended_at IS NOT NULL;
