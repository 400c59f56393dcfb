-- What is under way or waits is little of all that was ever done.
CREATE INDEX actions_open ON actions (account_id, id) WHERE state IN ('queued', 'executing', 'pending_approval');
