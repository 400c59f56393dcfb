-- The node of a flow that the job belongs to: the flow's id, a slash and the node's name. A queued job with hold 4 waits for
-- its node to open.
ALTER TABLE jobs ADD COLUMN node TEXT COLLATE "C";

CREATE INDEX jobs_node ON jobs (node, id) WHERE node IS NOT NULL;
CREATE INDEX jobs_held ON jobs (node, id) WHERE state = 'queued' AND hold = 4;

-- Graphs of jobs. nodes, ended, failed and canceled count nodes; failed and canceled are those that no edge of policy run
-- follows.
CREATE TABLE job_flows (
  id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  state TEXT NOT NULL,
  nodes INTEGER NOT NULL,
  ended INTEGER NOT NULL DEFAULT 0,
  failed INTEGER NOT NULL DEFAULT 0,
  canceled INTEGER NOT NULL DEFAULT 0,
  deadline TIMESTAMPTZ,
  created_at TIMESTAMPTZ NOT NULL,
  updated_at TIMESTAMPTZ NOT NULL,
  finished_at TIMESTAMPTZ
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
CREATE INDEX job_flows_finished ON job_flows (finished_at) WHERE finished_at IS NOT NULL;

-- A node is waiting for others, running, retrying, or has ended: completed, failed or canceled. waits counts the edges to it
-- that have not been passed; total, completed, failed and canceled count its jobs. While its flow is being moved it does not
-- end.
CREATE TABLE job_nodes (
  id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  flow_id TEXT COLLATE "C" NOT NULL REFERENCES job_flows (id) ON DELETE CASCADE,
  name TEXT COLLATE "C" NOT NULL,
  state TEXT NOT NULL,
  waits INTEGER NOT NULL,
  total INTEGER NOT NULL,
  completed INTEGER NOT NULL DEFAULT 0,
  failed INTEGER NOT NULL DEFAULT 0,
  canceled INTEGER NOT NULL DEFAULT 0,
  moving INTEGER NOT NULL DEFAULT 0,
  updated_at TIMESTAMPTZ NOT NULL,
  finished_at TIMESTAMPTZ
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
CREATE INDEX job_nodes_flow ON job_nodes (flow_id);

-- What happens to to_node when from_node does not complete: cancel, run or fail (the flow).
CREATE TABLE job_edges (
  from_node TEXT COLLATE "C" NOT NULL REFERENCES job_nodes (id) ON DELETE CASCADE,
  to_node TEXT COLLATE "C" NOT NULL REFERENCES job_nodes (id) ON DELETE CASCADE,
  policy TEXT NOT NULL,
  passed INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (from_node, to_node)
);
CREATE INDEX job_edges_to ON job_edges (to_node);

-- What claims do to the jobs of a node, a portion at a time: release, cancel or retry them. after_id is the last job done.
CREATE TABLE job_node_tasks (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  node TEXT COLLATE "C" NOT NULL,
  task TEXT NOT NULL,
  after_id TEXT COLLATE "C" NOT NULL DEFAULT '',
  reason TEXT
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- Whatever ends a job, or has it run again, is counted in the same transaction. A transaction notes what it has ended in a
-- setting of its own, and counts it when it commits: each row of a node is locked for no longer than the commit, and
-- updated once however many jobs have ended. Flows are locked before nodes, in the order of their ids.
CREATE FUNCTION job_nodes_count(noted TEXT) RETURNS VOID LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('postroom.node_ends', '', TRUE);
  PERFORM 1
  FROM job_flows
  WHERE id IN (
    SELECT flow_id
    FROM job_nodes
    WHERE id IN (SELECT split_part(line, E'\t', 1) FROM unnest(string_to_array(noted, E'\n')) AS line))
  ORDER BY id
  FOR NO KEY UPDATE;
  UPDATE job_nodes
  SET completed = completed + completes,
    failed = failed + fails,
    canceled = canceled + cancels,
    updated_at = now()
  FROM (
    SELECT split_part(line, E'\t', 1) AS node,
      SUM(n * ((after = 'completed')::int - (before = 'completed')::int)) AS completes,
      SUM(n * ((after = 'failed')::int - (before = 'failed')::int)) AS fails,
      SUM(n * ((after = 'canceled')::int - (before = 'canceled')::int)) AS cancels
    FROM unnest(string_to_array(rtrim(noted, E'\n'), E'\n')) AS line
    CROSS JOIN LATERAL (
      SELECT split_part(line, E'\t', 2) AS before, split_part(line, E'\t', 3) AS after, split_part(line, E'\t', 4)::int AS n) AS parts
    GROUP BY node) AS ends
  WHERE id = ends.node;
END;
$$;

-- A line for each node, state before, state after and number of jobs, the latest first.
CREATE FUNCTION jobs_node_note() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
  noted TEXT := coalesce(current_setting('postroom.node_ends', TRUE), '');
  kind TEXT := OLD.node || E'\t' || OLD.state || E'\t' || CASE TG_OP WHEN 'DELETE' THEN 'canceled' ELSE NEW.state END || E'\t';
  place INTEGER;
BEGIN
  IF starts_with(noted, kind) THEN
    place := strpos(noted, E'\n');
    noted := kind || substr(noted, length(kind) + 1, place - length(kind) - 1)::int + 1 || substr(noted, place);
  ELSE
    noted := kind || E'1\n' || noted;
  END IF;
  IF octet_length(noted) > 8192 THEN
    PERFORM job_nodes_count(noted);
  ELSE
    PERFORM set_config('postroom.node_ends', noted, TRUE);
  END IF;
  RETURN NULL;
END;
$$;

CREATE FUNCTION jobs_node_settle() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
  noted TEXT := current_setting('postroom.node_ends', TRUE);
BEGIN
  IF noted <> '' THEN
    PERFORM job_nodes_count(noted);
  END IF;
  RETURN NULL;
END;
$$;

-- Only ends write finished_at: claims do not pay for this. A job that is moved away (hold 3) has not ended.
CREATE TRIGGER jobs_node_ended AFTER UPDATE OF finished_at ON jobs FOR EACH ROW
WHEN (OLD.node IS NOT NULL AND (OLD.finished_at IS NULL) <> (NEW.finished_at IS NULL))
EXECUTE FUNCTION jobs_node_note();

CREATE CONSTRAINT TRIGGER jobs_node_counted AFTER UPDATE OF finished_at ON jobs DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
WHEN (OLD.node IS NOT NULL AND (OLD.finished_at IS NULL) <> (NEW.finished_at IS NULL))
EXECUTE FUNCTION jobs_node_settle();

CREATE TRIGGER jobs_node_deleted AFTER DELETE ON jobs FOR EACH ROW
WHEN (OLD.node IS NOT NULL AND OLD.finished_at IS NULL AND OLD.hold <> 3)
EXECUTE FUNCTION jobs_node_note();

CREATE CONSTRAINT TRIGGER jobs_node_gone AFTER DELETE ON jobs DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
WHEN (OLD.node IS NOT NULL AND OLD.finished_at IS NULL AND OLD.hold <> 3)
EXECUTE FUNCTION jobs_node_settle();

CREATE FUNCTION job_nodes_counted() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.state IN ('waiting', 'running') AND NEW.moving = 0 AND NEW.total > 0 AND NEW.completed + NEW.failed + NEW.canceled = NEW.total THEN
    UPDATE job_nodes
    SET state = CASE WHEN failed > 0 THEN 'failed' WHEN canceled > 0 THEN 'canceled' ELSE 'completed' END,
      finished_at = updated_at
    WHERE id = NEW.id;
  ELSIF NEW.finished_at IS NOT NULL AND NEW.moving = 0 AND NEW.completed + NEW.failed + NEW.canceled < NEW.total THEN
    UPDATE job_nodes
    SET state = CASE WHEN waits > 0 THEN 'waiting' ELSE 'running' END,
      finished_at = NULL
    WHERE id = NEW.id;
  END IF;
  RETURN NULL;
END;
$$;

CREATE TRIGGER job_nodes_counted AFTER UPDATE OF completed, failed, canceled, moving ON job_nodes FOR EACH ROW
WHEN (NEW.completed + NEW.failed + NEW.canceled = NEW.total OR NEW.finished_at IS NOT NULL)
EXECUTE FUNCTION job_nodes_counted();

CREATE FUNCTION job_nodes_ended() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
  handled BOOLEAN := EXISTS (SELECT 1 FROM job_edges WHERE from_node = NEW.id AND policy = 'run');
BEGIN
  IF NEW.finished_at IS NULL THEN
    UPDATE job_edges
    SET passed = 0
    FROM job_nodes
    WHERE from_node = NEW.id AND passed = 1 AND job_nodes.id = to_node AND job_nodes.state = 'waiting';
    UPDATE job_flows
    SET ended = ended - 1,
      failed = failed - (OLD.state = 'failed' AND NOT handled)::int,
      canceled = canceled - (OLD.state = 'canceled' AND NOT handled)::int,
      updated_at = NEW.updated_at
    WHERE id = NEW.flow_id;
    RETURN NULL;
  END IF;
  UPDATE job_edges
  SET passed = 1
  WHERE from_node = NEW.id AND passed = 0 AND (NEW.state = 'completed' OR policy = 'run');
  IF NEW.state <> 'completed' THEN
    INSERT INTO job_node_tasks (node, task, reason)
    SELECT job_nodes.id, 'cancel', NEW.name || ' has ' || CASE NEW.state WHEN 'failed' THEN 'failed' ELSE 'been canceled' END
    FROM job_edges
    JOIN job_nodes ON job_nodes.id = to_node
    WHERE from_node = NEW.id AND policy <> 'run' AND finished_at IS NULL;
    INSERT INTO job_node_tasks (node, task, reason)
    SELECT id, 'cancel', NEW.name || ' has ' || CASE NEW.state WHEN 'failed' THEN 'failed' ELSE 'been canceled' END
    FROM job_nodes
    WHERE flow_id = NEW.flow_id AND finished_at IS NULL
      AND EXISTS (SELECT 1 FROM job_edges WHERE from_node = NEW.id AND policy = 'fail');
  END IF;
  UPDATE job_flows
  SET ended = ended + 1,
    failed = failed + (NEW.state = 'failed' AND NOT handled)::int,
    canceled = canceled + (NEW.state = 'canceled' AND NOT handled)::int,
    updated_at = NEW.updated_at
  WHERE id = NEW.flow_id;
  RETURN NULL;
END;
$$;

CREATE TRIGGER job_nodes_ended AFTER UPDATE OF finished_at ON job_nodes FOR EACH ROW
WHEN ((OLD.finished_at IS NULL) <> (NEW.finished_at IS NULL))
EXECUTE FUNCTION job_nodes_ended();

CREATE FUNCTION job_edges_passed() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  UPDATE job_nodes
  SET waits = waits + OLD.passed - NEW.passed,
    updated_at = now()
  WHERE id = NEW.to_node;
  RETURN NULL;
END;
$$;

CREATE TRIGGER job_edges_passed AFTER UPDATE OF passed ON job_edges FOR EACH ROW
WHEN (OLD.passed <> NEW.passed)
EXECUTE FUNCTION job_edges_passed();

-- The jobs of a small node are ready at once, or scheduled: the next claim takes in those that are due and have a limit key.
-- Other nodes have a task.
CREATE FUNCTION job_nodes_opened() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  UPDATE job_nodes SET state = 'running' WHERE id = NEW.id;
  IF NEW.total BETWEEN 1 AND 100 THEN
    UPDATE jobs
    SET hold = CASE WHEN limit_key IS NULL AND not_before <= NEW.updated_at THEN 0 ELSE 1 END
    WHERE node = NEW.id AND hold = 4 AND state = 'queued';
    PERFORM pg_notify('postroom_jobs', '');
  ELSE
    INSERT INTO job_node_tasks (node, task) VALUES (NEW.id, 'release');
  END IF;
  RETURN NULL;
END;
$$;

CREATE TRIGGER job_nodes_opened AFTER UPDATE OF waits ON job_nodes FOR EACH ROW
WHEN (NEW.waits = 0 AND NEW.state = 'waiting')
EXECUTE FUNCTION job_nodes_opened();

CREATE FUNCTION job_flows_ended() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.ended = NEW.nodes THEN
    UPDATE job_flows
    SET state = CASE WHEN failed > 0 THEN 'failed' WHEN canceled > 0 OR state = 'canceling' THEN 'canceled' ELSE 'completed' END,
      finished_at = updated_at
    WHERE id = NEW.id;
  ELSIF NEW.finished_at IS NOT NULL THEN
    UPDATE job_flows SET state = 'running', finished_at = NULL WHERE id = NEW.id;
  END IF;
  RETURN NULL;
END;
$$;

CREATE TRIGGER job_flows_ended AFTER UPDATE OF ended, nodes ON job_flows FOR EACH ROW
EXECUTE FUNCTION job_flows_ended();

-- Dispatchers look for the tasks at once.
CREATE FUNCTION job_node_tasks_added() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('postroom_jobs', '');
  RETURN NULL;
END;
$$;

CREATE TRIGGER job_node_tasks_added AFTER INSERT ON job_node_tasks FOR EACH ROW
EXECUTE FUNCTION job_node_tasks_added();
