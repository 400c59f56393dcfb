-- What is older than it is kept for, of all mailboxes.
CREATE INDEX enrichments_pruned ON enrichments (received_at, account_id, message_id);

-- The mail of a mailbox that names appointments, or asks its reader to do something: few of all.
CREATE INDEX enrichments_events ON enrichments (account_id, received_at, message_id) WHERE event_count > 0;
CREATE INDEX enrichments_todo ON enrichments (account_id, received_at, message_id) WHERE action_count > 0;
