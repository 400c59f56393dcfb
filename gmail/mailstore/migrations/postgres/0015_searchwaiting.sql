-- Daemons of the version before, which know of no index and run on beside this one, store messages that wait for it all the same. This
-- version adds the terms in the same transaction.
CREATE FUNCTION messages_wait_for_index() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO unindexed_messages (account_id, message_id, received)
  VALUES (NEW.account_id, NEW.id, FLOOR(EXTRACT(EPOCH FROM COALESCE(NEW.received_at, NEW.created_at)))::BIGINT)
  ON CONFLICT (account_id, message_id) DO UPDATE SET received = excluded.received, terms = NULL; RETURN NULL; END $$;

CREATE TRIGGER messages_wait_insert AFTER INSERT ON messages FOR EACH ROW EXECUTE FUNCTION messages_wait_for_index();

CREATE TRIGGER messages_wait_update AFTER UPDATE OF body_plain, received_at ON messages FOR EACH ROW EXECUTE FUNCTION messages_wait_for_index();

-- What they have stored since the migration before.
INSERT INTO unindexed_messages (account_id, message_id, received)
SELECT account_id, id, FLOOR(EXTRACT(EPOCH FROM COALESCE(received_at, created_at)))::BIGINT
FROM messages
ON CONFLICT (account_id, message_id) DO NOTHING;
