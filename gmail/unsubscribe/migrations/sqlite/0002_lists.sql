-- What was asked of one list is found by it, and what of that was asked last.
CREATE INDEX unsubscriptions_list ON unsubscriptions (account_id, sender, list_id, asked_at, action_id);
