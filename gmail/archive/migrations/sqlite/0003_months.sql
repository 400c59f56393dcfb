-- What archived_messages has of each month of an account, which the triggers below keep: a page counts what no scan of a large archive
-- could in its time. month is such as 2026-11, or empty for messages without a time. messages, bytes, gone, faults and unverified are
-- of those with removed = 0; removed_gone is of removed.
CREATE TABLE archive_months (
  account_id TEXT NOT NULL,
  month TEXT NOT NULL,
  messages INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  gone INTEGER NOT NULL,
  faults INTEGER NOT NULL,
  unverified INTEGER NOT NULL,
  removed INTEGER NOT NULL,
  removed_gone INTEGER NOT NULL,
  PRIMARY KEY (account_id, month)
) WITHOUT ROWID;

INSERT INTO archive_months (account_id, month, messages, bytes, gone, faults, unverified, removed, removed_gone)
SELECT account_id, COALESCE(substr(received_at, 1, 7), ''),
  SUM(removed = 0), SUM(IIF(removed = 0, size, 0)), SUM(removed = 0 AND state = 'gone'), SUM(removed = 0 AND fault <> ''),
  SUM(removed = 0 AND verified_at IS NULL), SUM(removed > 0), SUM(removed > 0 AND state = 'gone')
FROM archived_messages
GROUP BY 1, 2;

CREATE TRIGGER archive_months_insert AFTER INSERT ON archived_messages BEGIN
  INSERT INTO archive_months (account_id, month, messages, bytes, gone, faults, unverified, removed, removed_gone)
  SELECT NEW.account_id, COALESCE(substr(NEW.received_at, 1, 7), ''), 0, 0, 0, 0, 0, 0, 0
  WHERE NOT EXISTS (SELECT 1 FROM archive_months WHERE account_id = NEW.account_id AND month = COALESCE(substr(NEW.received_at, 1, 7), '')); UPDATE archive_months
  SET messages = messages + (NEW.removed = 0),
    bytes = bytes + IIF(NEW.removed = 0, NEW.size, 0),
    gone = gone + (NEW.removed = 0 AND NEW.state = 'gone'),
    faults = faults + (NEW.removed = 0 AND NEW.fault <> ''),
    unverified = unverified + (NEW.removed = 0 AND NEW.verified_at IS NULL),
    removed = removed + (NEW.removed > 0),
    removed_gone = removed_gone + (NEW.removed > 0 AND NEW.state = 'gone')
  WHERE account_id = NEW.account_id AND month = COALESCE(substr(NEW.received_at, 1, 7), ''); END;

CREATE TRIGGER archive_months_delete AFTER DELETE ON archived_messages BEGIN
  UPDATE archive_months
  SET messages = messages - (OLD.removed = 0),
    bytes = bytes - IIF(OLD.removed = 0, OLD.size, 0),
    gone = gone - (OLD.removed = 0 AND OLD.state = 'gone'),
    faults = faults - (OLD.removed = 0 AND OLD.fault <> ''),
    unverified = unverified - (OLD.removed = 0 AND OLD.verified_at IS NULL),
    removed = removed - (OLD.removed > 0),
    removed_gone = removed_gone - (OLD.removed > 0 AND OLD.state = 'gone')
  WHERE account_id = OLD.account_id AND month = COALESCE(substr(OLD.received_at, 1, 7), ''); DELETE FROM archive_months
  WHERE account_id = OLD.account_id AND month = COALESCE(substr(OLD.received_at, 1, 7), '') AND messages = 0 AND removed = 0; END;

CREATE TRIGGER archive_months_update AFTER UPDATE ON archived_messages
WHEN OLD.size <> NEW.size OR OLD.received_at IS NOT NEW.received_at OR OLD.state <> NEW.state OR OLD.removed <> NEW.removed
  OR (OLD.fault = '') <> (NEW.fault = '') OR (OLD.verified_at IS NULL) <> (NEW.verified_at IS NULL) BEGIN
  UPDATE archive_months
  SET messages = messages - (OLD.removed = 0),
    bytes = bytes - IIF(OLD.removed = 0, OLD.size, 0),
    gone = gone - (OLD.removed = 0 AND OLD.state = 'gone'),
    faults = faults - (OLD.removed = 0 AND OLD.fault <> ''),
    unverified = unverified - (OLD.removed = 0 AND OLD.verified_at IS NULL),
    removed = removed - (OLD.removed > 0),
    removed_gone = removed_gone - (OLD.removed > 0 AND OLD.state = 'gone')
  WHERE account_id = OLD.account_id AND month = COALESCE(substr(OLD.received_at, 1, 7), ''); INSERT INTO archive_months (account_id, month, messages, bytes, gone, faults, unverified, removed, removed_gone)
  SELECT NEW.account_id, COALESCE(substr(NEW.received_at, 1, 7), ''), 0, 0, 0, 0, 0, 0, 0
  WHERE NOT EXISTS (SELECT 1 FROM archive_months WHERE account_id = NEW.account_id AND month = COALESCE(substr(NEW.received_at, 1, 7), '')); UPDATE archive_months
  SET messages = messages + (NEW.removed = 0),
    bytes = bytes + IIF(NEW.removed = 0, NEW.size, 0),
    gone = gone + (NEW.removed = 0 AND NEW.state = 'gone'),
    faults = faults + (NEW.removed = 0 AND NEW.fault <> ''),
    unverified = unverified + (NEW.removed = 0 AND NEW.verified_at IS NULL),
    removed = removed + (NEW.removed > 0),
    removed_gone = removed_gone + (NEW.removed > 0 AND NEW.state = 'gone')
  WHERE account_id = NEW.account_id AND month = COALESCE(substr(NEW.received_at, 1, 7), ''); DELETE FROM archive_months
  WHERE account_id = OLD.account_id AND month = COALESCE(substr(OLD.received_at, 1, 7), '') AND messages = 0 AND removed = 0; END;
