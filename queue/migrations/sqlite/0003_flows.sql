-- The node of a flow that the job belongs to: the flow's id, a slash and the node's name. A queued job with hold 4 waits for
-- its node to open.
ALTER TABLE jobs ADD COLUMN node TEXT;

CREATE INDEX jobs_node ON jobs (node, id) WHERE node IS NOT NULL;
CREATE INDEX jobs_held ON jobs (node, id) WHERE hold = 4 AND state = 'queued';

-- Graphs of jobs. nodes, ended, failed and canceled count nodes; failed and canceled are those that no edge of policy run
-- follows.
CREATE TABLE job_flows (
  id TEXT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  state TEXT NOT NULL,
  nodes INTEGER NOT NULL,
  ended INTEGER NOT NULL DEFAULT 0,
  failed INTEGER NOT NULL DEFAULT 0,
  canceled INTEGER NOT NULL DEFAULT 0,
  deadline TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  finished_at TEXT
) WITHOUT ROWID;
CREATE INDEX job_flows_finished ON job_flows (finished_at) WHERE finished_at IS NOT NULL;

-- A node is waiting for others, running, retrying, or has ended: completed, failed or canceled. waits counts the edges to it
-- that have not been passed; total, completed, failed and canceled count its jobs. While its flow is being moved it does not
-- end.
CREATE TABLE job_nodes (
  id TEXT NOT NULL PRIMARY KEY,
  flow_id TEXT NOT NULL REFERENCES job_flows (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  state TEXT NOT NULL,
  waits INTEGER NOT NULL,
  total INTEGER NOT NULL,
  completed INTEGER NOT NULL DEFAULT 0,
  failed INTEGER NOT NULL DEFAULT 0,
  canceled INTEGER NOT NULL DEFAULT 0,
  moving INTEGER NOT NULL DEFAULT 0,
  updated_at TEXT NOT NULL,
  finished_at TEXT
) WITHOUT ROWID;
CREATE INDEX job_nodes_flow ON job_nodes (flow_id);
CREATE INDEX job_nodes_running ON job_nodes (id) WHERE state = 'running';

-- What happens to to_node when from_node does not complete: cancel, run or fail (the flow).
CREATE TABLE job_edges (
  from_node TEXT NOT NULL REFERENCES job_nodes (id) ON DELETE CASCADE,
  to_node TEXT NOT NULL REFERENCES job_nodes (id) ON DELETE CASCADE,
  policy TEXT NOT NULL,
  passed INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (from_node, to_node)
) WITHOUT ROWID;
CREATE INDEX job_edges_to ON job_edges (to_node);

-- What claims do to the jobs of a node, a portion at a time: release, cancel or retry them. after_id is the last job done.
CREATE TABLE job_node_tasks (
  id INTEGER NOT NULL PRIMARY KEY,
  node TEXT NOT NULL,
  task TEXT NOT NULL,
  after_id TEXT NOT NULL DEFAULT '',
  reason TEXT
);

-- Whatever ends a job, or has it run again, is counted in the same transaction, by triggers on jobs that are made when the first
-- flow or sequence is stored: each end of any job would pay for them.
CREATE TRIGGER job_nodes_full AFTER UPDATE OF completed, failed, canceled, moving ON job_nodes
WHEN NEW.state IN ('waiting', 'running') AND NEW.moving = 0 AND NEW.total > 0 AND NEW.completed + NEW.failed + NEW.canceled = NEW.total
BEGIN
  UPDATE job_nodes
  SET state = CASE WHEN failed > 0 THEN 'failed' WHEN canceled > 0 THEN 'canceled' ELSE 'completed' END,
    finished_at = updated_at
  WHERE id = NEW.id;
END;

CREATE TRIGGER job_nodes_reopened AFTER UPDATE OF completed, failed, canceled, moving ON job_nodes
WHEN NEW.finished_at IS NOT NULL AND NEW.moving = 0 AND NEW.completed + NEW.failed + NEW.canceled < NEW.total
BEGIN
  UPDATE job_nodes
  SET state = CASE WHEN waits > 0 THEN 'waiting' ELSE 'running' END,
    finished_at = NULL
  WHERE id = NEW.id;
END;

CREATE TRIGGER job_nodes_ended AFTER UPDATE OF finished_at ON job_nodes
WHEN OLD.finished_at IS NULL AND NEW.finished_at IS NOT NULL
BEGIN
  UPDATE job_edges
  SET passed = 1
  WHERE from_node = NEW.id AND passed = 0 AND (NEW.state = 'completed' OR policy = 'run');
  INSERT INTO job_node_tasks (node, task, reason)
  SELECT job_nodes.id, 'cancel', NEW.name || ' has ' || CASE NEW.state WHEN 'failed' THEN 'failed' ELSE 'been canceled' END
  FROM job_edges CROSS JOIN job_nodes
  WHERE NEW.state <> 'completed' AND from_node = NEW.id AND policy <> 'run' AND job_nodes.id = to_node
    AND job_nodes.finished_at IS NULL;
  INSERT INTO job_node_tasks (node, task, reason)
  SELECT id, 'cancel', NEW.name || ' has ' || CASE NEW.state WHEN 'failed' THEN 'failed' ELSE 'been canceled' END
  FROM job_nodes
  WHERE NEW.state <> 'completed' AND flow_id = NEW.flow_id AND finished_at IS NULL
    AND EXISTS (SELECT 1 FROM job_edges WHERE from_node = NEW.id AND policy = 'fail');
  UPDATE job_flows
  SET ended = ended + 1,
    failed = failed + (NEW.state = 'failed' AND NOT EXISTS (SELECT 1 FROM job_edges WHERE from_node = NEW.id AND policy = 'run')),
    canceled = canceled + (NEW.state = 'canceled' AND NOT EXISTS (SELECT 1 FROM job_edges WHERE from_node = NEW.id AND policy = 'run')),
    updated_at = NEW.updated_at
  WHERE id = NEW.flow_id;
END;

CREATE TRIGGER job_nodes_begun_again AFTER UPDATE OF finished_at ON job_nodes
WHEN OLD.finished_at IS NOT NULL AND NEW.finished_at IS NULL
BEGIN
  UPDATE job_edges
  SET passed = 0
  WHERE from_node = NEW.id AND passed = 1 AND to_node IN (SELECT id FROM job_nodes WHERE id = to_node AND state = 'waiting');
  UPDATE job_flows
  SET ended = ended - 1,
    failed = failed - (OLD.state = 'failed' AND NOT EXISTS (SELECT 1 FROM job_edges WHERE from_node = NEW.id AND policy = 'run')),
    canceled = canceled - (OLD.state = 'canceled' AND NOT EXISTS (SELECT 1 FROM job_edges WHERE from_node = NEW.id AND policy = 'run')),
    updated_at = NEW.updated_at
  WHERE id = NEW.flow_id;
END;

CREATE TRIGGER job_edges_passed AFTER UPDATE OF passed ON job_edges
WHEN OLD.passed <> NEW.passed
BEGIN
  UPDATE job_nodes
  SET waits = waits + OLD.passed - NEW.passed,
    updated_at = (SELECT updated_at FROM job_nodes WHERE id = NEW.from_node)
  WHERE id = NEW.to_node;
END;

-- The jobs of a small node are ready at once, or scheduled: the next claim takes in those that are due and have a limit key.
-- Other nodes have a task.
CREATE TRIGGER job_nodes_opened AFTER UPDATE OF waits ON job_nodes
WHEN NEW.waits = 0 AND NEW.state = 'waiting'
BEGIN
  UPDATE job_nodes SET state = 'running' WHERE id = NEW.id;
  UPDATE jobs
  SET hold = CASE WHEN limit_key IS NULL AND not_before <= NEW.updated_at THEN 0 ELSE 1 END
  WHERE node = NEW.id AND hold = 4 AND state = 'queued' AND NEW.total <= 100;
  INSERT INTO job_node_tasks (node, task) SELECT NEW.id, 'release' WHERE NEW.total NOT BETWEEN 1 AND 100;
END;

CREATE TRIGGER job_flows_ended AFTER UPDATE OF ended ON job_flows
WHEN NEW.ended = NEW.nodes
BEGIN
  UPDATE job_flows
  SET state = CASE WHEN failed > 0 THEN 'failed' WHEN canceled > 0 OR state = 'canceling' THEN 'canceled' ELSE 'completed' END,
    finished_at = updated_at
  WHERE id = NEW.id;
END;

CREATE TRIGGER job_flows_begun_again AFTER UPDATE OF ended, nodes ON job_flows
WHEN NEW.ended < NEW.nodes AND NEW.finished_at IS NOT NULL
BEGIN
  UPDATE job_flows SET state = 'running', finished_at = NULL WHERE id = NEW.id;
END;
