-- What marks the days of what is changed, in the tables of other packages, and two indexes for what is counted there. Statements are
-- separated by empty lines. A changed statement needs a new name, by which Migrate knows it.

CREATE INDEX statistics_1_approvals ON approvals (decided_at) WHERE decided_at IS NOT NULL

CREATE INDEX statistics_1_feedback ON feedback (account_id, created_at)

CREATE TRIGGER statistics_1_message_insert AFTER INSERT ON messages BEGIN
  INSERT INTO statistics_marks (account_id, day) VALUES (NEW.account_id, substr(COALESCE(NEW.received_at, NEW.created_at), 1, 10)); END

CREATE TRIGGER statistics_1_message_update AFTER UPDATE OF received_at, deleted_at, from_email, from_key, labels_json ON messages
WHEN (OLD.deleted_at IS NULL) <> (NEW.deleted_at IS NULL) OR OLD.received_at IS NOT NEW.received_at
  OR OLD.from_email <> NEW.from_email OR OLD.from_key IS NOT NEW.from_key
  OR (OLD.labels_json LIKE '%"SENT"%') <> (NEW.labels_json LIKE '%"SENT"%')
  OR (OLD.labels_json LIKE '%"DRAFT"%') <> (NEW.labels_json LIKE '%"DRAFT"%') BEGIN
  INSERT INTO statistics_marks (account_id, day)
  SELECT OLD.account_id, substr(COALESCE(OLD.received_at, OLD.created_at), 1, 10)
  UNION SELECT NEW.account_id, substr(COALESCE(NEW.received_at, NEW.created_at), 1, 10)
  UNION SELECT account_id, substr(ended_at, 1, 10) FROM actions
  WHERE message_id = NEW.id AND ended_at IS NOT NULL AND OLD.received_at IS NOT NEW.received_at; END

CREATE TRIGGER statistics_1_message_delete AFTER DELETE ON messages
WHEN EXISTS (SELECT 1 FROM accounts WHERE id = OLD.account_id AND state <> 'removing') BEGIN
  INSERT INTO statistics_marks (account_id, day)
  SELECT OLD.account_id, substr(COALESCE(OLD.received_at, OLD.created_at), 1, 10)
  UNION SELECT account_id, substr(ended_at, 1, 10) FROM actions WHERE message_id = OLD.id AND ended_at IS NOT NULL; END

CREATE TRIGGER statistics_1_enrichment_insert AFTER INSERT ON enrichments WHEN NEW.category <> '' BEGIN
  INSERT INTO statistics_marks (account_id, day) VALUES (NEW.account_id, substr(NEW.received_at, 1, 10)); END

CREATE TRIGGER statistics_1_enrichment_update AFTER UPDATE OF category, category_confidence, received_at ON enrichments
WHEN OLD.category <> NEW.category OR OLD.category_confidence <> NEW.category_confidence OR OLD.received_at <> NEW.received_at BEGIN
  INSERT INTO statistics_marks (account_id, day)
  SELECT OLD.account_id, substr(OLD.received_at, 1, 10)
  UNION SELECT NEW.account_id, substr(NEW.received_at, 1, 10); END

CREATE TRIGGER statistics_1_enrichment_delete AFTER DELETE ON enrichments
WHEN OLD.category <> '' AND EXISTS (SELECT 1 FROM accounts WHERE id = OLD.account_id AND state <> 'removing') BEGIN
  INSERT INTO statistics_marks (account_id, day) VALUES (OLD.account_id, substr(OLD.received_at, 1, 10)); END

CREATE TRIGGER statistics_1_action_insert AFTER INSERT ON actions WHEN NEW.ended_at IS NOT NULL BEGIN
  INSERT INTO statistics_marks (account_id, day) VALUES (NEW.account_id, substr(NEW.ended_at, 1, 10)); END

CREATE TRIGGER statistics_1_action_update AFTER UPDATE OF ended_at, state, approval_id ON actions
WHEN OLD.ended_at IS NOT NEW.ended_at
  OR NEW.ended_at IS NOT NULL AND (OLD.state <> NEW.state OR OLD.approval_id <> NEW.approval_id) BEGIN
  INSERT INTO statistics_marks (account_id, day)
  SELECT OLD.account_id, substr(OLD.ended_at, 1, 10) WHERE OLD.ended_at IS NOT NULL
  UNION SELECT NEW.account_id, substr(NEW.ended_at, 1, 10) WHERE NEW.ended_at IS NOT NULL; END

CREATE TRIGGER statistics_1_action_delete AFTER DELETE ON actions WHEN OLD.ended_at IS NOT NULL BEGIN
  INSERT INTO statistics_marks (account_id, day) VALUES (OLD.account_id, substr(OLD.ended_at, 1, 10)); END

