-- What marks the days of what is changed, in the tables of other packages, and two indexes for what is counted there. Statements are
-- separated by empty lines. A changed statement needs a new name, by which Migrate knows it.

CREATE OR REPLACE FUNCTION statistics_day(at TIMESTAMPTZ) RETURNS TEXT LANGUAGE sql IMMUTABLE AS $$
  SELECT to_char($1 AT TIME ZONE 'UTC', 'YYYY-MM-DD') $$

CREATE INDEX statistics_1_approvals ON approvals (decided_at) WHERE decided_at IS NOT NULL

CREATE INDEX statistics_1_feedback ON feedback (account_id, created_at)

CREATE OR REPLACE FUNCTION statistics_1_message_insert() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO statistics_marks (account_id, day) VALUES (NEW.account_id, statistics_day(COALESCE(NEW.received_at, NEW.created_at)));
  RETURN NULL; END $$

CREATE TRIGGER statistics_1_message_insert AFTER INSERT ON messages FOR EACH ROW
EXECUTE FUNCTION statistics_1_message_insert()

CREATE OR REPLACE FUNCTION statistics_1_message_update() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO statistics_marks (account_id, day)
  SELECT OLD.account_id, statistics_day(COALESCE(OLD.received_at, OLD.created_at))
  UNION SELECT NEW.account_id, statistics_day(COALESCE(NEW.received_at, NEW.created_at))
  UNION SELECT account_id, statistics_day(ended_at) FROM actions
  WHERE message_id = NEW.id AND ended_at IS NOT NULL AND OLD.received_at IS DISTINCT FROM NEW.received_at;
  RETURN NULL; END $$

CREATE TRIGGER statistics_1_message_update AFTER UPDATE OF received_at, deleted_at, from_email, from_key, labels_json ON messages FOR EACH ROW
WHEN ((OLD.deleted_at IS NULL) <> (NEW.deleted_at IS NULL) OR OLD.received_at IS DISTINCT FROM NEW.received_at
  OR OLD.from_email <> NEW.from_email OR OLD.from_key IS DISTINCT FROM NEW.from_key
  OR (OLD.labels_json::text LIKE '%"SENT"%') <> (NEW.labels_json::text LIKE '%"SENT"%')
  OR (OLD.labels_json::text LIKE '%"DRAFT"%') <> (NEW.labels_json::text LIKE '%"DRAFT"%'))
EXECUTE FUNCTION statistics_1_message_update()

CREATE OR REPLACE FUNCTION statistics_1_message_delete() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
  IF EXISTS (SELECT 1 FROM accounts WHERE id = OLD.account_id AND state <> 'removing') THEN
  INSERT INTO statistics_marks (account_id, day)
  SELECT OLD.account_id, statistics_day(COALESCE(OLD.received_at, OLD.created_at))
  UNION SELECT account_id, statistics_day(ended_at) FROM actions WHERE message_id = OLD.id AND ended_at IS NOT NULL; END IF;
  RETURN NULL; END $$

CREATE TRIGGER statistics_1_message_delete AFTER DELETE ON messages FOR EACH ROW
EXECUTE FUNCTION statistics_1_message_delete()

CREATE OR REPLACE FUNCTION statistics_1_enrichment_insert() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO statistics_marks (account_id, day) VALUES (NEW.account_id, statistics_day(NEW.received_at));
  RETURN NULL; END $$

CREATE TRIGGER statistics_1_enrichment_insert AFTER INSERT ON enrichments FOR EACH ROW
WHEN (NEW.category <> '')
EXECUTE FUNCTION statistics_1_enrichment_insert()

CREATE OR REPLACE FUNCTION statistics_1_enrichment_update() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO statistics_marks (account_id, day)
  SELECT OLD.account_id, statistics_day(OLD.received_at)
  UNION SELECT NEW.account_id, statistics_day(NEW.received_at);
  RETURN NULL; END $$

CREATE TRIGGER statistics_1_enrichment_update AFTER UPDATE OF category, category_confidence, received_at ON enrichments FOR EACH ROW
WHEN (OLD.category <> NEW.category OR OLD.category_confidence <> NEW.category_confidence OR OLD.received_at <> NEW.received_at)
EXECUTE FUNCTION statistics_1_enrichment_update()

