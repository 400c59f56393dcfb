package jobsql

// flowRules are the invariants of flows: what is counted must equal a full count. A flow that is being moved has its
// jobs in two databases.
var flowRules = []rule{
	{"a node has counted the ends of its jobs", `
SELECT /*q.*/job_nodes.id
FROM /*q.*/job_nodes
WHERE moving = 0
  AND total - completed - failed - canceled <> (
    SELECT COUNT(*)
    FROM /*q.*/jobs
    WHERE node = /*q.*/job_nodes.id
      AND finished_at IS NULL)`},
	{"a node has counted no fewer jobs than there are of each end", `
SELECT ends.node
FROM (
  SELECT node, state, COUNT(*) AS n
  FROM /*q.*/jobs
  WHERE node IS NOT NULL
    AND finished_at IS NOT NULL
  GROUP BY node, state) AS ends
JOIN /*q.*/job_nodes ON /*q.*/job_nodes.id = ends.node
WHERE moving = 0
  AND n > CASE ends.state WHEN 'completed' THEN completed WHEN 'failed' THEN failed ELSE canceled END`},
	{"a node has ended exactly when its jobs have", `
SELECT id
FROM /*q.*/job_nodes
WHERE moving = 0
  AND ((finished_at IS NULL) = (state IN ('completed', 'failed', 'canceled'))
    OR (finished_at IS NOT NULL AND completed + failed + canceled <> total)
    OR (state = 'running' AND total > 0 AND completed + failed + canceled = total))`},
	{"a node without jobs ends when it opens", `
SELECT id
FROM /*q.*/job_nodes
WHERE moving = 0
  AND state = 'running'
  AND total = 0
  AND NOT EXISTS (SELECT 1 FROM /*q.*/job_node_tasks WHERE node = /*q.*/job_nodes.id)`},
	{"a node waits for those before it", `
SELECT id
FROM /*q.*/job_nodes
WHERE waits <> (SELECT COUNT(*) FROM /*q.*/job_edges WHERE to_node = /*q.*/job_nodes.id AND passed = 0)
  OR (state = 'waiting' AND waits = 0)
  OR (state = 'running' AND waits > 0)`},
	{"a flow has counted its nodes and their ends", `
SELECT id
FROM /*q.*/job_flows
WHERE nodes <> (SELECT COUNT(*) FROM /*q.*/job_nodes WHERE flow_id = /*q.*/job_flows.id)
  OR ended <> (SELECT COUNT(*) FROM /*q.*/job_nodes WHERE flow_id = /*q.*/job_flows.id AND finished_at IS NOT NULL)
  OR (finished_at IS NULL) = (state IN ('completed', 'failed', 'canceled'))
  OR (finished_at IS NOT NULL) <> (nodes = ended)`},
	{"a flow is canceled only if one of its nodes or jobs was", `
SELECT id
FROM /*q.*/job_flows
WHERE state = 'canceled'
  AND NOT EXISTS (
    SELECT 1
    FROM /*q.*/job_nodes
    WHERE flow_id = /*q.*/job_flows.id
      AND (/*q.*/job_nodes.state = 'canceled' OR /*q.*/job_nodes.canceled > 0 OR moving = 1))`},
	{"a job that waits for its node is released when that opens", `
SELECT /*q.*/jobs.id
FROM /*q.*/jobs
LEFT JOIN /*q.*/job_nodes ON /*q.*/job_nodes.id = /*q.*/jobs.node
WHERE /*q.*/jobs.state = 'queued'
  AND /*q.*/jobs.hold = ` + Waiting + `
  AND /*q.*/jobs.sequence IS NULL
  AND (/*q.*/job_nodes.id IS NULL
    OR (waits = 0 AND NOT EXISTS (SELECT 1 FROM /*q.*/job_node_tasks WHERE /*q.*/job_node_tasks.node = /*q.*/jobs.node)))`},
}