CREATE TRIGGER statistics_1_approval_insert AFTER INSERT ON approvals WHEN NEW.decided_at IS NOT NULL BEGIN
  INSERT INTO statistics_marks (account_id, day)
  SELECT account_id, substr(NEW.decided_at, 1, 10) FROM actions WHERE id = NEW.action_id
  UNION SELECT account_id, substr(ended_at, 1, 10) FROM actions WHERE id = NEW.action_id AND ended_at IS NOT NULL; END

CREATE TRIGGER statistics_1_approval_update AFTER UPDATE OF outcome, requested_at, decided_at, replaced_by ON approvals
WHEN OLD.outcome <> NEW.outcome OR OLD.requested_at <> NEW.requested_at OR OLD.decided_at IS NOT NEW.decided_at
  OR OLD.replaced_by <> NEW.replaced_by BEGIN
  INSERT INTO statistics_marks (account_id, day)
  SELECT account_id, substr(OLD.decided_at, 1, 10) FROM actions WHERE id = NEW.action_id AND OLD.decided_at IS NOT NULL
  UNION SELECT account_id, substr(NEW.decided_at, 1, 10) FROM actions WHERE id = NEW.action_id AND NEW.decided_at IS NOT NULL
  UNION SELECT account_id, substr(ended_at, 1, 10) FROM actions WHERE id = NEW.action_id AND ended_at IS NOT NULL; END

CREATE TRIGGER statistics_1_approval_delete AFTER DELETE ON approvals WHEN OLD.decided_at IS NOT NULL BEGIN
  INSERT INTO statistics_marks (account_id, day)
  SELECT account_id, substr(OLD.decided_at, 1, 10) FROM actions WHERE id = OLD.action_id
  UNION SELECT account_id, substr(ended_at, 1, 10) FROM actions WHERE id = OLD.action_id AND ended_at IS NOT NULL; END

CREATE TRIGGER statistics_1_link_insert AFTER INSERT ON action_links WHEN NEW.relation = 'undo_of' BEGIN
  INSERT INTO statistics_marks (account_id, day)
  SELECT account_id, substr(NEW.created_at, 1, 10) FROM actions WHERE id = NEW.effect_action_id
  UNION SELECT account_id, substr(ended_at, 1, 10) FROM actions WHERE id = NEW.effect_action_id AND ended_at IS NOT NULL; END

CREATE TRIGGER statistics_1_link_update AFTER UPDATE OF void_at ON action_links
WHEN NEW.relation = 'undo_of' AND (OLD.void_at IS NULL) <> (NEW.void_at IS NULL) BEGIN
  INSERT INTO statistics_marks (account_id, day)
  SELECT account_id, substr(NEW.created_at, 1, 10) FROM actions WHERE id = NEW.effect_action_id
  UNION SELECT account_id, substr(ended_at, 1, 10) FROM actions WHERE id = NEW.effect_action_id AND ended_at IS NOT NULL; END

CREATE TRIGGER statistics_1_link_delete AFTER DELETE ON action_links WHEN OLD.relation = 'undo_of' BEGIN
  INSERT INTO statistics_marks (account_id, day)
  SELECT account_id, substr(OLD.created_at, 1, 10) FROM actions WHERE id = OLD.effect_action_id
  UNION SELECT account_id, substr(ended_at, 1, 10) FROM actions WHERE id = OLD.effect_action_id AND ended_at IS NOT NULL; END

CREATE TRIGGER statistics_1_feedback_insert AFTER INSERT ON feedback BEGIN
  INSERT INTO statistics_marks (account_id, day)
  SELECT NEW.account_id, substr(NEW.created_at, 1, 10)
  UNION SELECT account_id, substr(ended_at, 1, 10) FROM actions WHERE id = NEW.action_id AND ended_at IS NOT NULL; END

CREATE TRIGGER statistics_1_feedback_update AFTER UPDATE OF counted, verdict ON feedback
WHEN OLD.counted <> NEW.counted OR OLD.verdict <> NEW.verdict BEGIN
  INSERT INTO statistics_marks (account_id, day)
  SELECT NEW.account_id, substr(NEW.created_at, 1, 10)
  UNION SELECT account_id, substr(ended_at, 1, 10) FROM actions WHERE id = NEW.action_id AND ended_at IS NOT NULL; END

CREATE TRIGGER statistics_1_feedback_delete AFTER DELETE ON feedback
WHEN EXISTS (SELECT 1 FROM accounts WHERE id = OLD.account_id AND state <> 'removing') BEGIN
  INSERT INTO statistics_marks (account_id, day)
  SELECT OLD.account_id, substr(OLD.created_at, 1, 10)
  UNION SELECT account_id, substr(ended_at, 1, 10) FROM actions WHERE id = OLD.action_id AND ended_at IS NOT NULL; END
