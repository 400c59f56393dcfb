-- What archived_messages has of each month of an account, which the triggers below keep: a page counts what no scan of a large archive
-- could in its time. month is such as 2026-11, or empty for messages without a time. messages, bytes, gone, faults and unverified are
-- of those with removed = 0; removed_gone is of removed.
CREATE TABLE archive_months (
  account_id TEXT NOT NULL,
  month TEXT NOT NULL,
  messages BIGINT NOT NULL,
  bytes BIGINT NOT NULL,
  gone BIGINT NOT NULL,
  faults BIGINT NOT NULL,
  unverified BIGINT NOT NULL,
  removed BIGINT NOT NULL,
  removed_gone BIGINT NOT NULL,
  PRIMARY KEY (account_id, month)
);

INSERT INTO archive_months (account_id, month, messages, bytes, gone, faults, unverified, removed, removed_gone)
SELECT account_id, COALESCE(to_char(received_at AT TIME ZONE 'UTC', 'YYYY-MM'), ''),
  COUNT(*) FILTER (WHERE removed = 0), COALESCE(SUM(size) FILTER (WHERE removed = 0), 0),
  COUNT(*) FILTER (WHERE removed = 0 AND state = 'gone'), COUNT(*) FILTER (WHERE removed = 0 AND fault <> ''),
  COUNT(*) FILTER (WHERE removed = 0 AND verified_at IS NULL), COUNT(*) FILTER (WHERE removed > 0),
  COUNT(*) FILTER (WHERE removed > 0 AND state = 'gone')
FROM archived_messages
GROUP BY 1, 2;

CREATE FUNCTION archive_months_without() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
  UPDATE archive_months
  SET messages = messages - (OLD.removed = 0)::int,
    bytes = bytes - CASE WHEN OLD.removed = 0 THEN OLD.size ELSE 0 END,
    gone = gone - (OLD.removed = 0 AND OLD.state = 'gone')::int,
    faults = faults - (OLD.removed = 0 AND OLD.fault <> '')::int,
    unverified = unverified - (OLD.removed = 0 AND OLD.verified_at IS NULL)::int,
    removed = removed - (OLD.removed > 0)::int,
    removed_gone = removed_gone - (OLD.removed > 0 AND OLD.state = 'gone')::int
  WHERE account_id = OLD.account_id AND month = COALESCE(to_char(OLD.received_at AT TIME ZONE 'UTC', 'YYYY-MM'), ''); DELETE FROM archive_months
  WHERE account_id = OLD.account_id AND month = COALESCE(to_char(OLD.received_at AT TIME ZONE 'UTC', 'YYYY-MM'), '')
    AND messages = 0 AND removed = 0; RETURN NULL; END $$;

CREATE FUNCTION archive_months_with() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO archive_months AS m (account_id, month, messages, bytes, gone, faults, unverified, removed, removed_gone)
  VALUES (NEW.account_id, COALESCE(to_char(NEW.received_at AT TIME ZONE 'UTC', 'YYYY-MM'), ''),
    (NEW.removed = 0)::int, CASE WHEN NEW.removed = 0 THEN NEW.size ELSE 0 END,
    (NEW.removed = 0 AND NEW.state = 'gone')::int, (NEW.removed = 0 AND NEW.fault <> '')::int,
    (NEW.removed = 0 AND NEW.verified_at IS NULL)::int, (NEW.removed > 0)::int, (NEW.removed > 0 AND NEW.state = 'gone')::int)
  ON CONFLICT (account_id, month) DO UPDATE
  SET messages = m.messages + excluded.messages,
    bytes = m.bytes + excluded.bytes,
    gone = m.gone + excluded.gone,
    faults = m.faults + excluded.faults,
    unverified = m.unverified + excluded.unverified,
    removed = m.removed + excluded.removed,
    removed_gone = m.removed_gone + excluded.removed_gone; RETURN NULL; END $$;

CREATE TRIGGER archive_months_insert AFTER INSERT ON archived_messages FOR EACH ROW EXECUTE FUNCTION archive_months_with();

CREATE TRIGGER archive_months_delete AFTER DELETE ON archived_messages FOR EACH ROW EXECUTE FUNCTION archive_months_without();

-- Triggers of one event are called in the order of their names.
CREATE TRIGGER archive_months_update_1 AFTER UPDATE ON archived_messages FOR EACH ROW
WHEN (OLD.size <> NEW.size OR OLD.received_at IS DISTINCT FROM NEW.received_at OR OLD.state <> NEW.state OR OLD.removed <> NEW.removed
  OR (OLD.fault = '') <> (NEW.fault = '') OR (OLD.verified_at IS NULL) <> (NEW.verified_at IS NULL))
EXECUTE FUNCTION archive_months_without();

CREATE TRIGGER archive_months_update_2 AFTER UPDATE ON archived_messages FOR EACH ROW
WHEN (OLD.size <> NEW.size OR OLD.received_at IS DISTINCT FROM NEW.received_at OR OLD.state <> NEW.state OR OLD.removed <> NEW.removed
  OR (OLD.fault = '') <> (NEW.fault = '') OR (OLD.verified_at IS NULL) <> (NEW.verified_at IS NULL))
EXECUTE FUNCTION archive_months_with();