CREATE OR REPLACE FUNCTION statistics_1_enrichment_delete() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
  IF EXISTS (SELECT 1 FROM accounts WHERE id = OLD.account_id AND state <> 'removing') THEN
  INSERT INTO statistics_marks (account_id, day) VALUES (OLD.account_id, statistics_day(OLD.received_at)); END IF;
  RETURN NULL; END $$

CREATE TRIGGER statistics_1_enrichment_delete AFTER DELETE ON enrichments FOR EACH ROW
WHEN (OLD.category <> '')
EXECUTE FUNCTION statistics_1_enrichment_delete()

CREATE OR REPLACE FUNCTION statistics_1_action_insert() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO statistics_marks (account_id, day) VALUES (NEW.account_id, statistics_day(NEW.ended_at));
  RETURN NULL; END $$

CREATE TRIGGER statistics_1_action_insert AFTER INSERT ON actions FOR EACH ROW
WHEN (NEW.ended_at IS NOT NULL)
EXECUTE FUNCTION statistics_1_action_insert()

CREATE OR REPLACE FUNCTION statistics_1_action_update() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO statistics_marks (account_id, day)
  SELECT OLD.account_id, statistics_day(OLD.ended_at) WHERE OLD.ended_at IS NOT NULL
  UNION SELECT NEW.account_id, statistics_day(NEW.ended_at) WHERE NEW.ended_at IS NOT NULL;
  RETURN NULL; END $$

CREATE TRIGGER statistics_1_action_update AFTER UPDATE OF ended_at, state, approval_id ON actions FOR EACH ROW
WHEN (OLD.ended_at IS DISTINCT FROM NEW.ended_at
  OR NEW.ended_at IS NOT NULL AND (OLD.state <> NEW.state OR OLD.approval_id <> NEW.approval_id))
EXECUTE FUNCTION statistics_1_action_update()

CREATE OR REPLACE FUNCTION statistics_1_action_delete() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO statistics_marks (account_id, day) VALUES (OLD.account_id, statistics_day(OLD.ended_at));
  RETURN NULL; END $$

CREATE TRIGGER statistics_1_action_delete AFTER DELETE ON actions FOR EACH ROW
WHEN (OLD.ended_at IS NOT NULL)
EXECUTE FUNCTION statistics_1_action_delete()

CREATE OR REPLACE FUNCTION statistics_1_approval_insert() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO statistics_marks (account_id, day)
  SELECT account_id, statistics_day(NEW.decided_at) FROM actions WHERE id = NEW.action_id
  UNION SELECT account_id, statistics_day(ended_at) FROM actions WHERE id = NEW.action_id AND ended_at IS NOT NULL;
  RETURN NULL; END $$

CREATE TRIGGER statistics_1_approval_insert AFTER INSERT ON approvals FOR EACH ROW
WHEN (NEW.decided_at IS NOT NULL)
EXECUTE FUNCTION statistics_1_approval_insert()

CREATE OR REPLACE FUNCTION statistics_1_approval_update() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO statistics_marks (account_id, day)
  SELECT account_id, statistics_day(OLD.decided_at) FROM actions WHERE id = NEW.action_id AND OLD.decided_at IS NOT NULL
  UNION SELECT account_id, statistics_day(NEW.decided_at) FROM actions WHERE id = NEW.action_id AND NEW.decided_at IS NOT NULL
  UNION SELECT account_id, statistics_day(ended_at) FROM actions WHERE id = NEW.action_id AND ended_at IS NOT NULL;
  RETURN NULL; END $$

CREATE TRIGGER statistics_1_approval_update AFTER UPDATE OF outcome, requested_at, decided_at, replaced_by ON approvals FOR EACH ROW
WHEN (OLD.outcome <> NEW.outcome OR OLD.requested_at <> NEW.requested_at OR OLD.decided_at IS DISTINCT FROM NEW.decided_at
  OR OLD.replaced_by <> NEW.replaced_by)
EXECUTE FUNCTION statistics_1_approval_update()

CREATE OR REPLACE FUNCTION statistics_1_approval_delete() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO statistics_marks (account_id, day)
  SELECT account_id, statistics_day(OLD.decided_at) FROM actions WHERE id = OLD.action_id
  UNION SELECT account_id, statistics_day(ended_at) FROM actions WHERE id = OLD.action_id AND ended_at IS NOT NULL;
  RETURN NULL; END $$

CREATE TRIGGER statistics_1_approval_delete AFTER DELETE ON approvals FOR EACH ROW
WHEN (OLD.decided_at IS NOT NULL)
EXECUTE FUNCTION statistics_1_approval_delete()

CREATE OR REPLACE FUNCTION statistics_1_link_insert() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO statistics_marks (account_id, day)
  SELECT account_id, statistics_day(NEW.created_at) FROM actions WHERE id = NEW.effect_action_id
  UNION SELECT account_id, statistics_day(ended_at) FROM actions WHERE id = NEW.effect_action_id AND ended_at IS NOT NULL;
  RETURN NULL; END $$

CREATE TRIGGER statistics_1_link_insert AFTER INSERT ON action_links FOR EACH ROW
WHEN (NEW.relation = 'undo_of')
EXECUTE FUNCTION statistics_1_link_insert()

CREATE OR REPLACE FUNCTION statistics_1_link_update() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO statistics_marks (account_id, day)
  SELECT account_id, statistics_day(NEW.created_at) FROM actions WHERE id = NEW.effect_action_id
  UNION SELECT account_id, statistics_day(ended_at) FROM actions WHERE id = NEW.effect_action_id AND ended_at IS NOT NULL;
  RETURN NULL; END $$

CREATE TRIGGER statistics_1_link_update AFTER UPDATE OF void_at ON action_links FOR EACH ROW
WHEN (NEW.relation = 'undo_of' AND (OLD.void_at IS NULL) <> (NEW.void_at IS NULL))
EXECUTE FUNCTION statistics_1_link_update()

CREATE OR REPLACE FUNCTION statistics_1_link_delete() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO statistics_marks (account_id, day)
  SELECT account_id, statistics_day(OLD.created_at) FROM actions WHERE id = OLD.effect_action_id
  UNION SELECT account_id, statistics_day(ended_at) FROM actions WHERE id = OLD.effect_action_id AND ended_at IS NOT NULL;
  RETURN NULL; END $$

CREATE TRIGGER statistics_1_link_delete AFTER DELETE ON action_links FOR EACH ROW
WHEN (OLD.relation = 'undo_of')
EXECUTE FUNCTION statistics_1_link_delete()

CREATE OR REPLACE FUNCTION statistics_1_feedback_insert() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO statistics_marks (account_id, day)
  SELECT NEW.account_id, statistics_day(NEW.created_at)
  UNION SELECT account_id, statistics_day(ended_at) FROM actions WHERE id = NEW.action_id AND ended_at IS NOT NULL;
  RETURN NULL; END $$

CREATE TRIGGER statistics_1_feedback_insert AFTER INSERT ON feedback FOR EACH ROW
EXECUTE FUNCTION statistics_1_feedback_insert()

CREATE OR REPLACE FUNCTION statistics_1_feedback_update() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO statistics_marks (account_id, day)
  SELECT NEW.account_id, statistics_day(NEW.created_at)
  UNION SELECT account_id, statistics_day(ended_at) FROM actions WHERE id = NEW.action_id AND ended_at IS NOT NULL;
  RETURN NULL; END $$

CREATE TRIGGER statistics_1_feedback_update AFTER UPDATE OF counted, verdict ON feedback FOR EACH ROW
WHEN (OLD.counted <> NEW.counted OR OLD.verdict <> NEW.verdict)
EXECUTE FUNCTION statistics_1_feedback_update()

CREATE OR REPLACE FUNCTION statistics_1_feedback_delete() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
  IF EXISTS (SELECT 1 FROM accounts WHERE id = OLD.account_id AND state <> 'removing') THEN
  INSERT INTO statistics_marks (account_id, day)
  SELECT OLD.account_id, statistics_day(OLD.created_at)
  UNION SELECT account_id, statistics_day(ended_at) FROM actions WHERE id = OLD.action_id AND ended_at IS NOT NULL; END IF;
  RETURN NULL; END $$

CREATE TRIGGER statistics_1_feedback_delete AFTER DELETE ON feedback FOR EACH ROW
EXECUTE FUNCTION statistics_1_feedback_delete()
